// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradients of LayerNorm's weight and bias: sums of columns over all rows of the batch, in two kernels and without
// atomic additions. A slot holds the sums of 64 rows; how many blocks fill the slots changes no bit.
#pragma once

#include <isobit/reduce.hpp>
#include <isobit/slots.hpp>

inline constexpr int rows_of_slot = 64; // a power of two: the slots are nodes of the tree over all rows

struct norm_gradient {
  isobit::bf16 const *x, *dy; // [rows][cols]
  float const *mean, *scale;  // of each row, as the forward pass stored them
  std::size_t cols;

  // What row r adds to the gradient of the weight, and of the bias, of column c.
  __host__ __device__ float weight(std::size_t r, std::size_t c) const {
    float const normal = isobit::mul(isobit::sub(isobit::decode(x[r * cols + c]), mean[r]), scale[r]);
    return isobit::mul(bias(r, c), normal);
  }
  __host__ __device__ float bias(std::size_t r, std::size_t c) const { return isobit::decode(dy[r * cols + c]); }
};

// Slot s: [2][cols], the sums over rows 64 s, 64 s + 1, ...; its blocks take the slots in turn.
__global__ void sum_rows(norm_gradient g, std::size_t rows, isobit::private_slots<float> slots) {
  for (std::size_t s = blockIdx.x; s < slots.slots; s += gridDim.x)
    for (std::size_t c = threadIdx.x; c < g.cols; c += blockDim.x) {
      std::size_t const first = s * rows_of_slot, n = rows - first < rows_of_slot ? rows - first : rows_of_slot;
      auto const weight = [=](std::size_t i) { return g.weight(first + i, c); };
      auto const bias = [=](std::size_t i) { return g.bias(first + i, c); };
      slots.store(s, c, isobit::reduce(isobit::thread(), n, weight));
      slots.store(s, g.cols + c, isobit::reduce(isobit::thread(), n, bias));
    }
}

__global__ void merge_rows(isobit::private_slots<float> slots, float* dweight, float* dbias) {
  std::size_t const cols = slots.width / 2;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < slots.width; i += gridDim.x * blockDim.x)
    (i < cols ? dweight[i] : dbias[i - cols]) = isobit::merge(slots, i);
}
