// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::ordered_sum`: elementwise sums over ranks, 16 bytes of every rank at a time.
#pragma once

#include <isobit/algo/ordered_sum.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! `out[i]` = the fold over ranks of `from.array[r][i]`, rounded once to `Out`, for i = 0 ... n - 1; any grid of any
//! blocks. `vectors`: every array and `out` are aligned to 16 bytes.
template <class Order, class T, int W, class Out, class Acc>
ISOBIT_KERNEL void ordered_sum_kernel(peers<T, W> from, uint64_t n, Out* out, bool vectors, Acc acc) {
  constexpr int width = aligned_vectors<T>::width;
  struct alignas(sizeof(Out) * width < 16 ? sizeof(Out) * width : 16) pack {
    Out element[width];
  };
  uint64_t const threads = machine::block_threads() * machine::grid_blocks();
  uint64_t const me = machine::block_rank() * machine::block_threads() + machine::thread_rank();
  uint64_t const whole = vectors ? n / width : 0;
  for (uint64_t v = me; v < whole; v += threads) {
    typename Acc::result sums[width];
    ordered_sum_vector<Order>(from, v * width, sums, acc);
    pack p;
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) p.element[j] = encode_element<Out>(sums[j]);
    reinterpret_cast<pack*>(out)[v] = p;
  }
  for (uint64_t i = whole * width + me; i < n; i += threads) out[i] = encode_element<Out>(ordered_sum<Order>(from, i, acc));
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
