// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The report for people, as text.
#pragma once

#include "words.hpp"

namespace trace_compare {

class text_report {
public:
  explicit text_report(bool color) : color_(color) {}

  std::string write(trace::comparison const& c, trace::log const& a, trace::log const& b) {
    out_.clear();
    line(paint(c.same() ? "1;32" : "1;31", c.same() ? "SAME" : "DIVERGED") + "  " + safe(c.verdict));
    line("");
    line("A  " + safe(a.name()) + ": " + number(a.size()) + " events, " + number(a.ranks().size()) + " rank(s)");
    line("B  " + safe(b.name()) + ": " + number(b.size()) + " events, " + number(b.ranks().size()) + " rank(s)");
    line("   " + number(c.compared) + " pairs of tensors compared by digests, " + number(c.confirmed) +
         " of them by bytes too");
    for (auto const& r : c.remarks) line("   note: " + safe(r));
    if (!c.same()) findings(c);
    if (!c.next.empty()) {
      line("");
      line(paint("1", "Next") + "  " + safe(c.next));
    }
    return std::move(out_);
  }

private:
  static constexpr std::size_t most_ranks = 16;

  void findings(trace::comparison const& c) {
    std::vector<trace::rank_result const*> named, equal;
    for (auto const& r : c.ranks) (r.first ? named : equal).push_back(&r);
    // Origins first: they are why the others differ.
    std::stable_sort(named.begin(), named.end(), [](auto const* x, auto const* y) { return weight(*x) < weight(*y); });
    for (std::size_t i = 0; i < named.size() && i < most_ranks; ++i) one(*named[i]);
    if (named.size() > most_ranks)
      line("\n" + number(named.size() - most_ranks) + " more ranks differ (--json lists all)");
    if (!equal.empty()) {
      std::vector<std::uint32_t> ranks;
      for (auto const* r : equal) ranks.push_back(r->rank);
      line("\n" + paint("32", "no difference") + " on " + trace::detail::name_ranks(ranks));
    }
  }
  static int weight(trace::rank_result const& r) {
    auto const k = r.first->kind;
    return trace::detail::is_origin(k) ? 0 : trace::detail::is_control_flow(k) ? 1 : 2;
  }
  void one(trace::rank_result const& r) {
    trace::finding const& f = *r.first;
    char const* const color = weight(r) == 0 ? "1;31" : weight(r) == 1 ? "1;35" : "33";
    line("");
    line("rank " + std::to_string(r.rank) + "  " + paint(color, name_of(f.kind)) + "  " + safe(describe(f.what())));
    line("    " + std::string(kind_text(f.kind)));
    for (auto const& d : details(f)) line("    " + safe(d));
    line("    whole rank: " + counts_text(r));
  }

  std::string paint(char const* code, std::string const& text) const {
    return color_ ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
  }
  // Names come from files: no control character of theirs reaches a terminal.
  static std::string safe(std::string const& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      auto const u = static_cast<unsigned char>(text[i]);
      bool const c1 = u == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
      out += u < 0x20 || u == 0x7f || c1 ? '?' : text[i];
      i += c1;
    }
    return out;
  }
  void line(std::string const& text) { out_ += text + "\n"; }

  bool color_;
  std::string out_;
};

} // namespace trace_compare
