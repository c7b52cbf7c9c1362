// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements, evaluated by all blocks of a launch: aligned nodes by index, the last block folds them.
#pragma once

#include <isobit/algo/fold_block.hpp>
#include <isobit/group/grid.hpp>

namespace isobit::inline bits1 {

//! What a reduction over a grid gives: the value, in all threads of exactly one block.
template <class T> struct grid_result {
  bool here; //!< true in the block that has the value; the other blocks may simply return
  T value;   //!< indeterminate where `here` is false
};

namespace detail {

// True in all threads of the last block to arrive; it sees the partial results of all others.
template <class Grid> ISOBIT_HD bool last_to_arrive(Grid const& g) {
  auto const& b = g.block();
  auto& flag = b.memory().flag;
  b.sync();
  if (b.thread_rank() == 0) {
    auto const last = static_cast<uint32_t>(g.blocks() - 1);
    flag = machine::arrive(g.workspace().arrivals, last) == last ? 1u : 0u;
  }
  b.sync();
  bool const is_last = flag != 0;
  b.sync();
  return is_last;
}

} // namespace detail

//! The tree over `load(0) .. load(n - 1)`, n >= 1, by all blocks of the launch. All threads of all blocks pass the same
//! arguments; any number of blocks up to 2^32 - 1 gives the same bits. The workspace is left ready for the next launch.
template <class Block, class Load, accumulator A>
ISOBIT_HD grid_result<typename A::state> fold(grid<Block> const& g, uint64_t n, Load const& load, A const& acc) {
  using state = typename A::state;
  auto const& b = g.block();
  state* const partials = g.workspace().partials;
  int const level = grid_workspace<state>::chunk_level(n);
  uint64_t const count = grid_workspace<state>::partials_for(n);
  for (uint64_t k = g.block_rank(); k < count; k += g.blocks()) {
    uint64_t const first = k << level;
    uint64_t const length = n - first < (uint64_t(1) << level) ? n - first : uint64_t(1) << level;
    state const node = fold(b, length, shift(load, first), acc);
    if (b.thread_rank() == 0) partials[k] = node;
  }
  if (!detail::last_to_arrive(g)) return {false, state{}};
  return {true, fold(b, count, [=](uint64_t k) { return partials[k]; }, detail::over_states<A>{acc})};
}

} // namespace isobit::inline bits1
