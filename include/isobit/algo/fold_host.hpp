// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements on a CPU: in blocks on one thread, or as jobs of an executor.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/group/host.hpp>
#include <isobit/order/counter.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {

namespace detail {

// node(Level, .) of a full subtree whose first leaf is `first`; unrolled.
ISOBIT_CALLS_USER_CODE
template <int Level, class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state full_node(uint64_t first, Leaf const& leaf, Acc const& acc) {
  if constexpr (Level == 0) {
    return leaf(first);
  } else {
    auto const left = full_node<Level - 1>(first, leaf, acc);
    return acc.combine(left, full_node<Level - 1>(first + (uint64_t{1} << (Level - 1)), leaf, acc));
  }
}

// The tree over leaf(first) ... leaf(first + n - 1), n >= 1, any leaf that gives states.
ISOBIT_CALLS_USER_CODE
template <class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state fold_leaves(uint64_t first, uint64_t n, Leaf const& leaf, Acc const& acc) {
  constexpr int level = sizeof(typename Acc::state) <= 16 ? 4 : 2;
  constexpr uint64_t leaves = uint64_t{1} << level;
  counter<typename Acc::state> pending;
  uint64_t const end = first + n;
  for (; end - first >= leaves; first += leaves) pending.push(acc, full_node<level>(first, leaf, acc), level);
  for (; first < end; ++first) pending.push(acc, leaf(first));
  return pending.fold(acc);
}

// The tree over load(first) ... load(first + n - 1) on this thread.
ISOBIT_CALLS_USER_CODE
template <class Load, class Acc>
ISOBIT_HD constexpr typename Acc::state fold_range(uint64_t first, uint64_t n, Load const& load, Acc const& acc) {
  auto const leaf = [&](uint64_t i) { return acc.lift(load(i)); };
  return fold_leaves(first, n, leaf, acc);
}

} // namespace detail

template <class Executor, class Load, accumulator A>
typename A::state fold(host<Executor> const&, uint64_t n, Load const& load, A const& acc) {
  return detail::fold_range(0, n, load, acc);
}

} // namespace isobit::inline bits1
#endif
