// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of device-wide reductions: a stream and the caller's workspace; no allocation, no synchronisation, safe to
//! capture in a CUDA graph.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/reduce.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/reduce_kernel.hpp>

namespace isobit::inline bits1::device {

//! Bytes of workspace that a reduction of `n` elements with accumulator `Acc` needs (16-byte aligned; the first 16
//! bytes are zero before the first use, every call leaves them zero). Grows to about 16,384 states and stays there.
template <accumulator Acc> constexpr uint64_t reduce_workspace_bytes(uint64_t n) {
  return grid_workspace<typename Acc::state>::bytes(n);
}

//! Writes the fold of `load(0) .. load(n - 1)` in the order `Order` to `*out` (device memory), in `stream`.
//!
//! One kernel launch, any n from 0 to 2^63. `workspace`: `reduce_workspace_bytes<Acc>(n)` bytes of device memory.
//! Throws `invalid_argument` before anything is written (null `out`, short or misaligned workspace), `launch_error` when
//! CUDA refuses the launch. Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <class Order = tree, class Load, accumulator Acc>
void reduce(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n, Load const& load,
            typename Acc::result* out, Acc const& acc) {
  if (out == nullptr) throw invalid_argument("device::reduce", "out", "non-null");
  isobit::detail::check_workspace("device::reduce", workspace, workspace_bytes, reduce_workspace_bytes<Acc>(n),
                                  alignof(typename Acc::state) > 16 ? alignof(typename Acc::state) : 16);
  uint64_t const chunks = grid_workspace<typename Acc::state>::partials_for(n);
  auto const blocks = static_cast<unsigned>(chunks == 0 ? 1 : chunks);
  reduce_kernel<Order><<<blocks, reduce_block, 0, stream>>>(load, n, out, workspace, acc);
  check_launch("device::reduce");
}

//! The same for an array of `n` elements at `x` (device memory; any alignment of its type, 16 bytes is fastest).
//! The sum is `plain` unless another accumulator is named: 16-bit and 8-bit floats are summed in float.
template <class Order = tree, class T, accumulator Acc = plain<element_value<T>>>
void reduce(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
            typename Acc::result* out, Acc const& acc = {}) {
  isobit::detail::check_array("device::reduce", "x", x, n);
  reduce<Order>(stream, workspace, workspace_bytes, n, contiguous<T>{x}, out, acc);
}

} // namespace isobit::inline bits1::device
