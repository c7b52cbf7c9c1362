// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `segmented_inclusive_scan`: many scans over neighbouring parts of one array (CSR offsets). Each segment has a tree of
//! its own that begins at its own start: moving a segment, or changing its neighbours, changes none of its bits.
#pragma once

#include <isobit/algo/scan.hpp>

namespace isobit::inline bits1 {

namespace detail {

// A segment of a store: its indices begin at 0.
template <class Store> struct shifted_store {
  Store store;
  uint64_t offset;
  ISOBIT_CALLS_USER_CODE
  template <class T> ISOBIT_HD constexpr void operator()(uint64_t i, T const& x) const { store(offset + i, x); }
};
template <class Store> ISOBIT_HD constexpr shifted_store<Store> shift_store(Store const& s, uint64_t offset) {
  return {s, offset};
}
template <class T> ISOBIT_HD constexpr results<T> shift_store(results<T> const& s, uint64_t offset) {
  return {s.data + offset};
}

// Segment `s` of the array, by one group.
ISOBIT_CALLS_USER_CODE
template <class Group, class Load, class Offset, class Store, class Acc>
ISOBIT_HD void scan_segment(Group const& g, uint64_t s, Load const& load, Offset const* offsets, Store const& store,
                            Acc const& acc) {
  auto const first = static_cast<uint64_t>(offsets[s]), last = static_cast<uint64_t>(offsets[s + 1]);
  if (first < last) scan_any(g, last - first, scan_form<false>{}, shift(load, first), shift_store(store, first), acc);
}

} // namespace detail

#if !defined(__CUDACC_RTC__)

namespace detail {
//! CSR offsets: `segments` + 1 of them, never falling, within [0, n].
template <class Offset> void check_offsets(char const* function, Offset const* offsets, uint64_t segments, uint64_t n) {
  if (segments == 0) return;
  if (offsets == nullptr) throw invalid_argument(function, "offsets", "non-null when segments > 0");
  if constexpr (stl::is_signed_v<Offset>)
    if (offsets[0] < 0) throw invalid_argument(function, "offsets[0]", "0 or more");
  for (uint64_t s = 0; s < segments; ++s)
    if (offsets[s + 1] < offsets[s])
      throw invalid_argument(function, "offsets", "non-decreasing; it falls after entry", s, "(counted from 0)");
  if (static_cast<uint64_t>(offsets[segments]) > n)
    throw invalid_argument(function, "offsets[segments]", "at most n, which is", n, "");
}
} // namespace detail

//! For each segment s, elements [offsets[s], offsets[s + 1]) of x: out[i] = the result over the segment's elements up to
//! i, the bits of `inclusive_scan` of that segment alone. Elements outside of all segments are neither read nor
//! written. `offsets` has `segments` + 1 entries of any integer type; segments may be empty. `out` and `x` as in
//! `inclusive_scan`.
//! Null pointers, misaligned or overlapping arrays, falling offsets and offsets outside of [0, n] throw
//! `invalid_argument` before anything is written. An executor gets jobs of whole segments; segments longer than 2^20
//! are scanned one after the other, each by all jobs.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read, one write.
template <is_host Host, class T, stl::integral Index, stl::integral Offset, class Out, class Op = detail::plain_sum>
void segmented_inclusive_scan(Host const& h, T const* x, Index n, Offset const* offsets, uint64_t segments, Out* out,
                              Op const& op = {}) {
  constexpr char const* name = "segmented_inclusive_scan";
  if constexpr (stl::is_signed_v<Index>)
    if (n < 0) throw invalid_argument(name, "n", "0 or more");
  detail::check_offsets(name, offsets, segments, static_cast<uint64_t>(n));
  if (segments == 0 || offsets[0] == offsets[segments]) return;
  detail::check_scan_arrays(name, x, static_cast<uint64_t>(n), out);
  auto const acc = detail::as_accumulator<element_value<T>>(op);
  using accumulator_type = stl::remove_const_t<decltype(acc)>;
  static_assert(
      stl::same_as<Out, typename accumulator_type::result> ||
          (small_float<Out> && stl::same_as<typename accumulator_type::state, typename accumulator_type::result>),
      "isobit: a scan writes the accumulator's result type, or a narrower float from a plain sum");
  contiguous<T> const load{x};
  detail::results<Out> const store{out};
  if constexpr (stl::same_as<Host, host<>>) {
    for (uint64_t s = 0; s < segments; ++s) detail::scan_segment(h, s, load, offsets, store, acc);
  } else {
    constexpr uint64_t longest = uint64_t(1) << 20, batch = 64;
    auto const is_long = [&](uint64_t s) { return static_cast<uint64_t>(offsets[s + 1] - offsets[s]) > longest; };
    h.run((segments - 1) / batch + 1, [&](uint64_t job) {
      uint64_t const end = (job + 1) * batch < segments ? (job + 1) * batch : segments;
      for (uint64_t s = job * batch; s < end; ++s)
        if (!is_long(s)) detail::scan_segment(host<>{}, s, load, offsets, store, acc);
    });
    for (uint64_t s = 0; s < segments; ++s)
      if (is_long(s)) detail::scan_segment(h, s, load, offsets, store, acc);
  }
}

#endif

} // namespace isobit::inline bits1
