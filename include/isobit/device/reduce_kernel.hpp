// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::reduce`. The same source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/reduce.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int reduce_block = 256;

//! One launch: `out[0]` = the fold of `load(0) .. load(n - 1)`; any grid of one-dimensional blocks of at most
//! `reduce_block` threads. `workspace` is laid out by `grid_workspace` for the accumulator's states.
template <class Order, class Load, class Acc>
ISOBIT_KERNEL void reduce_kernel(Load load, uint64_t n, typename Acc::result* out, void* workspace, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<reduce_block, state> memory;
  auto const all = grid(block(memory), grid_workspace<state>::at(workspace));
  auto const total = isobit::reduce<Order>(all, n, load, acc);
  if (total.here && all.block().thread_rank() == 0) *out = total.value;
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
