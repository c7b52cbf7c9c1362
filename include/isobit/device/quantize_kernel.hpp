// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::quantize` and `device::dequantize` for copies whose blocks run along the rows. The same
//! source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/device/quantize_run.hpp>

namespace isobit::inline bits1::device {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int quantize_block_threads = 256;

namespace quantize_detail {

// Where a thread finds its work: lines of blocks.
struct row_blocks {
  uint64_t cols, per_row, total;

  // The line and the number within the line of block `b`.
  ISOBIT_HD uint64_t row(uint64_t b, uint64_t& block) const {
    // One 32-bit division where it suffices.
    uint64_t const row = (total >> 32) == 0 ? uint32_t(b) / uint32_t(per_row) : b / per_row;
    block = b - row * per_row;
    return row;
  }
};

// The row-wise copy of a matrix whose element (0, 0) is number `first`, by `blocks` thread blocks.
template <class Recipe, class Rounding, class T, class Copy>
ISOBIT_HD void quantize_rows(Recipe const& recipe, Rounding rounding, T const* x, uint64_t rows, uint64_t cols,
                             uint64_t first, Copy const& copy, uint64_t block, uint64_t blocks) {
  constexpr uint32_t size = Recipe::block_size;
  using element = typename Recipe::element;
  lanes_of<Recipe> const team;
  uint64_t const per_row = blocks_per_row<Recipe>(cols);
  row_blocks const work{cols, per_row, rows * per_row};
  auto const random = rounding_of<Copy>(rounding);
  if (team.mine < team.teams) {
    for (uint64_t b = block * team.teams + team.mine; b < work.total; b += blocks * team.teams) {
      uint64_t k;
      uint64_t const r = work.row(b, k), c = k * size;
      uint32_t const present = cols - c < size ? static_cast<uint32_t>(cols - c) : size;
      auto const load = [&](uint32_t lane, float(&values)[run]) {
        load_run(x + r * cols + c + lane * run, lane_share(present, lane), values);
      };
      auto const store = [&](uint32_t lane, float const(&values)[run], typename Recipe::scale scale) {
        element codes[run];
        encode_run<true>(encoder_of(recipe, scale), random, first + r * cols + c + lane * run, 1, values, codes);
        uint32_t const n = lane_share(present, lane);
        if (n != 0) store_run(copy.codes_at(r, c + lane * run, rows, cols), n, codes);
      };
      bool speaks;
      auto const scale = quantize_by_lanes(recipe, team.alone, speaks, load, store);
      if (speaks) copy.scales[Copy::layout::offset({r, k}, rows, per_row)] = scale;
    }
  }
  zero_padding<Recipe>(copy, rows, cols, block, blocks);
}

} // namespace quantize_detail
} // namespace isobit::inline bits1::device

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! The row-wise copy of `rows` rows of `cols` elements, one after another at `x`. Any grid, any block shape; two
//! neighbouring lanes share an MX block, one takes a block of NVFP4. `recipe`: a recipe or a `recipe_from_amax`; `rounding`:
//! `detail::to_nearest` or `stochastic`.
template <class Recipe, class Rounding, class T, class Copy>
ISOBIT_KERNEL void quantize_kernel(Recipe recipe, Rounding rounding, T const* x, uint64_t rows, uint64_t cols,
                                   Copy copy) {
  quantize_detail::quantize_rows(quantize_detail::recipe_of(recipe), rounding, x, rows, cols, 0, copy,
                                 machine::block_rank(), machine::grid_blocks());
}

//! The same for a matrix whose rows [offsets[g], offsets[g + 1]) are group g; each group has the thread blocks of one or
//! more values of blockIdx.y. `offsets` is in device memory.
template <class Recipe, class Rounding, class T, class Copy>
ISOBIT_KERNEL void quantize_groups_kernel(Recipe from, Rounding rounding, T const* x, uint64_t const* offsets,
                                          uint64_t groups, uint64_t cols, Copy copy) {
  using recipe_type = quantize_detail::recipe_type<Recipe>;
  recipe_type const recipe = quantize_detail::recipe_of(from);
  isobit::detail::group_position<Copy> at{};
  uint32_t turn = 0; // whose group it is, of the values of blockIdx.y
  for (uint64_t g = 0; g < groups; ++g, turn = turn + 1 < machine::grid_extent().y ? turn + 1 : 0) {
    uint64_t const before = offsets[g] * cols, rows = offsets[g + 1] - offsets[g];
    if (turn == machine::block_index().y && rows != 0)
      quantize_detail::quantize_rows(recipe, rounding, x + before, rows, cols, before,
                                     isobit::detail::part_of(copy, at), machine::block_index().x,
                                     machine::grid_extent().x);
    if (rows != 0) at.template skip<recipe_type>(rows, cols);
  }
}

//! Writes the number that each code of a copy means with its block's scale, `rows` x `cols`. Any grid, any block shape.
//! Not for transposed codes.
template <class Recipe, class Copy>
ISOBIT_KERNEL void dequantize_kernel(Recipe from, Copy copy, uint64_t rows, uint64_t cols, float* out) {
  static_assert(!Copy::is_transposed);
  using namespace quantize_detail;
  using recipe_type = quantize_detail::recipe_type<Recipe>;
  recipe_type const recipe = recipe_of(from);
  constexpr uint32_t size = recipe_type::block_size;
  uint64_t const per_row = cols / run + (cols % run != 0);
  uint64_t const lines = Copy::lines(rows, cols), per_line = blocks_per_row<recipe_type>(Copy::length(rows, cols));
  row_blocks const work{cols, per_row, rows * per_row};
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t t = machine::block_rank() * machine::block_threads() + machine::thread_rank(); t < work.total;
       t += step) {
    uint64_t k;
    uint64_t const r = work.row(t, k), c = k * run;
    uint32_t const n = cols - c < run ? static_cast<uint32_t>(cols - c) : run;
    typename recipe_type::element codes[run];
    load_codes(copy.codes_at(r, c, rows, cols), n, codes);
    auto const scale_at = [&](uint32_t j) {
      scale_layout::place const p =
          Copy::along_rows ? scale_layout::place{r, c / size} : scale_layout::place{c + j, r / size};
      return copy.scales[Copy::layout::offset(p, lines, per_line)];
    };
    float values[run];
    auto const one = scale_at(0);
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j)
      values[j] = recipe.value_of(codes[j], Copy::along_rows || j >= n ? one : scale_at(j));
    store_floats(out + r * cols + c, n, values);
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
