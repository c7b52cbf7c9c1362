// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements, evaluated by a block of any width. The range is cut into at most 32 aligned nodes; warps
//! take them in turn and leave them in shared memory, and the first warp folds those.
#pragma once

#include <isobit/algo/fold_tile.hpp>
#include <isobit/group/block.hpp>

namespace isobit::inline bits1 {

namespace detail {

// Nodes 0, workers, 2*workers, ... of 2^level elements each go to worker 0, and so on: a worker is a tile of P lanes.
template <int P, class Storage, class Load, class Acc>
ISOBIT_HD void fold_nodes(uint32_t worker, uint32_t workers, int level, uint64_t n, Load const& load, Acc const& acc,
                          Storage& memory) {
  tile<P> const t;
  uint32_t const nodes = static_cast<uint32_t>(ceil_shift(n, level));
  for (uint32_t k = worker; k < nodes; k += workers) {
    uint64_t const first = uint64_t(k) << level;
    uint64_t const length = n - first < (uint64_t(1) << level) ? n - first : uint64_t(1) << level;
    auto const node = fold(t, length, shift(load, first), acc);
    if (t.thread_rank() == 0) *memory.slot(k) = node;
  }
}

// log2 of the elements of a node: at most 32 nodes, and none smaller than a few rows of a warp.
template <class Load, class Acc> ISOBIT_HD constexpr int node_level(uint64_t n) {
  constexpr int smallest = 7 + bit_width(lane_width<Load>()) - 1;
  int const for_32_nodes = bit_width(n - 1) - 5;
  return for_32_nodes > smallest ? for_32_nodes : smallest;
}

// The tree over at most 32 nodes, by one warp.
template <class Nodes, class Merge>
ISOBIT_HD typename Merge::state fold_nodes_of_block(Nodes const& nodes, int count, Merge const& merge) {
  if constexpr (order_free_accumulator<Merge>)
    return deposit_tile(tile<32>{}, static_cast<uint64_t>(count), nodes, merge);
  else
    return fold_partial_row<1>(tile<32>{}, nodes, 0, count, merge);
}

} // namespace detail

//! The tree over `load(0) .. load(n - 1)`, n >= 1, by all threads of a block together; every thread receives the same
//! bits. All threads pass the same arguments. Two barriers. In a block of 32 threads or more the warps that are whole
//! do the work (threads of an incomplete last warp only take the result); a smaller block works thread by thread.
template <int N, class State, class Load, accumulator A>
ISOBIT_HD State fold(block<N, State> const& b, uint64_t n, Load const& load, A const& acc) {
  static_assert(stl::same_as<State, typename A::state>,
                "isobit: the block's storage must hold the accumulator's states: declare it as "
                "block<N>::storage<T> with T the accumulator, or the element type for a plain sum");
  auto& memory = b.memory();
  constexpr auto slots = static_cast<uint32_t>(stl::remove_cvref_t<decltype(memory)>::slots);
  static_assert(slots == 32);
  int const level = detail::node_level<Load, A>(n);
  uint32_t const rank = b.thread_rank();
  uint32_t const warps = b.size() / 32;
  if (warps == 0)
    detail::fold_nodes<1>(rank, b.size(), level, n, load, acc, memory);
  else if (rank / 32 < warps)
    detail::fold_nodes<32>(rank / 32, warps, level, n, load, acc, memory);
  b.sync();

  auto const nodes = [&](uint64_t k) { return *memory.slot(static_cast<uint32_t>(k)); };
  int const count = static_cast<int>(ceil_shift(n, level));
  detail::over_states<A> const merge{acc};
  if (warps != 0 && rank < 32) {
    State const root = detail::fold_nodes_of_block(nodes, count, merge);
    if (rank == 0) *memory.slot(slots) = root;
  } else if (rank == 0) {
    *memory.slot(slots) = fold(thread{}, static_cast<uint64_t>(count), nodes, merge);
  }
  b.sync();
  return *memory.slot(slots);
}

} // namespace isobit::inline bits1
