// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RMSNorm in bf16, and the gradient of its weight, with bits that do not depend on the batch: a row of y is a function of
// that row of x, the weight and eps; not of the number of rows, the block's width or the grid.
#pragma once

#include <isobit/reduce.hpp>
#include <isobit/scatter.hpp>

struct square {
  __host__ __device__ float operator()(float x) const { return isobit::mul(x, x); }
};

// 1 / sqrt(mean of squares + eps), from the sum of squares.
__host__ __device__ inline float inverse_rms(float squares, int cols, float eps) {
  float const mean = isobit::div(squares, isobit::convert<float>(cols));
  return isobit::div(1.0f, isobit::sqrt(isobit::add(mean, eps)));
}

// A block a row, in turn: any grid, any width up to 256 threads.
__global__ void rms_norm(isobit::bf16 const* x, float const* weight, isobit::bf16* y, float* scale, int rows, int cols,
                         float eps) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  for (int r = int(blockIdx.x); r < rows; r += int(gridDim.x)) {
    auto const at = std::size_t(r) * std::size_t(cols);
    float const squares = isobit::reduce(block, cols, isobit::map(x + at, square{}));
    float const s = inverse_rms(squares, cols, eps);
    for (int i = int(threadIdx.x); i < cols; i += int(blockDim.x)) {
      float const v = isobit::decode(x[at + std::size_t(i)]);
      y[at + std::size_t(i)] = isobit::encode<isobit::bf16>(isobit::mul(isobit::mul(v, s), weight[i]));
    }
    if (threadIdx.x == 0) scale[r] = s;
  }
}

// What row r adds to the gradient of the weight of column c.
struct weight_gradient {
  isobit::bf16 const *x, *dy;
  float const* scale;
  std::size_t cols;
  __host__ __device__ float operator()(std::uint64_t r, std::uint64_t c) const {
    return isobit::mul(isobit::decode(dy[r * cols + c]), isobit::mul(isobit::decode(x[r * cols + c]), scale[r]));
  }
};
struct to_array {
  float* out;
  __host__ __device__ void operator()(std::uint64_t, std::uint64_t c, float v) const { out[c] = v; }
};

// dweight[c] = the tree over the rows: the two passes of a column sum in one launch. How many rows a block takes follows
// from the number of rows only, and changes no bit.
__global__ void rms_norm_dweight(weight_gradient load, std::uint64_t rows, isobit::column_workspace<float> workspace,
                                 float* dweight) {
  __shared__ std::uint32_t flag;
  isobit::reduce_columns(&flag, workspace, isobit::fixed_rows(1, rows), load, to_array{dweight});
}
