// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The maximal aligned nodes of a range of indices: what a rank, a launch or a shard can compute on its own.
#pragma once

#include <isobit/order/level.hpp>

namespace isobit::inline bits1 {

//! The level of the largest aligned node that starts at `start` and ends at or before `last`. Precondition: start < last.
ISOBIT_HD constexpr int node_level(uint64_t start, uint64_t last) {
  int const room = detail::highest_level(last - start);
  if (start == 0) return room;
  int const alignment = detail::lowest_level(start);
  return alignment < room ? alignment : room;
}

//! Calls `visit(start, level)` for each maximal aligned node [start, start + 2^level) within [first, last), from left to
//! right: the nodes of the tree that lie in the range and whose parent does not, at most 2 log2(last) of them.
//!
//!     for_each_node(3, 13, visit):   visit(3, 0)  visit(4, 2)  visit(8, 2)  visit(12, 0)
//!
//! Ranges that follow each other give, together, nodes that `fragment` and `sparse_counter` put together to the bits of
//! one range. An empty range has no nodes.
ISOBIT_CALLS_USER_CODE
template <class Visit> ISOBIT_HD constexpr void for_each_node(uint64_t first, uint64_t last, Visit const& visit) {
  while (first < last) {
    int const level = node_level(first, last);
    visit(first, level);
    first += uint64_t(1) << level;
  }
}

//! How many nodes `for_each_node(first, last, ...)` visits.
ISOBIT_HD constexpr int count_nodes(uint64_t first, uint64_t last) {
  int count = 0;
  for_each_node(first, last, [&](uint64_t, int) { ++count; });
  return count;
}

} // namespace isobit::inline bits1
