// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::inclusive_scan` and `device::exclusive_scan`. The same source runs on a GPU and, through
//! `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/scan_grid.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int scan_block = 256;

//! One pass: any grid of blocks of at most `Width` threads. `workspace`: `scan_workspace` for n elements and blocks of
//! this width, its first `zero_bytes` bytes zero.
template <int Width, class Form, class Load, class Store, class Acc>
ISOBIT_KERNEL void scan_kernel(Form form, Load load, uint64_t n, Store store, void* workspace, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<Width, state> memory;
  auto const b = block(memory);
  auto const all = scan_grid(b, scan_workspace<state>::at(workspace, n, b.size()));
  isobit::detail::scan_any(all, n, form, load, store, acc);
}

//! The first of two passes: nodes[k] = the node over the k-th chunk, for all chunks but the last.
template <int Width, class Load, class Acc>
ISOBIT_KERNEL void scan_nodes_kernel(Load load, uint64_t n, typename Acc::state* nodes, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<Width, state> memory;
  auto const b = block(memory);
  uint64_t const chunk = isobit::detail::chunk_shape<Load, state>(b.size()).chunk;
  for (uint64_t k = b.block_rank(); (k + 1) * chunk < n; k += machine::grid_blocks()) {
    state const node = fold(b, chunk, shift(load, k * chunk), acc);
    if (b.thread_rank() == 0) nodes[k] = node;
  }
}

//! The second of two passes, by blocks of the same width: the chunks after these nodes.
template <int Width, class Form, class Load, class Store, class Acc>
ISOBIT_KERNEL void scan_after_nodes_kernel(Form form, Load load, uint64_t n, Store store,
                                           typename Acc::state const* nodes, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<Width, state> memory;
  auto const b = block(memory);
  uint64_t const chunk = isobit::detail::chunk_shape<Load, state>(b.size()).chunk;
  isobit::detail::ready_nodes<state> const ready{nodes};
  for (uint64_t k = b.block_rank(); k * chunk < n; k += machine::grid_blocks()) {
    b.sync(); // the slots of the chunk before
    isobit::detail::scan_chunk_any(b, ready, k, n, form, load, store, acc);
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
