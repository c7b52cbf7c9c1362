// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that fingerprints what it writes while it has it in registers: y = a x + y, and the digest of y without
// reading it again. The blocks' sums add up in any order.
#pragma once

#include <isobit/fingerprint.hpp>

// n: a multiple of 4, so that y consists of whole 16-byte units. sums: one for each block.
__global__ void axpy_with_digest(float a, float const* x, float* y, std::size_t n, isobit::digest_sum* sums) {
  __shared__ isobit::block<256>::storage<isobit::digest_sum> smem;
  auto block = isobit::block(smem);
  isobit::digest_accumulator mine;
  for (std::size_t u = blockIdx.x * blockDim.x + threadIdx.x; u < n / 4; u += std::size_t(gridDim.x) * blockDim.x) {
    float unit[4];
    for (std::size_t i = 0; i < 4; ++i) unit[i] = y[4 * u + i] = isobit::fma(a, x[4 * u + i], y[4 * u + i]);
    mine.add(unit, u);
  }
  isobit::digest_sum const sum = isobit::sum_over(block, mine.sum());
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
