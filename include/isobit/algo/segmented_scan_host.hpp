// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Segmented scans on a host: by CSR offsets, by head flags, by key.
#pragma once

#include <isobit/algo/segmented_scan.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {

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

//! Flags or keys: present, and apart from the results.
template <class F, class Out>
void check_heads(char const* function, char const* name, F const* heads, uint64_t n, Out* out) {
  if (n == 0) return;
  if (heads == nullptr) throw invalid_argument(function, name, "non-null when n > 0");
  auto const a = reinterpret_cast<std::uintptr_t>(heads), b = reinterpret_cast<std::uintptr_t>(out);
  if (a < b ? n > (b - a) / sizeof(F) : n > (a - b) / sizeof(Out))
    throw invalid_argument(function, "out", "an array that does not overlap the flags or keys");
}

template <class Index> void check_count(char const* function, Index n) {
  if constexpr (stl::is_signed_v<Index>)
    if (n < 0) throw invalid_argument(function, "n", "0 or more");
}

// From this many elements on, a segment is scanned by all jobs of an executor, after all shorter ones.
inline constexpr uint64_t long_segment = uint64_t(1) << 20;

// `count` pieces of work, `batch` of which make a job; `each(from, to, f)` calls f(first, last) for the segments that
// begin in the pieces [from, to).
template <class Host, class Each, class Form, class Load, class Store, class Acc>
void scan_parts(Host const& h, uint64_t count, uint64_t batch, Each const& each, Form const& form, Load const& load,
                Store const& store, Acc const& acc) {
  if (count == 0) return;
  if constexpr (stl::same_as<Host, host<>>) {
    each(uint64_t(0), count, [&](uint64_t first, uint64_t last) { scan_part(h, first, last, form, load, store, acc); });
  } else {
    h.run((count - 1) / batch + 1, [&](uint64_t job) {
      uint64_t const from = job * batch, to = count - from < batch ? count : from + batch;
      each(from, to, [&](uint64_t first, uint64_t last) {
        if (last - first <= long_segment) scan_part(host<>{}, first, last, form, load, store, acc);
      });
    });
    each(uint64_t(0), count, [&](uint64_t first, uint64_t last) {
      if (last - first > long_segment) scan_part(h, first, last, form, load, store, acc);
    });
  }
}

template <bool Exclusive, class Host, class T, class Index, class Offset, class Out, class Op, class Initial>
void scan_by_offsets(char const* name, Host const& h, T const* x, Index n, Offset const* offsets, uint64_t segments,
                     Out* out, Op const& op, Initial const& initial) {
  check_scan_types<T, Out, Op>();
  check_count(name, n);
  check_offsets(name, offsets, segments, static_cast<uint64_t>(n));
  if (segments == 0 || offsets[0] == offsets[segments]) return;
  check_scan_arrays(name, x, static_cast<uint64_t>(n), out);
  auto const acc = as_accumulator<element_value<T>>(op);
  auto const each = [&](uint64_t from, uint64_t to, auto const& f) {
    for (uint64_t s = from; s < to; ++s) f(static_cast<uint64_t>(offsets[s]), static_cast<uint64_t>(offsets[s + 1]));
  };
  scan_parts(h, segments, 64, each, make_form<Exclusive>(acc, initial), contiguous<T>{x}, results<Out>{out}, acc);
}

template <bool Exclusive, class Host, class T, class Index, class Heads, class Out, class Op, class Initial>
void scan_by_heads(char const* name, char const* argument, Host const& h, T const* x, Index count, Heads const& heads,
                   Out* out, Op const& op, Initial const& initial) {
  check_scan_types<T, Out, Op>();
  check_count(name, count);
  auto const n = static_cast<uint64_t>(count);
  check_scan_arrays(name, x, n, out);
  check_heads(name, argument, heads.data, n, out);
  auto const acc = as_accumulator<element_value<T>>(op);
  auto const end_of = [&](uint64_t first) {
    uint64_t last = first + 1;
    while (last < n && !heads(last)) ++last;
    return last;
  };
  auto const each = [&](uint64_t from, uint64_t to, auto const& f) {
    while (from < to && !heads(from)) ++from;
    while (from < to) {
      uint64_t const last = end_of(from);
      f(from, last);
      from = last;
    }
  };
  scan_parts(h, n, uint64_t(1) << 16, each, make_form<Exclusive>(acc, initial), contiguous<T>{x}, results<Out>{out},
             acc);
}

} // namespace detail

//! For each segment s, elements [offsets[s], offsets[s + 1]) of x: out[i] = the result over the segment's elements up to
//! i, the bits of `inclusive_scan` of that segment alone. Elements outside of all segments are neither read nor
//! written. `offsets` has `segments` + 1 entries of any integer type; segments may be empty. `out`, `x`, `op` and
//! `initial` (of each segment) as in `inclusive_scan`.
//! Null pointers, misaligned or overlapping arrays, falling offsets and offsets outside of [0, n] throw
//! `invalid_argument` before anything is written. An executor gets jobs of whole segments; segments longer than 2^20
//! are scanned one after the other, each by all jobs.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read, one write.
template <is_host Host, class T, stl::integral Index, stl::integral Offset, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void segmented_inclusive_scan(Host const& h, T const* x, Index n, Offset const* offsets, uint64_t segments, Out* out,
                              Op const& op = {}, Initial const& initial = {}) {
  detail::scan_by_offsets<false>("segmented_inclusive_scan", h, x, n, offsets, segments, out, op, initial);
}
//! The same with the elements before i; a segment's first result is that of `initial`, or `empty()`.
template <is_host Host, class T, stl::integral Index, stl::integral Offset, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void segmented_exclusive_scan(Host const& h, T const* x, Index n, Offset const* offsets, uint64_t segments, Out* out,
                              Op const& op = {}, Initial const& initial = {}) {
  detail::scan_by_offsets<true>("segmented_exclusive_scan", h, x, n, offsets, segments, out, op, initial);
}

//! The same for all n elements, where `heads` says which begin a segment: `head_flags(flags)`. `out` must not overlap
//! the flags (refused). An executor gets jobs of 2^16 elements, and the segments that begin in them.
template <is_host Host, class T, stl::integral Index, segment_heads Heads, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void segmented_inclusive_scan(Host const& h, T const* x, Index n, Heads const& heads, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_by_heads<false>("segmented_inclusive_scan", "heads", h, x, n, heads, out, op, initial);
}
template <is_host Host, class T, stl::integral Index, segment_heads Heads, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void segmented_exclusive_scan(Host const& h, T const* x, Index n, Heads const& heads, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_by_heads<true>("segmented_exclusive_scan", "heads", h, x, n, heads, out, op, initial);
}

//! A segment for each run of equal neighbouring keys. `out` must not overlap the keys (refused).
template <is_host Host, class Key, class T, stl::integral Index, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void inclusive_scan_by_key(Host const& h, Key const* keys, T const* x, Index n, Out* out, Op const& op = {},
                           Initial const& initial = {}) {
  detail::scan_by_heads<false>("inclusive_scan_by_key", "keys", h, x, n, key_changes<Key>{keys}, out, op, initial);
}
template <is_host Host, class Key, class T, stl::integral Index, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
void exclusive_scan_by_key(Host const& h, Key const* keys, T const* x, Index n, Out* out, Op const& op = {},
                           Initial const& initial = {}) {
  detail::scan_by_heads<true>("exclusive_scan_by_key", "keys", h, x, n, key_changes<Key>{keys}, out, op, initial);
}

} // namespace isobit::inline bits1
#endif
