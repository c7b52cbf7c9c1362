// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launcher of elementwise sums over ranks: a stream; no workspace, no allocation, no synchronisation, safe to capture in
//! a CUDA graph.
#pragma once

#include <isobit/device/launch.cuh>
#include <isobit/device/ordered_sum_kernel.hpp>

namespace isobit::inline bits1::device {

//! Writes, for i = 0 ... n - 1, the fold over ranks r = 0 ... W - 1 of `from.array[r][i]` to `out[i]`, rounded once to
//! `Out` (the order `tree` over the rank's number, or `sequential`), in `stream`. The arrays are readable by this device
//! (peer pointers, a multicast-free mapping, or parts of a receive buffer); that they are complete is the caller's
//! barrier. `out` may be one of the arrays.
//! Throws `invalid_argument` before anything is written (a null or misaligned pointer), `launch_error` when CUDA refuses
//! the launch. Guarantee: run-to-run, geometry, target, partition of the elements. Cost: one read of every array.
template <class Order = tree, class T, int W, class Out, accumulator Acc = plain<element_value<T>>>
void ordered_sum(cudaStream_t stream, peers<T, W> const& from, uint64_t n, Out* out, Acc const& acc = {}) {
  constexpr int width = aligned_vectors<T>::width, threads = 256;
  isobit::detail::check_array("device::ordered_sum", "out", out, n);
  bool vectors = isobit::detail::is_aligned_to(out, 16);
  for (T const* array : from.array) {
    isobit::detail::check_array("device::ordered_sum", "from", array, n);
    vectors = vectors && isobit::detail::is_aligned_to(array, 16);
  }
  if (n == 0) return;
  uint64_t const blocks = (n + uint64_t{threads} * width - 1) / (uint64_t{threads} * width);
  auto const grid = static_cast<unsigned>(blocks < (1u << 20) ? blocks : 1u << 20);
  ordered_sum_kernel<Order><<<grid, threads, 0, stream>>>(from, n, out, vectors, acc);
  check_launch("device::ordered_sum");
}

} // namespace isobit::inline bits1::device
