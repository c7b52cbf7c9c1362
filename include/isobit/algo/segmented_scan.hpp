// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `segmented_inclusive_scan`, `segmented_exclusive_scan`: many scans over neighbouring parts of one array, told by CSR
//! offsets or by heads. Each segment has a tree of its own that begins at its own start: moving a segment, or changing
//! its neighbours, changes none of its bits; offsets and heads of the same segments give the same bits.
#pragma once

#include <isobit/algo/heads.hpp>
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

// Elements [first, last), which are one segment, by one group.
ISOBIT_CALLS_USER_CODE
template <class Group, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_part(Group const& g, uint64_t first, uint64_t last, Form const& form, Load const& load,
                         Store const& store, Acc const& acc) {
  if (first < last) scan_any(g, last - first, form, shift(load, first), shift_store(store, first), acc);
}

// Segment `s` of the array, by one group.
ISOBIT_CALLS_USER_CODE
template <class Group, class Load, class Offset, class Store, class Acc>
ISOBIT_HD void scan_segment(Group const& g, uint64_t s, Load const& load, Offset const* offsets, Store const& store,
                            Acc const& acc) {
  scan_part(g, static_cast<uint64_t>(offsets[s]), static_cast<uint64_t>(offsets[s + 1]), scan_form<false>{}, load, store,
            acc);
}

// ---- By a block: short segments go to its tiles in turn, long ones to all of it. ----

// Walks over the segments, all threads at the same place: `next(first, last)` gives the next segment, or false.
ISOBIT_CALLS_USER_CODE
template <int P, int N, class State, class Walk, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_walk(block<N, State> const& b, uint32_t worker, uint32_t workers, Walk walk, Form const& form,
                         Load const& load, Store const& store, Acc const& acc) {
  constexpr uint64_t longest = P == 1 ? 16 : 1024; // of a segment that one tile scans
  uint64_t first = 0, last = 0;
  for (uint32_t turn = 0; walk.next(first, last);) {
    if (last - first > longest) {
      scan_part(b, first, last, form, load, store, acc);
    } else if (first < last) {
      if (turn == worker) scan_part(tile<P>{}, first, last, form, load, store, acc);
      turn = turn + 1 < workers ? turn + 1 : 0;
    }
  }
}

template <class Offset> struct offsets_walk {
  Offset const* offsets;
  uint64_t segments, at = 0;
  ISOBIT_HD bool next(uint64_t& first, uint64_t& last) {
    if (at == segments) return false;
    first = static_cast<uint64_t>(offsets[at]);
    last = static_cast<uint64_t>(offsets[++at]);
    return true;
  }
};

// The lanes of a warp, however many there are, look at as many elements at a time.
template <class Heads> struct heads_walk {
  Heads heads;
  uint64_t n;
  uint32_t lanes;
  uint64_t at = 0, seen = 0;
  uint32_t waiting = 0; // heads among the elements looked at last, that were not reached
  ISOBIT_HD bool next(uint64_t& first, uint64_t& last) {
    if (at >= n) return false;
    first = at;
    while (true) {
      while (waiting != 0) {
        uint64_t const head = seen - lanes + static_cast<uint64_t>(lowest_level(waiting));
        waiting &= waiting - 1;
        if (head == first) continue; // its own
        at = last = head;
        return true;
      }
      if (seen >= n) break;
      uint64_t const i = seen + machine::lane();
      waiting = machine::ballot(~uint32_t(0) >> (32 - lanes), i < n && heads(i));
      seen += lanes;
    }
    at = last = n;
    return true;
  }
};

ISOBIT_CALLS_USER_CODE
template <int N, class State, class Walk, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_segments(block<N, State> const& b, Walk const& walk, Form const& form, Load const& load,
                             Store const& store, Acc const& acc) {
  check_scan_storage<Acc, State>();
  uint32_t const rank = b.thread_rank(), warps = b.size() / 32;
  if (warps == 0)
    scan_walk<1>(b, rank, b.size(), walk, form, load, store, acc);
  else
    scan_walk<32>(b, rank / 32, warps, walk, form, load, store, acc);
}

template <int N, class State, class Heads>
ISOBIT_HD heads_walk<Heads> walk_heads(block<N, State> const& b, Heads const& heads, uint64_t n) {
  uint32_t const rest = b.size() - b.thread_rank() / 32 * 32;
  return {heads, n, rest < 32 ? rest : 32};
}

ISOBIT_CALLS_USER_CODE
template <bool Exclusive, int N, class State, class T, class Walk, class Out, class Op, class Initial>
ISOBIT_HD void segmented_scan_of_block(block<N, State> const& b, T const* x, Walk const& walk, Out* out, Op const& op,
                                       Initial const& initial) {
  check_scan_types<T, Out, Op>();
  auto const acc = as_accumulator<element_value<T>>(op);
  scan_segments(b, walk, make_form<Exclusive>(acc, initial), contiguous<T>{x}, results<Out>{out}, acc);
}

} // namespace detail

//! By one block in a kernel, every thread with the same arguments: for each segment s, elements [offsets[s],
//! offsets[s + 1]) of x: out[i] = the result over the segment's elements up to i (exclusive: before i), the bits of
//! `inclusive_scan` (`exclusive_scan`) of that segment alone. Elements outside of all segments are neither read nor
//! written. `offsets` has `segments` + 1 entries that never fall (not checked here); `out` may be `x`. Warps take the
//! segments of up to 1024 elements in turn, the whole block the longer ones.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <int N, class State, class T, stl::integral Offset, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void segmented_inclusive_scan(block<N, State> const& b, T const* x, Offset const* offsets, uint64_t segments,
                                        Out* out, Op const& op = {}, Initial const& initial = {}) {
  detail::segmented_scan_of_block<false>(b, x, detail::offsets_walk<Offset>{offsets, segments}, out, op, initial);
}
template <int N, class State, class T, stl::integral Offset, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void segmented_exclusive_scan(block<N, State> const& b, T const* x, Offset const* offsets, uint64_t segments,
                                        Out* out, Op const& op = {}, Initial const& initial = {}) {
  detail::segmented_scan_of_block<true>(b, x, detail::offsets_walk<Offset>{offsets, segments}, out, op, initial);
}

//! The same for all n elements, where `heads` says which begin a segment. `out` must not overlap the flags or keys.
template <int N, class State, class T, stl::integral Index, segment_heads Heads, class Out,
          class Op = detail::plain_sum, class Initial = detail::no_initial>
ISOBIT_HD void segmented_inclusive_scan(block<N, State> const& b, T const* x, Index n, Heads const& heads, Out* out,
                                        Op const& op = {}, Initial const& initial = {}) {
  detail::segmented_scan_of_block<false>(b, x, detail::walk_heads(b, heads, static_cast<uint64_t>(n)), out, op, initial);
}
template <int N, class State, class T, stl::integral Index, segment_heads Heads, class Out,
          class Op = detail::plain_sum, class Initial = detail::no_initial>
ISOBIT_HD void segmented_exclusive_scan(block<N, State> const& b, T const* x, Index n, Heads const& heads, Out* out,
                                        Op const& op = {}, Initial const& initial = {}) {
  detail::segmented_scan_of_block<true>(b, x, detail::walk_heads(b, heads, static_cast<uint64_t>(n)), out, op, initial);
}

} // namespace isobit::inline bits1
