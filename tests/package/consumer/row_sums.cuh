// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of the consumer's own: a block sums a row. nvcc and, after <isobit/simt/cuda.hpp>, a host compiler read it.
#pragma once
#include <isobit/reduce.hpp>

__global__ void row_sums(float const* x, float* out, int columns) {
  __shared__ isobit::block<128>::storage<float> memory;
  auto block = isobit::block(memory);
  float const sum = isobit::reduce(block, x + blockIdx.x * unsigned(columns), columns);
  if (block.thread_rank() == 0) out[blockIdx.x] = sum;
}
