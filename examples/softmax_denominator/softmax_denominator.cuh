// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two numbers that a softmax needs of each row: its maximum, and the sum of exp(x - maximum). A row's bits depend on
// that row alone, and the host computes the same ones, the exponential included.
#pragma once

#include <isobit/reduce.hpp>

struct larger {
  __host__ __device__ float operator()(float a, float b) const { return isobit::max(a, b); }
};

// exp(x) for x <= 0, to about 2 units in the last place, by operations whose bits no compiler flag changes; 0 below -87.
// x = k log 2 + r with |r| <= log(2)/2; the series of exp(r) up to r^7 / 7!.
__host__ __device__ inline float exp_of_negative(float x) {
  if (isobit::is_nan(x)) return x;
  if (isobit::less(x, -87.0f)) return 0.0f;
  float const rounder = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  float const moved = isobit::fma(x, 1.4426950408889634f, rounder);
  float const k = isobit::sub(moved, rounder);
  float const r = isobit::fma(k, 1.42860677e-6f, isobit::fma(k, -0.693148613f, x)); // log 2 in two parts, negated
  float p = 1.98412698e-4f;
  for (float c : {1.38888889e-3f, 8.33333333e-3f, 4.16666667e-2f, 1.66666667e-1f, 0.5f, 1.0f, 1.0f}) p = isobit::fma(p, r, c);
  auto const scale = (127 + isobit::to_bits(moved) - isobit::to_bits(rounder)) << 23; // 2^k, k >= -126
  return isobit::mul(p, isobit::from_bits<float>(scale));
}

struct exp_below {
  float maximum;
  __host__ __device__ float operator()(float x) const { return exp_of_negative(isobit::sub(x, maximum)); }
};

// A block a row, in turn: any grid, any width up to 256 threads. Rows are read twice, the second time from the cache.
__global__ void softmax_denominator(float const* x, float* maximum, float* denominator, int rows, int cols) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  for (int r = int(blockIdx.x); r < rows; r += int(gridDim.x)) {
    auto const row = x + std::size_t(r) * std::size_t(cols);
    float const m = isobit::reduce(block, row, cols, larger{});
    float const sum = isobit::reduce(block, cols, isobit::map(row, exp_below{m}));
    if (block.thread_rank() == 0) maximum[r] = m, denominator[r] = sum;
  }
}
