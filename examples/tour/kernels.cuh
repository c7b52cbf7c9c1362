// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tour's own kernels, written as any CUDA kernel: nvcc compiles them for a GPU, and after
//! `#include <isobit/simt/cuda.hpp>` an ordinary C++ compiler compiles the same text for the simulated GPU.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/reduce.hpp>
#include <isobit/scan.hpp>

#include "work.hpp"

#include <cstdint>

namespace tour {

//! The sum and the Euclidean norm of each row. Any grid; blocks of 1 to 1024 threads.
template <class T>
__global__ void sum_rows(T const* x, std::uint64_t rows, std::uint64_t cols, float* sums, float* norms) {
  __shared__ isobit::block<1024>::storage<float> smem;
  auto block = isobit::block(smem);
  for (std::uint64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    T const* row = x + r * cols;
    float sum = isobit::reduce(block, row, cols);
    float squares = isobit::reduce(block, cols, isobit::map(row, square{}));
    if (block.thread_rank() == 0) {
      sums[r] = sum;
      norms[r] = isobit::sqrt(squares);
    }
  }
}

//! The running sums of each segment [offsets[s], offsets[s + 1]) of x. Any grid; blocks of 1 to 1024 threads.
template <class T>
__global__ void scan_segments(T const* x, std::uint64_t const* offsets, std::uint64_t segments, float* out) {
  __shared__ isobit::block<1024>::storage<float> smem;
  auto block = isobit::block(smem);
  for (std::uint64_t s = blockIdx.x; s < segments; s += gridDim.x) {
    std::uint64_t first = offsets[s], length = offsets[s + 1] - first;
    isobit::inclusive_scan(block, x + first, length, out + first);
  }
}

//! The digest sum of each chunk of `bytes` bytes of memory. Any grid; blocks of 1 to 1024 threads.
__global__ void digest_chunks(unsigned char const* data, std::uint64_t bytes, std::uint64_t chunk,
                              isobit::digest_sum* sums) {
  __shared__ isobit::block<1024>::storage<isobit::digest_sum> smem;
  auto block = isobit::block(smem);
  for (std::uint64_t first = blockIdx.x * chunk; first < bytes; first += gridDim.x * chunk) {
    std::uint64_t length = bytes - first < chunk ? bytes - first : chunk;
    auto sum = isobit::digest_range(block, data + first, length, first / isobit::digest_accumulator::unit_bytes);
    if (block.thread_rank() == 0) sums[first / chunk] = sum;
    block.sync();
  }
}

} // namespace tour
