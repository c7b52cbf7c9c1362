// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `reduce_fragment`: what a rank, a launch or a checkpointed run knows of a tree that others also hold a part of.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/order/fragment.hpp>

namespace isobit::inline bits1 {

namespace detail {

ISOBIT_CALLS_USER_CODE
template <int Depth, class Group, class Load, class Acc>
ISOBIT_HD fragment<typename Acc::state, Depth> fold_nodes(Group const& g, uint64_t first, uint64_t last,
                                                          Load const& load, uint64_t origin, Acc const& acc) {
  fragment<typename Acc::state, Depth> out(first);
  while (out.last() < last) {
    int const level = isobit::node_level(out.last(), last);
    out.append(acc, fold(g, uint64_t(1) << level, shift(load, out.last() - origin), acc), level);
  }
  return out;
}

} // namespace detail

//! The fragment of the tree over [first, last): every maximal aligned node of the range, folded by the group `g`.
//!
//! `load(i)` is called with indices of the whole sequence, first <= i < last. `op`: an accumulator or a binary operator,
//! as for `reduce`. Fragments of adjacent ranges merge (order/fragment.hpp) to the fragment of the union, and
//! `finish_fragment` of the fragment [0, n) has the bits of `reduce` over [0, n), however the range was split.
//!
//! Every thread of the group receives the same fragment; `g` is a `thread`, `tile`, `block` or `host`
//! (`device::reduce_fragment` is for a whole launch). A `host` computes in the default floating-point environment.
//! Precondition, checked for a `host` (isobit::invalid_argument): first <= last <= 2^Depth.
//! Guarantee: run-to-run, geometry, target, partition. Cost: one read of the range; at most 2 log2(last) folds.
ISOBIT_CALLS_USER_CODE
template <int Depth = 64, class Group, class Load, class Op = detail::plain_sum>
  requires(!stl::is_pointer_v<Load>)
ISOBIT_HD auto reduce_fragment(Group const& g, uint64_t first, uint64_t last, Load const& load, Op const& op = {}) {
  auto const elements = detail::as_load<uint64_t>(load);
  auto const acc = detail::as_accumulator<detail::loaded<decltype(elements)>>(op);
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    if (first > last) throw invalid_argument("reduce_fragment", "first", "at most last");
    return with_default_environment([&] { return detail::fold_nodes<Depth>(g, first, last, elements, 0, acc); });
  } else
#endif
    return detail::fold_nodes<Depth>(g, first, last, elements, 0, acc);
}

//! The same for the part of an array that this rank holds: `x[0]` is element `first` of the whole sequence. A `host`
//! group also checks that `x` is not null unless the range is empty, and that it is aligned for its type.
template <int Depth = 64, class Group, class T, class Op = detail::plain_sum>
ISOBIT_HD auto reduce_fragment(Group const& g, uint64_t first, uint64_t last, T const* x, Op const& op = {}) {
  auto const acc = detail::as_accumulator<element_value<T>>(op);
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    if (first > last) throw invalid_argument("reduce_fragment", "first", "at most last");
    if (x == nullptr && first < last) throw invalid_argument("reduce_fragment", "x", "non-null when first < last");
    if (reinterpret_cast<stl::uintptr_t>(x) % alignof(T) != 0)
      throw invalid_argument("reduce_fragment", "x", "aligned to", alignof(T), "bytes");
    return with_default_environment(
        [&] { return detail::fold_nodes<Depth>(g, first, last, contiguous<T>{x}, first, acc); });
  } else
#endif
    return detail::fold_nodes<Depth>(g, first, last, contiguous<T>{x}, first, acc);
}

//! The result over [0, n) from its fragment; `acc.empty()` where n is 0. Precondition: the fragment starts at index 0.
//! `acc` is the accumulator that made it. On a host in the default floating-point environment.
ISOBIT_CALLS_USER_CODE
template <accumulator A, int Depth>
ISOBIT_HD typename A::result finish_fragment(fragment<typename A::state, Depth> const& whole, A const& acc) {
  if (whole.first() == 0 && whole.empty()) return acc.empty();
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  return with_default_environment([&] { return acc.finish(whole.root(acc)); });
#else
  return acc.finish(whole.root(acc));
#endif
}

} // namespace isobit::inline bits1
