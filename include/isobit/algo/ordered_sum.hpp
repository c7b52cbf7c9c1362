// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `ordered_sum`: one element of a sum over ranks (peers, copies, slots), in a named order over the rank's number.
#pragma once

#include <isobit/algo/reduce.hpp>

namespace isobit::inline bits1 {

//! The arrays of W ranks, by rank: device pointers of peers, or parts of a receive buffer. A kernel parameter.
template <class T, int W> struct peers {
  static_assert(W >= 1 && W <= 512, "isobit: ordered_sum takes 1 to 512 ranks; more are folded in steps");
  T const* array[W];
};

namespace detail {

// The tree over ranks [First, First + Count) at `Width` neighbouring elements; the split is known at compile time.
ISOBIT_CALLS_USER_CODE
template <int First, int Count, int Width, class Get, class Acc>
ISOBIT_HD void fold_ranks(Get const& get, Acc const& acc, typename Acc::state* out) {
  if constexpr (Count == 1) {
    get(First, out);
  } else {
    constexpr int left = 1 << (Count == 2 ? 0 : highest_level(static_cast<uint64_t>(Count) - 1));
    fold_ranks<First, left, Width>(get, acc, out);
    typename Acc::state right[Width];
    fold_ranks<First + left, Count - left, Width>(get, acc, right);
    ISOBIT_UNROLL
    for (int j = 0; j < Width; ++j) out[j] = acc.combine(out[j], right[j]);
  }
}

ISOBIT_CALLS_USER_CODE
template <class Order, int W, int Width, class Get, class Acc>
ISOBIT_HD void fold_ranks_in(Get const& get, Acc const& acc, typename Acc::state* out) {
  if constexpr (stl::same_as<Order, tree>) {
    fold_ranks<0, W, Width>(get, acc, out);
  } else {
    static_assert(stl::same_as<Order, sequential>, "isobit: the order of a sum over ranks is tree or sequential");
    get(0, out);
    for (int r = 1; r < W; ++r) {
      typename Acc::state right[Width];
      get(r, right);
      ISOBIT_UNROLL
      for (int j = 0; j < Width; ++j) out[j] = acc.combine(out[j], right[j]);
    }
  }
}

} // namespace detail

//! The fold of `from.array[r][i]` over the ranks r = 0 ... W - 1: by the tree over the rank's absolute number, or one
//! after the other (`sequential`: ((x0 + x1) + x2) + ...; it starts with rank 0's element, not with +0). Neither depends
//! on who computes it, on how the elements are dealt out, or on the message size: the gradient sum of a reduce-scatter,
//! with the caller's own barriers and pointers.
//!
//! 16- and 8-bit floats are summed in float and rounded once, by the caller, from the result.
//! Preconditions: the arrays are readable at i. Errors: none.
//! Guarantee: run-to-run, geometry, target, partition (of the elements), neighbourhood. Cost: W loads, W - 1 combinations.
ISOBIT_CALLS_USER_CODE
template <class Order = tree, class T, int W, accumulator Acc = plain<element_value<T>>>
ISOBIT_HD typename Acc::result ordered_sum(peers<T, W> const& from, uint64_t i, Acc const& acc = {}) {
  typename Acc::state s[1];
  detail::fold_ranks_in<Order, W, 1>(
      [&](int r, typename Acc::state* out) { out[0] = acc.lift(decode_element(from.array[r][i])); }, acc, s);
  return acc.finish(s[0]);
}

//! The same at 16 / sizeof(T) neighbouring elements, read with one 16-byte access a rank: `out[j]` is the sum of element
//! i + j. Preconditions: i is a multiple of 16 / sizeof(T), and every array is aligned to 16 bytes.
ISOBIT_CALLS_USER_CODE
template <class Order = tree, class T, int W, accumulator Acc = plain<element_value<T>>>
ISOBIT_HD void ordered_sum_vector(peers<T, W> const& from, uint64_t i, typename Acc::result* out, Acc const& acc = {}) {
  constexpr int width = aligned_vectors<T>::width;
  typename Acc::state s[width];
  auto const get = [&](int r, typename Acc::state* to) {
    element_value<T> x[width];
    aligned_vectors<T>{from.array[r]}.get(i, x);
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) to[j] = acc.lift(x[j]);
  };
  detail::fold_ranks_in<Order, W, width>(get, acc, s);
  ISOBIT_UNROLL
  for (int j = 0; j < width; ++j) out[j] = acc.finish(s[j]);
}

#if !defined(__CUDACC_RTC__)
//! The host's form for any number of ranks: `out[i]` = the fold of `array(r)[i]` over r = 0 ... ranks - 1, for
//! i = 0 ... n - 1, rounded once to `Out`. `array`: a callable that gives rank r's array. `out` may be one of the arrays; any other overlap is
//! the caller's to avoid. n may be 0.
//! Throws invalid_argument, before anything is written: no rank, or a null `out` or array when n > 0.
//! Same bits as `ordered_sum`. Cost: one read of every array.
template <class Order = tree, class Array, class Out, class Acc = detail::plain_sum>
void ordered_sum(uint64_t ranks, Array const& array, uint64_t n, Out* out, Acc const& op = {}) {
  using element = stl::remove_cvref_t<decltype(*array(uint64_t{}))>;
  auto const acc = detail::as_accumulator<element_value<element>>(op);
  if (ranks == 0) throw invalid_argument("ordered_sum", "ranks", "at least", 1, "rank");
  if (n > 0 && out == nullptr) throw invalid_argument("ordered_sum", "out", "non-null when n > 0");
  for (uint64_t r = 0; r < ranks; ++r)
    if (n > 0 && array(r) == nullptr) throw invalid_argument("ordered_sum", "array", "non-null when n > 0");
  with_default_environment([&] {
    for (uint64_t i = 0; i < n; ++i) {
      auto const at = [&](uint64_t r) { return decode_element(array(r)[i]); };
      out[i] = encode_element<Out>(acc.finish(detail::fold_in<Order>(thread{}, ranks, at, acc)));
    }
    return 0;
  });
}
#endif

} // namespace isobit::inline bits1
