// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator and an accumulator of your own. Write their arithmetic with isobit::add, isobit::mul, ... and no compiler
// flag changes a bit of the result.
#pragma once

#include <isobit/reduce.hpp>

// One step of the recurrence y = scale * y + shift. Two steps in a row are one step again, so that a reduction runs the
// whole recurrence in parallel. The order of the operands matters: isobit never swaps them.
struct step {
  float scale, shift;
};
struct then {
  __host__ __device__ step operator()(step first, step second) const {
    return {isobit::mul(first.scale, second.scale), isobit::fma(first.shift, second.scale, second.shift)};
  }
};

__global__ void run_recurrence(step const* steps, int n, step* result) {
  __shared__ isobit::block<256>::storage<step> smem;
  auto block = isobit::block(smem);
  step whole = isobit::reduce(block, steps, n, then{});
  if (block.thread_rank() == 0) *result = whole;
}

// The mean of the numbers that are not NaN: what a reduction keeps of a range of its input is up to you.
struct mean_of_numbers {
  using input = float;
  using result = float;
  struct state {
    double sum;
    unsigned long long count;
  };
  __host__ __device__ state lift(float x) const {
    if (isobit::is_nan(x)) return {0.0, 0};
    return {isobit::convert<double>(x), 1};
  }
  __host__ __device__ state combine(state a, state b) const { return {isobit::add(a.sum, b.sum), a.count + b.count}; }
  __host__ __device__ float finish(state s) const {
    if (s.count == 0) return empty();
    return isobit::convert<float>(isobit::div(s.sum, isobit::convert<double>(s.count)));
  }
  __host__ __device__ float empty() const { return isobit::from_bits<float>(isobit::float_fields<float>::quiet_nan); }
};

__global__ void mean_kernel(float const* x, int n, float* result) {
  __shared__ isobit::block<256>::storage<mean_of_numbers> smem;
  auto block = isobit::block(smem);
  float mean = isobit::reduce(block, x, n, mean_of_numbers{});
  if (block.thread_rank() == 0) *result = mean;
}
