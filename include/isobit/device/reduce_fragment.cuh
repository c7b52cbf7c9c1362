// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launcher of a rank's part of a sum over many ranks: a stream and the caller's workspace; no allocation, no
//! synchronisation, safe to capture in a CUDA graph.
#pragma once

#include <isobit/device/launch.cuh>
#include <isobit/device/reduce_fragment_kernel.hpp>

namespace isobit::inline bits1::device {

//! Bytes of workspace that `reduce_fragment` of `n` elements needs (16-byte aligned; the first 16 bytes are zero before
//! the first use, every call leaves them zero). At most about 16,512 states.
template <accumulator Acc> constexpr uint64_t reduce_fragment_workspace_bytes(uint64_t n) {
  using state = typename Acc::state;
  return grid_workspace<state>::bytes(n) + (2 * fragment_plan::ragged + 1) * sizeof(state);
}

//! Writes the fragment over [first, last) of the whole sequence to `*out` (device memory), in `stream`: what this rank
//! sends to the others. `load(i)` is called with indices of the whole sequence.
//!
//! One kernel launch. `workspace`: `reduce_fragment_workspace_bytes<Acc>(last - first)` bytes of device memory.
//! Throws `invalid_argument` before anything is written (first > last, null `out`, short or misaligned workspace),
//! `launch_error` when CUDA refuses the launch. Guarantee: run-to-run, geometry, target, partition.
template <class Load, accumulator Acc, int Depth>
void reduce_fragment(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t first, uint64_t last,
                     Load const& load, fragment<typename Acc::state, Depth>* out, Acc const& acc) {
  using state = typename Acc::state;
  if (first > last) throw invalid_argument("device::reduce_fragment", "first", "at most last");
  if (out == nullptr) throw invalid_argument("device::reduce_fragment", "out", "non-null");
  isobit::detail::check_workspace("device::reduce_fragment", workspace, workspace_bytes,
                                  reduce_fragment_workspace_bytes<Acc>(last - first),
                                  alignof(state) > 16 ? alignof(state) : 16);
  auto const plan = fragment_plan::of<state>(first, last);
  reduce_fragment_kernel<<<static_cast<unsigned>(plan.units()), reduce_block, 0, stream>>>(load, plan, out, workspace,
                                                                                           acc);
  check_launch("device::reduce_fragment");
}

} // namespace isobit::inline bits1::device
