// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The report for programs: one JSON object (docs/traces.md lists its fields).
#pragma once

#include "words.hpp"

namespace trace_compare {

class json_report {
public:
  std::string write(trace::comparison const& c, trace::log const& a, trace::log const& b) {
    out_ = "{";
    text("result", c.same() ? "same" : "diverged");
    text("conclusion", name_of(c.conclusion));
    text("verdict", c.verdict);
    text("next", c.next);
    for (auto const* l : {&a, &b}) {
      key(l == &a ? "a" : "b");
      out_ += '{';
      text("path", l->name());
      text("layout", name_of(l->layout()));
      count("events", l->size());
      count("ranks", l->ranks().size());
      end('}');
    }
    count("compared", c.compared);
    count("partial", c.partial);
    count("unobserved", c.unobserved);
    count("confirmed", c.confirmed);
    key("remarks");
    out_ += '[';
    for (auto const& r : c.remarks) trace::append_json(out_, r), out_ += ',';
    end(']');
    key("ranks");
    out_ += '[';
    for (auto const& r : c.ranks) rank(r);
    end(']');
    end('}');
    out_.back() = '\n';
    return std::move(out_);
  }

private:
  void key(char const* name) { trace::append_json(out_, name), out_ += ':'; }
  void text(char const* name, std::string_view value) { key(name), trace::append_json(out_, value), out_ += ','; }
  void count(char const* name, std::uint64_t n) { key(name), out_ += std::to_string(n) + ","; }
  void end(char bracket) {
    if (out_.back() == ',') out_.pop_back();
    out_ += bracket;
    out_ += ',';
  }

  void rank(trace::rank_result const& r) {
    constexpr char const* names[] = {"equal", "unobserved", "output_differs", "input_differs", "missing", "extra"};
    out_ += '{';
    count("rank", r.rank);
    count("events_a", r.events_a);
    count("events_b", r.events_b);
    for (int i = 0; i < trace::step_kinds; ++i) count(names[i], r.count[i]);
    count("reordered", r.reordered);
    count("renamed", r.renamed);
    if (r.first) finding(*r.first);
    end('}');
  }
  void finding(trace::finding const& f) {
    key("first");
    out_ += '{';
    text("kind", name_of(f.kind));
    trace::event const& e = f.what();
    if (e.iteration != trace::no_number) count("iteration", e.iteration);
    if (e.microbatch != trace::no_number) count("microbatch", e.microbatch);
    text("event_kind", e.kind);
    text("scope", e.scope);
    text("name", e.name);
    count("occurrence", e.occurrence);
    if (f.a) text("at_a", f.at_a);
    if (f.b) text("at_b", f.at_b);
    text("tensor", f.output ? "output" : "input");
    count("index", f.index);
    text("reason", f.reason);
    if (f.through) count("through_rank", *f.through);
    if (auto const* s = f.tensor(f.a)) text("digest_a", digest_text(*s));
    if (auto const* s = f.tensor(f.b)) text("digest_b", digest_text(*s));
    trace::location const& w = f.where;
    if (w.chunks > 0) {
      count("chunk", w.first_chunk);
      count("chunk_bytes", w.chunk_bytes);
      count("chunks", w.chunks);
      count("chunks_different", w.chunks_different);
    }
    if (w.elements > 0) {
      count("element", w.first_element);
      count("elements", w.elements);
      count("elements_different", w.elements_different);
      text("value_a", w.a);
      text("value_b", w.b);
      if (w.ulps) count("ulps", *w.ulps);
    }
    if (!w.note.empty()) text("note", w.note);
    end('}');
  }

  std::string out_;
};

} // namespace trace_compare
