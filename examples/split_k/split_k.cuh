// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Split-K as in CUTLASS, with an epilogue whose bits do not depend on the split: C = relu(alpha A B + bias) in bf16.
// Blocks share the chunks of K of one tile of C; each chunk's accumulators go to a slot of their own; the block that
// comes last merges the slots by the tree over the chunks, in registers, and stores C. There is no atomic addition of
// floats.
//
// The chunk here is a chain of fused multiply-adds. With tensor cores its bits are the hardware's, and the merge is as
// here.
#pragma once

#include <isobit/slots.hpp>

struct gemm {
  isobit::bf16 const *a, *b; // [rows][depth], [depth][cols]
  float const* bias;         // [cols]
  isobit::bf16* c;           // [rows][cols]
  std::size_t rows, cols, depth;
  float alpha;

  static constexpr std::size_t tile = 8, chunk = 32; // a block: 8 x 8 of C, an element a thread
  __host__ __device__ std::size_t tiles() const { return (rows + tile - 1) / tile * ((cols + tile - 1) / tile); }
  __host__ __device__ std::size_t chunks() const { return (depth + chunk - 1) / chunk; }
  __host__ __device__ bool has(std::size_t row, std::size_t col) const { return row < rows && col < cols; }

  // The main loop: the part of element (row, col) that chunk k contributes.
  __host__ __device__ float part(std::size_t row, std::size_t col, std::size_t k) const {
    std::size_t const first = k * chunk, end = depth - first < chunk ? depth : first + chunk;
    float sum = 0.0f;
    for (std::size_t i = first; i < end; ++i)
      sum = isobit::fma(isobit::decode(a[row * depth + i]), isobit::decode(b[i * cols + col]), sum);
    return sum;
  }
  // The epilogue.
  __host__ __device__ isobit::bf16 output(float sum, std::size_t col) const {
    return isobit::encode<isobit::bf16>(isobit::max(isobit::fma(alpha, sum, bias[col]), 0.0f));
  }
};

// grid: (tiles, splits), block: 64. memory: for each tile chunks x 64 floats, uninitialised; arrivals: a 0 for each
// tile.
__global__ void split_k(gemm g, float* memory, std::uint32_t* arrivals) {
  __shared__ std::uint32_t flag;
  std::size_t const t = blockIdx.x, i = threadIdx.x, across = (g.cols + gemm::tile - 1) / gemm::tile;
  std::size_t const row = t / across * gemm::tile + i / gemm::tile, col = t % across * gemm::tile + i % gemm::tile;
  auto const slots = isobit::private_slots<float>::at(memory + t * g.chunks() * 64, g.chunks(), 64);
  for (std::size_t k = blockIdx.y; k < g.chunks(); k += gridDim.y)
    if (g.has(row, col)) slots.store(k, i, g.part(row, col, k));
  if (isobit::last_to_arrive(&flag, arrivals + t, gridDim.y) && g.has(row, col))
    g.c[row * g.cols + col] = g.output(isobit::merge(slots, i), col);
}

// The same on a host.
inline void gemm_on_host(gemm const& g) {
  for (std::size_t row = 0; row < g.rows; ++row)
    for (std::size_t col = 0; col < g.cols; ++col) {
      auto const part = [&](std::size_t k) { return g.part(row, col, k); };
      g.c[row * g.cols + col] = g.output(isobit::reduce(isobit::host(), g.chunks(), part), col);
    }
}
