// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `every_byte_written`: no output byte is left as it was, and none depends on what was there before.
#pragma once

#include <isobit/testing/buffer.hpp>
#include <isobit/testing/cases.hpp>

#include <algorithm>

namespace isobit::inline bits1::testing {

//! What outputs and workspaces hold before a run.
class fill : public detail::remembers_config {
public:
  unsigned char byte = 0;
  explicit fill(unsigned char b) : byte(b) {}

  //! `n` elements of memory in which every byte is the fill.
  template <class T> std::vector<T> buffer(size_t n) const { return filled<T>(n, byte); }
  //! For the simulator: `c`, remembered for the report.
  simt::config config(simt::config const& c) const { return remember(c); }

  std::string text() const { return detail::formatted("isobit::testing::fill(0x%02x)", static_cast<unsigned>(byte)); }
};

//! Runs `f(fill) -> outputs` for each fill (at least two different ones). `f` takes its outputs and workspaces from
//! `fill.buffer<T>(n)` and returns the outputs. Fails when a byte of an output holds the fill after every run (nobody
//! wrote it), or when an output differs between runs (it depends on what was in an output or workspace).
//!
//!     CHECK(isobit::testing::every_byte_written([&](auto const& fill) {
//!       auto out = fill.template buffer<float>(n);
//!       isobit::simt::launch(4, 128, kernel, x.data(), out.data(), n);
//!       return out;
//!     }));
template <class F>
[[nodiscard]] verdict every_byte_written(F const& f, std::vector<unsigned char> const& fills = {0x00, 0xff, 0x5a}) {
  verdict v("every_byte_written");
  std::vector<detail::ran> all;
  std::vector<fill> cases;
  for (unsigned char const b : fills) cases.emplace_back(b);
  for (fill const& c : cases) {
    all.push_back(detail::run_once(f, c));
    v.add_runs(1);
    if (all.back().error) return v.fail("the run threw: " + *all.back().error + detail::again(c));
  }
  if (all.size() < 2 || *std::max_element(fills.begin(), fills.end()) == *std::min_element(fills.begin(), fills.end()))
    return v.remark("fewer than two different fills");

  outputs const& first = all[0].results;
  for (size_t k = 1; k < all.size(); ++k) {
    detail::comparison const d = detail::compare(first, all[k].results, 0);
    if (!d.same_shape) return v.fail("with " + cases[k].text() + ": " + d.text + detail::again(cases[k]));
  }
  for (size_t o = 0; o < first.size(); ++o) {
    size_t const size = first[o].kind.size;
    for (size_t i = 0; i < first[o].bytes.size(); ++i) {
      bool kept = true;
      for (size_t k = 0; k < all.size(); ++k) kept = kept && all[k].results[o].bytes[i] == fills[k];
      if (!kept) continue;
      v.first_difference(1, o, i / size);
      return v.fail("nobody wrote byte " + std::to_string(i) + " of output " + std::to_string(o) + " (byte " +
                    std::to_string(i % size) + " of element " + std::to_string(i / size) + ", " + first[o].kind.name +
                    "): it kept its fill in all " + std::to_string(all.size()) + " runs" + detail::again(cases[0]));
    }
  }
  for (size_t k = 1; k < all.size(); ++k) {
    detail::comparison const d = detail::compare(first, all[k].results, 1024);
    v.add_compared(d.compared);
    if (!d.equal())
      return v.first_difference(d.different, d.output, d.index)
          .fail("an output depends on what was in an output or workspace before\n  with " + cases[0].text() + " and " +
                cases[k].text() + ": " + d.text + detail::again(cases[k]));
  }
  return v;
}

} // namespace isobit::inline bits1::testing
