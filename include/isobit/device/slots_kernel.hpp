// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The second pass over private slots. The same source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/slots.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! out[i] = the slots' values i, merged; any grid, any block width.
template <class Acc>
ISOBIT_KERNEL void merge_slots_kernel(private_slots<typename Acc::state> slots, typename Acc::result* out, Acc acc) {
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t i = machine::block_rank() * machine::block_threads() + machine::thread_rank(); i < slots.width; i += step)
    out[i] = merge(slots, i, acc);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
