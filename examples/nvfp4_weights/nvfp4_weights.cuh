// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights to NVFP4: a scale for the tensor from its largest magnitude, an E4M3 scale for 16 weights, and two 4-bit
// codes to a byte. Two kernels; the first one's maximum has no order, so that its blocks may finish in any.
#pragma once

#include <isobit/quantize.hpp>

using nvfp4_recipe = isobit::nvfp4<isobit::nv::te>; // Transformer Engine's arithmetic

// *largest: the bits of the largest magnitude; 0 before.
__global__ void largest_magnitude(float const* w, std::size_t n, unsigned* largest) {
  __shared__ isobit::block<256>::storage<std::uint32_t> smem;
  auto block = isobit::block(smem);
  std::size_t const share = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
  if (first >= n) return;
  std::uint32_t const mine = isobit::amax<nvfp4_recipe>(block, w + first, n - first < share ? n - first : share);
  if (threadIdx.x == 0) atomicMax(largest, mine);
}

// A thread a block of 16 weights. Precondition: 16 divides the number of weights.
__global__ void quantize_weights(float const* w, std::size_t n, unsigned const* largest, isobit::e2m1x2* codes,
                                 isobit::e4m3* scales) {
  nvfp4_recipe const recipe{isobit::from_bits<float>(*largest)};
  for (std::size_t b = blockIdx.x * blockDim.x + threadIdx.x; b < n / 16; b += std::size_t(gridDim.x) * blockDim.x) {
    float values[16];
    isobit::e2m1 code[16];
    for (std::size_t i = 0; i < 16; ++i) values[i] = w[16 * b + i];
    scales[b] = isobit::quantize_block(isobit::thread(), recipe, values, code);
    for (std::size_t i = 0; i < 8; ++i) codes[8 * b + i] = isobit::pack(code[2 * i], code[2 * i + 1]);
  }
}
