// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum in a kernel of one's own: each block sums one row, and any block width gives the same bits.
#pragma once

#include <isobit/reduce.hpp>

__global__ void block_sum(float const* x, int cols, float* sums) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  float const sum = isobit::reduce(block, x + std::size_t(blockIdx.x) * std::size_t(cols), cols);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
