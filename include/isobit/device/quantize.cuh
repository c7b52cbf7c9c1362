// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of whole-matrix quantisation: a stream; no workspace, no allocation, no synchronisation, safe to capture in
//! a CUDA graph. Not yet run on a GPU.
#pragma once

#include <isobit/algo/quantize_host.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/quantize_kernel.hpp>

namespace isobit::inline bits1::device {

namespace detail {
// Blocks for so many threads, but not more than fill any GPU many times over: the kernels stride.
inline unsigned quantize_grid(uint64_t threads_needed) {
  uint64_t const blocks = (threads_needed + quantize_block_threads - 1) / quantize_block_threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < (1u << 16) ? blocks : (1u << 16));
}
} // namespace detail

//! Quantises the `rows` x `cols` matrix at `x` (row-major, no gaps) in blocks along each row; all arrays in device memory.
//!
//! `codes`: rows * cols elements. `scales`: rows * blocks_per_row<Recipe>(cols), row-major; the last block of a row may
//! be ragged. `x` holds float or a narrower float. Fastest when `x` is aligned to 16 bytes and a row is a multiple of 16
//! bytes: then each thread reads 16 bytes at a time and writes 8; any other alignment gives the same bits.
//! Throws `invalid_argument` before anything is written (null, misaligned or overlapping arrays), `launch_error` when
//! CUDA refuses the launch. Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <quantize_recipe Recipe, class T>
void quantize(cudaStream_t stream, Recipe, T const* x, uint64_t rows, uint64_t cols, typename Recipe::element* codes,
              typename Recipe::scale* scales) {
  static_assert(isobit::stl::same_as<element_value<T>, float>, "isobit: quantize takes float or a narrower float type");
  isobit::detail::check_quantize<Recipe>("device::quantize", x, "x", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  unsigned const grid = detail::quantize_grid(rows * blocks_per_row<Recipe>(cols) * 4);
  quantize_kernel<Recipe><<<grid, quantize_block_threads, 0, stream>>>(x, rows, cols, codes, scales);
  check_launch("device::quantize");
}

//! Writes the numbers that the codes mean with their scales to `out`. As `quantize` otherwise.
template <quantize_recipe Recipe>
void dequantize(cudaStream_t stream, Recipe, typename Recipe::element const* codes,
                typename Recipe::scale const* scales, uint64_t rows, uint64_t cols, float* out) {
  isobit::detail::check_quantize<Recipe>("device::dequantize", out, "out", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  unsigned const grid = detail::quantize_grid(rows * blocks_per_row<Recipe>(cols) * (Recipe::block_size / 8));
  dequantize_kernel<Recipe><<<grid, quantize_block_threads, 0, stream>>>(codes, scales, rows, cols, out);
  check_launch("device::dequantize");
}

} // namespace isobit::inline bits1::device
