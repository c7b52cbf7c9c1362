// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With --use_fast_math: the additions and the square root stay IEEE's, rounded once (look for add.rn.f32, sqrt.rn.f32).
#include <isobit.hpp>

__global__ void row_norms(float const* x, float* out, int columns) {
  __shared__ isobit::block<256>::storage<float> memory;
  auto block = isobit::block(memory);
  float const* const row = x + isobit::size_t(blockIdx.x) * columns;
  float const squares = isobit::reduce(block, columns, [=](int i) { return isobit::mul(row[i], row[i]); });
  if (block.thread_rank() == 0) out[blockIdx.x] = isobit::sqrt(squares);
}
