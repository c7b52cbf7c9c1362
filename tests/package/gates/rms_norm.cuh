// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <isobit/reduce.hpp>

// y[r][c] = x[r][c] / sqrt(mean over the row of x^2 + 1e-6); a block for each row
__global__ void rms_norm(float const* x, float* y, int columns) {
  __shared__ isobit::block<256>::storage<float> memory;
  auto block = isobit::block(memory);
  float const* const row = x + std::size_t(blockIdx.x) * columns;
  float const squares = isobit::reduce(block, columns, [=](int c) { return isobit::mul(row[c], row[c]); });
  float const mean = isobit::div(squares, float(columns));
  float const scale = isobit::div(1.0f, isobit::sqrt(isobit::add(mean, 1e-6f)));
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[std::size_t(blockIdx.x) * columns + c] = isobit::mul(row[c], scale);
}
