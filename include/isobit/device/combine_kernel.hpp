// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::gather_combine`. The same source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/combine.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launcher. Bits do not depend on it.
inline constexpr int combine_block = 256;

template <int MaxK, class Map, class Load, class Out, class Acc>
ISOBIT_KERNEL void gather_combine_kernel(Map map, Load load, uint64_t columns, Out* out, Acc acc) {
  ISOBIT_SHARED combine_storage<MaxK> memory;
  gather_combine(memory, map, load, columns, out, acc);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
