// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of your own with isobit inside: the Euclidean norm of each row of a matrix, one block a row. The bits of
// out[] depend on x and cols alone: not on the block's width (1 to 256 threads here), the GPU or the compiler's flags.
#pragma once

#include <isobit/reduce.hpp>

__global__ void row_norms(float const* x, float* out, int cols) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  auto row = x + std::size_t(blockIdx.x) * cols;
  float s = isobit::reduce(block, cols, [=](int i) { return isobit::mul(row[i], row[i]); });
  if (block.thread_rank() == 0) out[blockIdx.x] = isobit::sqrt(s);
}
