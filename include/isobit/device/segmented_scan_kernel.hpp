// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::segmented_inclusive_scan`. The same source runs on a GPU and, through `isobit::simt`, on
//! a CPU.
#pragma once

#include <isobit/algo/segmented_scan.hpp>
#include <isobit/device/whole_scan_kernel.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! A block for each segment, in turn: for long segments. Any grid of blocks of at most `Width` threads.
template <int Width, class Load, class Offset, class Store, class Acc>
ISOBIT_KERNEL void segmented_scan_by_block_kernel(Load load, Offset const* offsets, uint64_t segments, Store store,
                                                  Acc acc) {
  ISOBIT_SHARED block_storage<Width, typename Acc::state> memory;
  auto const b = block(memory);
  for (uint64_t s = b.block_rank(); s < segments; s += machine::grid_blocks())
    isobit::detail::scan_segment(b, s, load, offsets, store, acc);
}

//! A tile of `P` lanes for each segment, in turn: for short segments. Any grid, any blocks of at least `P` threads;
//! threads of an incomplete last tile do nothing.
template <int P, class Load, class Offset, class Store, class Acc>
ISOBIT_KERNEL void segmented_scan_by_tile_kernel(Load load, Offset const* offsets, uint64_t segments, Store store,
                                                 Acc acc) {
  tile<P> const t;
  uint64_t const tiles = machine::block_threads() / P;
  if (t.tile_rank() >= tiles) return;
  for (uint64_t s = machine::block_rank() * tiles + t.tile_rank(); s < segments; s += machine::grid_blocks() * tiles)
    isobit::detail::scan_segment(t, s, load, offsets, store, acc);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
