// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! How both reports describe a finding in words.
#pragma once

#include <isobit/trace/compare.hpp>
#include <isobit/trace/json.hpp>

#include <string>
#include <vector>

namespace trace_compare {

namespace trace = isobit::trace;

inline std::string number(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (int i = static_cast<int>(out.size()) - 3; i > 0; i -= 3) out.insert(static_cast<std::size_t>(i), "\u202f");
  return out;
}

inline std::string digest_text(trace::signature const& s) {
  if (!s.text.empty()) return s.text.size() > 72 ? s.text.substr(0, 69) + "..." : s.text;
  std::string out;
  trace::append_hex(out, s.digest);
  return out.substr(1, 16);
}

inline std::string type_text(trace::signature const& s) {
  std::string out = s.dtype + "[";
  for (std::size_t i = 0; i < s.shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(s.shape[i]);
  return out + "]";
}

inline char const* kind_text(trace::finding_kind k) {
  switch (k) {
  case trace::finding_kind::origin:
    return "equal inputs, different outputs: it begins here";
  case trace::finding_kind::receiver:
    return "different inputs: it began earlier";
  case trace::finding_kind::unproven:
    return "different outputs; the inputs were not recorded in full";
  case trace::finding_kind::missing:
    return "in A only";
  case trace::finding_kind::extra:
    return "in B only";
  case trace::finding_kind::reordered:
    return "comes in another order";
  case trace::finding_kind::contradiction:
    return "equal digests, different bytes";
  }
  return "";
}

inline std::string ulp_text(trace::location const& w) {
  if (!w.ulps) return "";
  return *w.ulps == 0   ? "zeros of different sign"
         : *w.ulps == 1 ? "1 unit in the last place"
                        : number(*w.ulps) + " units in the last place";
}

//! The lines below the name of the event: which tensor, where in it, where to read on.
inline std::vector<std::string> details(trace::finding const& f) {
  std::vector<std::string> out;
  trace::signature const *a = f.tensor(f.a), *b = f.tensor(f.b);
  if (f.through) out.push_back("received through this collective from rank " + std::to_string(*f.through));
  bool const tensors = f.kind != trace::finding_kind::missing && f.kind != trace::finding_kind::extra &&
                       f.kind != trace::finding_kind::reordered;
  if (tensors) {
    std::string line = (f.output ? "output " : "input ") + std::to_string(f.index);
    if (a != nullptr && !a->name.empty()) line += " \"" + a->name + "\"";
    if (a != nullptr) line += ", " + type_text(*a);
    out.push_back(line + ": " + f.reason + " differs");
    if (a != nullptr && b != nullptr && f.reason == "digest")
      out.push_back("digests " + digest_text(*a) + " / " + digest_text(*b));
    if (a != nullptr && b != nullptr && (f.reason == "shape" || f.reason == "dtype"))
      out.push_back(type_text(*a) + " / " + type_text(*b));
  }
  trace::location const& w = f.where;
  if (w.chunks > 0)
    out.push_back("chunk " + number(w.first_chunk) + " of " + number(w.chunks) + " (" + number(w.chunk_bytes) +
                  " bytes each); " + number(w.chunks_different) + " differ(s)");
  if (w.elements > 0) {
    out.push_back("element " + number(w.first_element) + " of " + number(w.elements) + "; " +
                  number(w.elements_different) + " differ(s)");
    out.push_back("A  " + w.a);
    std::string const apart = ulp_text(w);
    out.push_back("B  " + w.b + (apart.empty() ? "" : "   " + apart));
  }
  if (!w.note.empty() && tensors) out.push_back("(" + w.note + ")");
  if (!f.at_a.empty()) out.push_back("A: " + f.at_a);
  if (!f.at_b.empty()) out.push_back("B: " + f.at_b);
  return out;
}

//! "3 events with other inputs, 1 missing, 200 equal".
inline std::string counts_text(trace::rank_result const& r) {
  constexpr char const* names[] = {"equal",     "without digests", "with other outputs", "with other inputs",
                                   "in A only", "in B only"};
  std::string out;
  for (int i = trace::step_kinds - 1; i >= 0; --i)
    if (r.count[i] > 0) out += (out.empty() ? "" : ", ") + number(r.count[i]) + " " + names[i];
  return out.empty() ? "no events" : out;
}

} // namespace trace_compare
