// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! An event as a line of isobit's own layout (docs/traces.md).
#pragma once

#include <isobit/trace/event.hpp>
#include <isobit/trace/json.hpp>

namespace isobit::inline bits1::trace {

namespace detail {

inline void append_number(std::string& out, char const* key, uint64_t n) {
  out += key;
  out += std::to_string(n);
}
inline void append_text(std::string& out, char const* key, std::string_view text) {
  out += key;
  append_json(out, text);
}
template <class List, class F> void append_list(std::string& out, List const& list, F const& each) {
  out += '[';
  bool first = true;
  for (auto const& x : list) {
    if (!first) out += ',';
    first = false;
    each(x);
  }
  out += ']';
}

inline void append_signature(std::string& out, signature const& s) {
  append_text(out, "{\"name\":", s.name);
  append_text(out, ",\"dtype\":", s.dtype);
  out += ",\"shape\":";
  append_list(out, s.shape, [&](uint64_t e) { out += std::to_string(e); });
  append_number(out, ",\"count\":", s.count);
  out += ",\"digest\":";
  if (s.text.empty())
    append_hex(out, s.digest);
  else
    append_json(out, s.text);
  if (s.chunk_bytes > 0) {
    append_number(out, ",\"chunk_bytes\":", s.chunk_bytes);
    out += ",\"chunks\":";
    append_list(out, s.chunks, [&](uint64_t d) { append_hex(out, d); });
  }
  if (!s.data.empty()) append_text(out, ",\"data\":", s.data);
  out += '}';
}

} // namespace detail

//! Appends `e` as one line, its end included.
inline void append_line(std::string& out, event const& e) {
  using namespace detail;
  append_number(out, "{\"isobit_trace\":", schema_version);
  append_number(out, ",\"rank\":", e.rank);
  append_number(out, ",\"iteration\":", e.iteration);
  append_number(out, ",\"microbatch\":", e.microbatch);
  append_number(out, ",\"sequence\":", e.sequence);
  append_text(out, ",\"kind\":", e.kind);
  append_text(out, ",\"name\":", e.name);
  append_text(out, ",\"scope\":", e.scope);
  append_number(out, ",\"occurrence\":", e.occurrence);
  if (!e.order.empty()) append_text(out, ",\"order_id\":", e.order);
  if (!e.recipe.empty()) append_text(out, ",\"recipe\":", e.recipe);
  out += ",\"in\":";
  append_list(out, e.inputs, [&](signature const& s) { append_signature(out, s); });
  out += ",\"out\":";
  append_list(out, e.outputs, [&](signature const& s) { append_signature(out, s); });
  out += "}\n";
}

} // namespace isobit::inline bits1::trace
