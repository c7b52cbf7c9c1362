// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of docs/migration.md, before and after. nvcc compiles them; the simulator runs them.
#pragma once

#include <isobit/accum/exact.hpp>
#include <isobit/device/exact_atomic.hpp>
#include <isobit/reduce.hpp>
#include <isobit/slots.hpp>

// Block sums of values that the threads hold.
__global__ void block_sums(float const* x, float* out) {
  __shared__ isobit::block<256>::storage<float> smem;
  __shared__ float values[256];
  auto block = isobit::block(smem);
  values[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  block.sync();
  float sum = isobit::reduce(block, values, 256);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Warp shuffles.
__global__ void row_sums_by_hand(float const* x, float* out, int cols) {
  float const* row = x + blockIdx.x * cols;
  float sum = 0;
  for (int i = int(threadIdx.x); i < cols; i += 32) sum += row[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void row_sums(float const* x, float* out, int cols) {
  float const* row = x + blockIdx.x * cols;
  float sum = isobit::reduce(isobit::tile<32>{}, row, cols);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// A total by atomics.
__global__ void total_by_atomics(float const* x, int n, float* out) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(out, x[i] * x[i]);
}

__global__ void total(float const* x, int n, float* out, void* workspace) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto grid = isobit::grid(isobit::block(smem), isobit::grid_workspace<float>::at(workspace));
  auto sum = isobit::reduce(grid, n, [=](int i) { return isobit::mul(x[i], x[i]); });
  if (sum.here && threadIdx.x == 0) *out = sum.value;
}

using exact_sum = isobit::exact<float>;

__global__ void total_in_any_order(float const* x, int n, isobit::exact_cell<exact_sum::grid>* cell) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) isobit::atomic_deposit(exact_sum{}, cell, x[i]);
}

// Split-K: blockIdx.x is the part of K, blockIdx.y the tile of the output.
__device__ inline float part_of(float const* a, int k) { return a[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + k]; }

__global__ void split_k_by_atomics(float const* a, float* c) {
  float partial = 0;
  for (int k = 0; k < 64; ++k) partial += part_of(a, k);
  atomicAdd(&c[blockIdx.y], partial);
}

__global__ void split_k(float const* a, float* c, isobit::private_slots<float> slots, unsigned* arrivals) {
  __shared__ unsigned flag;
  float partial = isobit::reduce(isobit::thread{}, 64, [=](int k) { return part_of(a, k); });
  slots.store(blockIdx.x, blockIdx.y, partial);
  if (isobit::last_to_arrive(&flag, arrivals + blockIdx.y, gridDim.x)) c[blockIdx.y] = isobit::merge(slots, blockIdx.y);
}
