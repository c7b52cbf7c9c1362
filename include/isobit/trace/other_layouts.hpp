// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One line of a trace file to one event, for the two layouts of other recorders that docs/traces.md describes. What
//! their readers here do not know is compared as text, not dropped.
#pragma once

#include <isobit/trace/layouts.hpp>

namespace isobit::inline bits1::trace::detail {

// ---- per-op ----

inline void read_op_signature(json_reader& r, signature& s) {
  static constexpr std::string_view names[] = {"shape", "dtype", "numel", "digest"};
  fields f(r, names);
  size_t const begin = r.at();
  bool more = false;
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      return read_shape(r, s);
    case 1:
      return read_text(r, s.dtype);
    case 2:
      s.count = r.integer();
      return;
    case 3:
      return read_digest(r, s);
    default:
      more = true, r.skip();
    }
  });
  f.need({0, 1, 2, 3});
  check_count(r, s);
  // Fields that isobit does not know: kept in the name, so that they are compared.
  if (more) s.name = text_signature("", r.text(begin, r.at())).text;
}

inline void read_payload(json_reader& r, event& e) {
  static constexpr std::string_view names[] = {"id", "scope", "in", "out"};
  fields f(r, names);
  std::string rest, id;
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      return read_text(r, id);
    case 1:
      return read_text(r, e.scope);
    case 2:
      return r.array([&] { read_op_signature(r, next_signature(r, e.inputs)); });
    case 3:
      return r.array([&] { read_op_signature(r, next_signature(r, e.outputs)); });
    default:
      append_json(rest, key), rest += ':', rest += r.skip(), rest += ',';
    }
  });
  f.need({0});
  if (e.kind == "op") f.need({3});
  e.inputs_recorded = f.has(2);
  // The id is "<probe>:<occurrence>", or "aten:<name>:<occurrence>"; occurrences are counted by log::finish.
  size_t const colon = id.find_last_of(':');
  std::string const probe = id.substr(0, colon);
  if (probe != "aten:" + e.name && probe != e.name) e.name += " (" + probe + ")";
  if (!rest.empty()) e.outputs.push_back(text_signature("payload", rest));
}

inline void read_per_op(json_reader& r, event& e) {
  static constexpr std::string_view names[] = {"schema_version", "seq", "rank", "iteration", "kind", "name", "payload"};
  fields f(r, names);
  reset(e);
  std::string_view payload;
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      e.recipe = "schema " + std::to_string(r.integer());
      return;
    case 1:
      e.sequence = r.integer();
      return;
    case 2:
      e.rank = small_number(r);
      return;
    case 3:
      e.iteration = small_number(r);
      return;
    case 4:
      return read_text(r, e.kind);
    case 5:
      return read_text(r, e.name);
    case 6:
      payload = r.skip();
      return;
    default:
      f.unknown(key);
    }
  });
  f.need({0, 1, 2, 3, 4, 5, 6});
  e.microbatch = no_number;
  need_words(r, e);
  json_reader inner(payload);
  read_payload(inner, e);
}

// ---- event/tensor: one record a tensor, or an event with fields ----

inline void read_tensor(json_reader& r, signature& s) {
  static constexpr std::string_view names[] = {
      "shape", "dtype", "numel", "mode", "value_observed", "exact_value_certificate", "sha256", "summary"};
  fields f(r, names);
  std::string mode, summary;
  bool observed = false, exact = false;
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      return read_shape(r, s);
    case 1:
      return read_text(r, s.dtype);
    case 2:
      s.count = r.integer();
      return;
    case 3:
      return read_text(r, mode);
    case 4:
      observed = r.boolean();
      return;
    case 5:
      exact = r.boolean();
      return;
    case 6:
      return read_text(r, s.text);
    case 7:
      summary = r.skip();
      return;
    default:
      r.skip(); // stride, layout, device_type, requires_grad: how it lies in memory, not what it holds
    }
  });
  f.need({0, 1, 2, 3, 4, 5});
  check_count(r, s);
  bool const metadata = mode == "metadata", summarised = mode == "summary", full = mode == "full";
  if (!metadata && !summarised && !full && mode != "sampled") r.fail("unknown mode of a tensor");
  if (observed == metadata || exact != full) r.fail("the mode of a tensor contradicts what it claims to have seen");
  if (f.has(6) != (full || mode == "sampled") || f.has(7) != summarised)
    r.fail("the evidence does not belong to the mode");
  if (f.has(6) && (s.text.size() != 64 || s.text.find_first_not_of("0123456789abcdef") != s.text.npos))
    r.fail("sha256 is 64 hexadecimal digits, in lower case");
  s.seen = metadata ? evidence::none : full ? evidence::full : evidence::partial;
  if (metadata) s.text = "metadata only";
  if (summarised) s.text = text_signature("", summary).text;
}

inline void read_event_tensor(json_reader& r, event& e) {
  static constexpr std::string_view names[] = {"schema_version", "event",    "rank",     "iteration",
                                               "microbatch",     "sequence", "name",     "phase",
                                               "occurrence",     "tensor",   "metadata", "fields"};
  fields f(r, names);
  reset(e);
  e.inputs_recorded = false;
  signature tensor, metadata, values;
  r.object([&](std::string_view key) {
    switch (f.see(key)) {
    case 0:
      if (r.integer() != 1) r.fail("schema_version 1 expected");
      return;
    case 1:
      return read_text(r, e.kind);
    case 2:
      e.rank = small_number(r);
      return;
    case 3:
      e.iteration = number_or_null(r);
      return;
    case 4:
      e.microbatch = number_or_null(r);
      return;
    case 5:
      e.sequence = r.integer();
      return;
    case 6:
      return read_text(r, e.name);
    case 7:
      return read_text(r, e.scope);
    case 8:
      e.occurrence = small_number(r);
      return;
    case 9:
      return read_tensor(r, tensor);
    case 10:
      metadata = text_signature("metadata", r.skip());
      return;
    case 11:
      values = text_signature("fields", r.skip());
      return;
    default:
      f.unknown(key);
    }
  });
  f.need({0, 1, 2, 3, 4, 5, 6, 7, 8});
  need_words(r, e);
  if (e.kind == "tensor") {
    f.need({9});
    e.outputs.push_back(std::move(tensor));
  } else if (e.kind == "event") {
    f.need({11});
    if (f.has(9)) r.fail("an event with a tensor");
  } else {
    r.fail("event is \"event\" or \"tensor\"");
  }
  if (f.has(10)) e.outputs.push_back(std::move(metadata));
  if (f.has(11)) e.outputs.push_back(std::move(values));
}

} // namespace isobit::inline bits1::trace::detail
