// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers for private slots: the second pass, and a memset node for counters. A stream; no allocation, no
//! synchronisation, safe to capture in a CUDA graph. Not yet run on a GPU.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/slots_kernel.hpp>

namespace isobit::inline bits1::device {

//! out[i] = the tree over the slots' values i, for i < width: `merge` for every value. `memory`:
//! `private_slots<typename Acc::state>::bytes(slots, width)` bytes of device memory that earlier kernels of the stream
//! have filled. Needs no counter and no initialisation. Throws `invalid_argument`, `launch_error`.
template <accumulator Acc = plain<float>>
void merge_slots(cudaStream_t stream, void* memory, uint64_t memory_bytes, uint64_t slots, uint64_t width,
                 typename Acc::result* out, Acc const& acc = {}) {
  constexpr char const* name = "device::merge_slots";
  using space = private_slots<typename Acc::state>;
  isobit::detail::check_workspace(name, memory, memory_bytes, space::bytes(slots, width), alignof(typename Acc::state));
  isobit::detail::check_array(name, "out", out, width);
  if (width == 0) return;
  uint64_t const blocks = (width + 255) / 256;
  merge_slots_kernel<<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536), 256, 0, stream>>>(
      space::at(memory, slots, width), out, acc);
  check_launch(name);
}

//! Makes `count` counters (of `last_to_arrive`, `take_ticket`, turnstiles) zero. Once before the first use will do; in a
//! graph it may as well run every time.
inline void clear_counters(cudaStream_t stream, uint32_t* counters, uint64_t count) {
  constexpr char const* name = "device::clear_counters";
  isobit::detail::check_array(name, "counters", counters, count);
  cudaError_t const e = cudaMemsetAsync(counters, 0, count * sizeof *counters, stream);
  if (e != cudaSuccess) throw launch_error(name, static_cast<int>(e), cudaGetErrorString(e));
}

} // namespace isobit::inline bits1::device
