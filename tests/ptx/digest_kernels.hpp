// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances of the fingerprint kernels, and kernels of one's own that fingerprint what they write; see kernels.cu.
#pragma once

#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/torch_hash_kernel.hpp>
#include <isobit/fingerprint.hpp>

namespace isobit::inline bits1::device {

template __global__ void digest_range_kernel<256>(void const*, uint64_t, uint64_t, digest_sum*);
template __global__ void digest_range_kernel<256>(void const*, uint64_t, uint64_t, digest128_sum*);
template __global__ void chunk_sums_kernel<256>(void const*, uint64_t, uint64_t, digest_sum*);
template __global__ void chunk_sums_kernel<256>(void const*, uint64_t, uint64_t, digest128_sum*);

using bf16_view = tensor_view<bf16, 2>;
template __global__ void digest_elements_kernel<by_value<digest128>, bf16_view, 256>(bf16_view, uint64_t, uint64_t,
                                                                                    digest128_sum*);
using code_view = tensor_view<e2m1x2, 2>;
template __global__ void digest_elements_kernel<digest64, code_view, 256>(code_view, uint64_t, uint64_t, digest_sum*);

// y = 2 x, a unit of 16 bytes a thread; without and with a digest of what is written. One pair of atomics a block. The
// difference in instructions is what a digest costs. `Keep`: a thread's units have one place (the launch's threads are
// a multiple of 128), so that it keeps the keys.
struct no_digest {};
template <class Sum, bool Keep>
__global__ void write_and_digest(float4 const* x, float4* y, uint64_t units, Sum* total) {
  uint64_t const rank = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x, threads = uint64_t(gridDim.x) * blockDim.x;
  if constexpr (stl::is_same_v<Sum, no_digest>) {
    for (uint64_t u = rank; u < units; u += threads) {
      float4 const v = x[u];
      y[u] = float4{mul(2.f, v.x), mul(2.f, v.y), mul(2.f, v.z), mul(2.f, v.w)};
    }
  } else {
    ISOBIT_SHARED block_storage<256, Sum> memory;
    auto const b = block(memory);
    basic_digest_accumulator<Sum> acc;
    auto const keys = acc.keys(rank);
    for (uint64_t u = rank; u < units; u += threads) {
      float4 const v = x[u];
      float4 const w{mul(2.f, v.x), mul(2.f, v.y), mul(2.f, v.z), mul(2.f, v.w)};
      y[u] = w;
      auto const words = __builtin_bit_cast(isobit::detail::words2, w);
      if constexpr (Keep)
        acc.add(words.low, words.high, u, keys);
      else
        acc.add(words.low, words.high, u);
    }
    auto const s = sum_over(b, acc.sum());
    if (b.thread_rank() == 0) atomic_add(total, s);
  }
}
template __global__ void write_and_digest<no_digest, false>(float4 const*, float4*, uint64_t, no_digest*);
template __global__ void write_and_digest<digest_sum, false>(float4 const*, float4*, uint64_t, digest_sum*);
template __global__ void write_and_digest<digest_sum, true>(float4 const*, float4*, uint64_t, digest_sum*);
template __global__ void write_and_digest<digest128_sum, false>(float4 const*, float4*, uint64_t, digest128_sum*);
template __global__ void write_and_digest<digest128_sum, true>(float4 const*, float4*, uint64_t, digest128_sum*);

using stored_floats = stored_elements<float>;
template __global__ void torch_hash_kernel<stored_floats, 256>(stored_floats, uint64_t, uint64_t, uint64_t, uint64_t,
                                                               uint64_t*);
using stored_bf16 = stored_elements<bf16>;
template __global__ void torch_hash_kernel<stored_bf16, 256>(stored_bf16, uint64_t, uint64_t, uint64_t, uint64_t,
                                                             uint64_t*);

// The parts of a quantised tensor by one block.
__global__ void nvfp4_digest(e2m1x2 const* codes, e4m3 const* scales, float const* scale,
                             quantized_digest<uint64_t>* out) {
  ISOBIT_SHARED block_storage<256, digest_sum> memory;
  auto const b = block(memory);
  auto const d = digest_quantized(b, matrix(codes, 5, 35), matrix(scales, 5, 3, scale_layout::tiles_128x4{}), scale, 1);
  if (b.thread_rank() == 0) *out = d;
}

} // namespace isobit::inline bits1::device
