// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of whole-matrix quantisation: a stream; no workspace, no allocation, no synchronisation, safe to capture in
//! a CUDA graph. Not yet run on a GPU.
#pragma once

#include <isobit/algo/quantize_check.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/quantize_tile_kernel.hpp>

namespace isobit::inline bits1::device {

namespace quantize_detail {
// Blocks for so much work, but not more than fill any GPU many times over: the kernels stride.
inline unsigned at_most_65536(uint64_t blocks) {
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < (1u << 16) ? blocks : (1u << 16));
}
// Blocks of threads that take 16 elements each.
inline unsigned run_grid(uint64_t rows, uint64_t cols) {
  uint64_t const runs = rows * (cols / run + (cols % run != 0));
  return at_most_65536((runs + quantize_block_threads - 1) / quantize_block_threads);
}
// A grid for groups whose sizes only the device knows: x covers a matrix of `rows` rows, y the groups.
inline dim3 group_grid(unsigned all, uint64_t groups) {
  unsigned const y = static_cast<unsigned>(groups < 64 ? groups : 64);
  return dim3((all + y - 1) / y, y);
}
template <class Recipe> void check_source(char const* function, Recipe const& recipe) {
  check_recipe(function, recipe);
}
template <class Recipe> void check_source(char const* function, recipe_from_amax<Recipe> const& from) {
  check_array_of(function, "recipe.amax", from.amax);
}

template <class Source>
concept recipe_source = quantize_recipe<recipe_type<Source>>;

template <bool Square, class Source, class Rounding, class T, class... Copies>
void launch_quantize(char const* function, cudaStream_t stream, Source const& recipe, Rounding rounding, T const* x,
                     uint64_t rows, uint64_t cols, Copies... copies) {
  using recipe_type = quantize_detail::recipe_type<Source>;
  static_assert(isobit::stl::same_as<element_value<T>, float>, "isobit: quantize takes float or a narrower float type");
  static_assert(one_copy_each_way<Copies...>, "isobit: quantize makes one row-wise and one column-wise copy at most");
  check_source(function, recipe);
  check_copies<recipe_type>(function, x, "x", rows, cols, copies...);
  if constexpr (Square) check_square<recipe_type>(function, rows, cols, copies...);
  if (rows == 0 || cols == 0) return;
  if constexpr (!Square && sizeof...(Copies) == 1 && (Copies::along_rows && ...)) {
    quantize_kernel<<<run_grid(rows, cols), quantize_block_threads, 0, stream>>>(recipe, rounding, x, rows, cols,
                                                                                 copies...);
  } else {
    unsigned const grid = at_most_65536(tile_place::count(rows, cols));
    quantize_tiles_kernel<Square>
        <<<grid, quantize_block_threads, 0, stream>>>(recipe, rounding, x, rows, cols, copies...);
  }
  check_launch(function);
}
} // namespace quantize_detail

//! Quantises the `rows` x `cols` matrix at `x` (row-major, no gaps) into one copy or, in one pass over `x`, a row-wise and a
//! column-wise one (see algo/quantized_copy.hpp); all arrays in device memory. `recipe`: a recipe, or a `recipe_from_amax`.
//!
//! Every byte of the codes is written, and every scale of the layout, padding as 0. `x` holds float or a narrower float.
//! Fastest when `x` and the codes are aligned to 16 bytes and a line is a multiple of 16 elements: then each thread reads and
//! writes 16 bytes at a time; any other alignment gives the same bits. Errors: as `isobit::quantize`, which has the same
//! bits; `launch_error` when CUDA refuses the launch. Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <quantize_detail::recipe_source Recipe, class T, copy_of<quantize_detail::recipe_type<Recipe>>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize(cudaStream_t stream, Recipe recipe, T const* x,
                                                                         uint64_t rows, uint64_t cols,
                                                                         Copies... copies) {
  quantize_detail::launch_quantize<false>("device::quantize", stream, recipe, isobit::detail::to_nearest{}, x, rows,
                                          cols, copies...);
}

//! As above with stochastic rounding of the codes: the random bits as in `isobit::quantize`.
template <quantize_detail::recipe_source Recipe, class T, copy_of<quantize_detail::recipe_type<Recipe>>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize(cudaStream_t stream, Recipe recipe,
                                                                         stochastic rounding, T const* x, uint64_t rows,
                                                                         uint64_t cols, Copies... copies) {
  quantize_detail::launch_quantize<false>("device::quantize", stream, recipe, rounding, x, rows, cols, copies...);
}

//! As `quantize`, with one scale for each square of block_size rows and columns: as `isobit::quantize_square`.
template <quantize_detail::recipe_source Recipe, class T, copy_of<quantize_detail::recipe_type<Recipe>>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize_square(cudaStream_t stream, Recipe recipe,
                                                                                T const* x, uint64_t rows,
                                                                                uint64_t cols, Copies... copies) {
  quantize_detail::launch_quantize<true>("device::quantize_square", stream, recipe, isobit::detail::to_nearest{}, x,
                                         rows, cols, copies...);
}

//! As `quantize`, for a matrix whose rows [offsets[g], offsets[g + 1]) are group g: as `isobit::quantize_groups`.
//!
//! `offsets`, groups + 1 ascending row numbers, is in device memory, and only the device looks at it: nothing is transferred.
//! `most_rows`: an upper limit of offsets[groups], which fixes the grid and what is checked. The copies' memory is the
//! caller's to size (`grouped_scales_size`); they must be made with `ragged` if a group may be.
template <quantize_detail::recipe_source Recipe, class T, copy_of<quantize_detail::recipe_type<Recipe>>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize_groups(cudaStream_t stream, Recipe recipe,
                                                                                T const* x, uint64_t const* offsets,
                                                                                uint64_t groups, uint64_t most_rows,
                                                                                uint64_t cols, Copies... copies) {
  constexpr char const* function = "device::quantize_groups";
  static_assert(isobit::detail::one_copy_each_way<Copies...>,
                "isobit: quantize makes one row-wise and one column-wise copy at most");
  quantize_detail::check_source(function, recipe);
  quantize_detail::check_array_of(function, "offsets", offsets);
  quantize_detail::check_elements(function, most_rows, cols);
  quantize_detail::check_array_of(function, "x", x);
  (quantize_detail::check_array_of(function, "copies.codes", copies.codes), ...);
  (quantize_detail::check_array_of(function, "copies.scales", copies.scales), ...);
  if (groups == 0 || most_rows == 0 || cols == 0) return;
  isobit::detail::to_nearest const rounding{};
  if constexpr (sizeof...(Copies) == 1 && (Copies::along_rows && ...)) {
    dim3 const grid = quantize_detail::group_grid(quantize_detail::run_grid(most_rows, cols), groups);
    quantize_groups_kernel<<<grid, quantize_block_threads, 0, stream>>>(recipe, rounding, x, offsets, groups, cols,
                                                                        copies...);
  } else {
    unsigned const tiles = quantize_detail::at_most_65536(quantize_detail::tile_place::count(most_rows, cols) + groups);
    quantize_group_tiles_kernel<<<quantize_detail::group_grid(tiles, groups), quantize_block_threads, 0, stream>>>(
        recipe, rounding, x, offsets, groups, cols, copies...);
  }
  check_launch(function);
}

//! Writes the numbers that a copy means, `rows` x `cols`, row-major, to `out`. As `quantize` otherwise.
template <quantize_detail::recipe_source Recipe, copy_of<quantize_detail::recipe_type<Recipe>> Copy>
void dequantize(cudaStream_t stream, Recipe recipe, Copy copy, uint64_t rows, uint64_t cols, float* out) {
  constexpr char const* function = "device::dequantize";
  quantize_detail::check_source(function, recipe);
  quantize_detail::check_copies<quantize_detail::recipe_type<Recipe>>(function, out, "out", rows, cols, copy);
  if (rows == 0 || cols == 0) return;
  if constexpr (Copy::is_transposed) {
    unsigned const grid = quantize_detail::at_most_65536(quantize_detail::tile_place::count(rows, cols));
    dequantize_transposed_kernel<<<grid, quantize_block_threads, 0, stream>>>(recipe, copy, rows, cols, out);
  } else {
    dequantize_kernel<<<quantize_detail::run_grid(rows, cols), quantize_block_threads, 0, stream>>>(recipe, copy, rows,
                                                                                                    cols, out);
  }
  check_launch(function);
}

//! The row-wise copy in the plainest form: one code an element (or `e2m1x2`), linear scales, ragged blocks allowed.
template <quantize_detail::recipe_source Recipe, class T, class Code>
void quantize(cudaStream_t stream, Recipe recipe, T const* x, uint64_t rows, uint64_t cols, Code* codes,
              typename quantize_detail::recipe_type<Recipe>::scale* scales) {
  quantize(stream, recipe, x, rows, cols, row_wise(codes, scales, ~uint64_t(0), ragged));
}
template <quantize_detail::recipe_source Recipe, class Code>
void dequantize(cudaStream_t stream, Recipe recipe, Code const* codes,
                typename quantize_detail::recipe_type<Recipe>::scale const* scales, uint64_t rows, uint64_t cols,
                float* out) {
  dequantize(stream, recipe, row_wise(codes, scales, ~uint64_t(0), ragged), rows, cols, out);
}

} // namespace isobit::inline bits1::device
