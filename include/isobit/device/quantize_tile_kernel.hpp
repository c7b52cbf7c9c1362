// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels for copies whose blocks run along the columns, for both directions in one pass, for squares that share a
//! scale, and back from transposed codes: tiles of 64 x 64 elements go through shared memory.
#pragma once

#include <isobit/device/quantize_kernel.hpp>

namespace isobit::inline bits1::device {
namespace quantize_detail {

inline constexpr uint32_t tile_side = 64;

// A tile in shared memory. The odd width spreads a column over the banks.
struct tile_memory {
  float value[tile_side][tile_side + 1];
  uint8_t code[tile_side][tile_side];        // of a column-wise copy, on their way into rows
  uint32_t amax[tile_side][tile_side / run]; // of squares
};

// Where a tile lies in its matrix, and how much of it exists.
struct tile_place {
  uint64_t top, left;
  uint32_t n, m; // rows, columns

  ISOBIT_HD tile_place(uint64_t t, uint64_t rows, uint64_t cols) {
    uint64_t const across = cols / tile_side + (cols % tile_side != 0);
    uint64_t const down = (t >> 32) == 0 && (across >> 32) == 0 ? uint32_t(t) / uint32_t(across) : t / across;
    top = down * tile_side;
    left = (t - down * across) * tile_side;
    n = rows - top < tile_side ? static_cast<uint32_t>(rows - top) : tile_side;
    m = cols - left < tile_side ? static_cast<uint32_t>(cols - left) : tile_side;
  }
  ISOBIT_HD static uint64_t count(uint64_t rows, uint64_t cols) {
    return (rows / tile_side + (rows % tile_side != 0)) * (cols / tile_side + (cols % tile_side != 0));
  }
};

// What all steps of a tile need.
template <class Recipe, class Rounding> struct tile_work {
  static constexpr uint32_t size = Recipe::block_size;
  static constexpr uint32_t across = tile_side / size; // blocks of a line of the tile
  using element = typename Recipe::element;
  using scale = typename Recipe::scale;

  Recipe const& recipe;
  Rounding rounding;
  tile_memory& memory;
  lanes_of<Recipe> team;
  tile_place at;
  uint64_t rows, cols, first;

  // f(line, block of the line, how many elements it has) for the team's share of the tile's blocks.
  template <bool AlongRows, class F> ISOBIT_HD void for_blocks(F const& f) const {
    uint32_t const lines = AlongRows ? at.n : at.m, length = AlongRows ? at.m : at.n;
    if (team.mine >= team.teams) return;
    for (uint32_t i = team.mine; i < tile_side * across; i += team.teams) {
      uint32_t const line = i / across, k = i % across;
      if (line >= lines || k * size >= length) continue;
      f(line, k, length - k * size < size ? length - k * size : size);
    }
  }

  // The codes of 16 elements of line `line`, from `i` on, to a copy.
  template <class Copy>
  ISOBIT_HD void put(Copy const& copy, uint32_t line, uint32_t i, uint32_t n, float const (&values)[run],
                     scale s) const {
    auto const random = rounding_of<Copy>(rounding);
    uint64_t const r = at.top + (Copy::along_rows ? line : i), c = at.left + (Copy::along_rows ? i : line);
    element codes[run];
    encode_run<Copy::along_rows>(encoder_of(recipe, s), random, first + r * cols + c, cols, values, codes);
    if constexpr (Copy::along_rows || Copy::is_transposed) {
      if (n != 0) store_run(copy.codes_at(r, c, rows, cols), n, codes);
    } else {
      ISOBIT_UNROLL
      for (uint32_t j = 0; j < run; ++j) memory.code[i + j][line] = codes[j].bits;
    }
  }
  template <class Copy> ISOBIT_HD void put_scale(Copy const& copy, uint32_t line, uint32_t k, scale s) const {
    uint64_t const first_line = Copy::along_rows ? at.top : at.left, start = Copy::along_rows ? at.left : at.top;
    copy.scales[Copy::layout::offset({first_line + line, start / size + k}, Copy::lines(rows, cols),
                                     blocks_per_row<Recipe>(Copy::length(rows, cols)))] = s;
  }

  // 16 elements of a line, from shared memory.
  template <bool AlongRows> ISOBIT_HD void get(uint32_t line, uint32_t i, uint32_t n, float (&values)[run]) const {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) {
      float const v = AlongRows ? memory.value[line][i + j] : memory.value[i + j][line];
      values[j] = j < n ? v : 0.0f;
    }
  }

  // Reads the tile into shared memory; f(row, block of the row, lane, values) for what a lane has read.
  template <class T>
  ISOBIT_HD void read(T const* x, uint32_t line, uint32_t i, uint32_t n, float (&values)[run]) const {
    load_run(x + (at.top + line) * cols + at.left + i, n, values);
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) memory.value[line][i + j] = values[j];
  }

  // The row-wise copy of what is read, and the tile in shared memory for the others.
  template <class T, class Copy> ISOBIT_HD void rows_pass(T const* x, Copy const& copy) const {
    for_blocks<true>([&](uint32_t line, uint32_t k, uint32_t present) {
      bool speaks;
      auto const s = quantize_by_lanes(
          recipe, team.alone, speaks,
          [&](uint32_t lane, float(&values)[run]) {
            read(x, line, k * size + lane * run, lane_share(present, lane), values);
          },
          [&](uint32_t lane, float const(&values)[run], scale v) {
            put(copy, line, k * size + lane * run, lane_share(present, lane), values, v);
          });
      if (speaks) put_scale(copy, line, k, s);
    });
  }
  template <class Copy> ISOBIT_HD void columns_pass(Copy const& copy) const {
    for_blocks<false>([&](uint32_t line, uint32_t k, uint32_t present) {
      bool speaks;
      auto const s = quantize_by_lanes(
          recipe, team.alone, speaks,
          [&](uint32_t lane, float(&values)[run]) {
            get<false>(line, k * size + lane * run, lane_share(present, lane), values);
          },
          [&](uint32_t lane, float const(&values)[run], scale v) {
            put(copy, line, k * size + lane * run, lane_share(present, lane), values, v);
          });
      if (speaks) put_scale(copy, line, k, s);
    });
  }

  // f(row, column of the tile, how many elements exist) for every 16 elements of a row, shared out to the threads.
  template <class F> ISOBIT_HD void for_runs(F const& f) const {
    constexpr uint32_t per_row = tile_side / run;
    for (uint32_t i = machine::thread_rank(); i < tile_side * per_row; i += machine::block_threads()) {
      uint32_t const row = i / per_row, c = i % per_row * run;
      if (row < at.n && c < at.m) f(row, c, at.m - c < run ? at.m - c : run);
    }
  }
  // The codes that the column-wise pass left in shared memory.
  template <class Copy> ISOBIT_HD void put_rows(Copy const& copy) const {
    for_runs([&](uint32_t row, uint32_t c, uint32_t n) {
      element codes[run];
      ISOBIT_UNROLL
      for (uint32_t j = 0; j < run; ++j) codes[j] = element{memory.code[row][c + j]};
      store_run(copy.codes_at(at.top + row, at.left + c, rows, cols), n, codes);
    });
  }

  // Squares: the largest magnitude of each, in amax[0 ...], after a barrier; then both copies from shared memory.
  template <class T> ISOBIT_HD void squares_amax(T const* x) const {
    for_runs([&](uint32_t row, uint32_t c, uint32_t n) {
      float values[run];
      read(x, row, c, n, values);
      memory.amax[row][c / run] = block_amax<Recipe>(thread{}, values);
    });
    machine::sync_block();
    uint32_t const square = machine::thread_rank();
    for (uint32_t q = square; q < across * across; q += machine::block_threads()) {
      uint32_t const down = q / across, right = q % across;
      uint32_t most = 0;
      for (uint32_t r = down * size; r < (down + 1) * size && r < at.n; ++r)
        for (uint32_t i = 0; i < size / run; ++i) {
          if (right * size + i * run >= at.m) continue;
          uint32_t const m = memory.amax[r][right * (size / run) + i];
          most = most < m ? m : most;
        }
      // Row 0 of a square is read only by the thread that works on the square: its place can hold the result.
      memory.amax[down * size][right * (size / run)] = most;
    }
    machine::sync_block();
  }
  template <class Copy> ISOBIT_HD void square_pass(Copy const& copy) const {
    constexpr uint32_t lanes = lanes_of<Recipe>::lanes;
    for_blocks<Copy::along_rows>([&](uint32_t line, uint32_t k, uint32_t present) {
      uint32_t const down = Copy::along_rows ? line / size : k, right = Copy::along_rows ? k : line / size;
      scale const s = recipe.scale_of(memory.amax[down * size][right * (size / run)]);
      uint32_t const mine = team.alone ? 0 : machine::thread_rank() % lanes;
      for (uint32_t lane = mine; lane < (team.alone ? lanes : mine + 1); ++lane) {
        float values[run];
        uint32_t const n = lane_share(present, lane);
        get<Copy::along_rows>(line, k * size + lane * run, n, values);
        put(copy, line, k * size + lane * run, n, values, s);
      }
      if (mine == 0) put_scale(copy, line, k, s);
    });
  }

  template <bool Square, class T, class Copy> ISOBIT_HD void row_copy(T const* x, Copy const& copy) const {
    if constexpr (Copy::along_rows) {
      if constexpr (Square)
        square_pass(copy);
      else
        rows_pass(x, copy);
    }
  }
  template <bool Square, class Copy> ISOBIT_HD void column_copy(Copy const& copy) const {
    if constexpr (!Copy::along_rows) {
      if constexpr (Square)
        square_pass(copy);
      else
        columns_pass(copy);
      if constexpr (!Copy::is_transposed) {
        machine::sync_block();
        put_rows(copy);
      }
    }
  }
};

template <bool Square, class Recipe, class Rounding, class T, class... Copies>
ISOBIT_HD void quantize_tiles(Recipe const& recipe, Rounding rounding, tile_memory& memory, T const* x, uint64_t rows,
                              uint64_t cols, uint64_t first, uint64_t block, uint64_t blocks, Copies const&... copies) {
  constexpr bool reads = !(Copies::along_rows || ...); // no pass reads the tile by itself
  for (uint64_t t = block; t < tile_place::count(rows, cols); t += blocks) {
    tile_work<Recipe, Rounding> const work{recipe, rounding, memory, {}, {t, rows, cols}, rows, cols, first};
    if constexpr (Square)
      work.squares_amax(x);
    else if constexpr (reads)
      work.for_runs([&](uint32_t row, uint32_t c, uint32_t n) {
        float values[run];
        work.read(x, row, c, n, values);
      });
    (work.template row_copy<Square>(x, copies), ...);
    if constexpr (!Square) machine::sync_block();
    (work.template column_copy<Square>(copies), ...);
    machine::sync_block();
  }
  (zero_padding<Recipe>(copies, rows, cols, block, blocks), ...);
}

} // namespace quantize_detail
} // namespace isobit::inline bits1::device

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! One copy of a matrix or, in one pass over it, a row-wise and a column-wise one. `Square`: blocks of Recipe::block_size rows
//! and columns share a scale. Any grid, any block shape. Otherwise as `quantize_kernel`.
template <bool Square, class Recipe, class Rounding, class T, class... Copies>
ISOBIT_KERNEL void quantize_tiles_kernel(Recipe recipe, Rounding rounding, T const* x, uint64_t rows, uint64_t cols,
                                         Copies... copies) {
  ISOBIT_SHARED quantize_detail::tile_memory memory;
  machine::shared_memory(&memory, sizeof memory);
  quantize_detail::quantize_tiles<Square>(quantize_detail::recipe_of(recipe), rounding, memory, x, rows, cols, 0,
                                          machine::block_rank(), machine::grid_blocks(), copies...);
}

//! The same for a matrix whose rows [offsets[g], offsets[g + 1]) are group g; each group has the thread blocks of one or
//! more values of blockIdx.y. `offsets` is in device memory.
template <class Recipe, class Rounding, class T, class... Copies>
ISOBIT_KERNEL void quantize_group_tiles_kernel(Recipe from, Rounding rounding, T const* x, uint64_t const* offsets,
                                               uint64_t groups, uint64_t cols, Copies... copies) {
  ISOBIT_SHARED quantize_detail::tile_memory memory;
  machine::shared_memory(&memory, sizeof memory);
  using recipe_type = quantize_detail::recipe_type<Recipe>;
  recipe_type const recipe = quantize_detail::recipe_of(from);
  auto const each = [&](auto... at) {
    uint32_t turn = 0; // whose group it is, of the values of blockIdx.y
    for (uint64_t g = 0; g < groups; ++g, turn = turn + 1 < machine::grid_extent().y ? turn + 1 : 0) {
      uint64_t const before = offsets[g] * cols, rows = offsets[g + 1] - offsets[g];
      if (turn == machine::block_index().y && rows != 0)
        quantize_detail::quantize_tiles<false>(recipe, rounding, memory, x + before, rows, cols, before,
                                               machine::block_index().x, machine::grid_extent().x,
                                               isobit::detail::part_of(copies, at)...);
      if (rows != 0) (at.template skip<recipe_type>(rows, cols), ...);
    }
  };
  each(isobit::detail::group_position<Copies>{}...);
}

//! `dequantize_kernel` for transposed codes.
template <class Recipe, class Copy>
ISOBIT_KERNEL void dequantize_transposed_kernel(Recipe from, Copy copy, uint64_t rows, uint64_t cols, float* out) {
  static_assert(Copy::is_transposed);
  using namespace quantize_detail;
  ISOBIT_SHARED tile_memory memory;
  machine::shared_memory(&memory, sizeof memory);
  using recipe_type = quantize_detail::recipe_type<Recipe>;
  recipe_type const recipe = recipe_of(from);
  constexpr uint32_t size = recipe_type::block_size, per_line = tile_side / run;
  for (uint64_t t = machine::block_rank(); t < tile_place::count(rows, cols); t += machine::grid_blocks()) {
    tile_work<recipe_type, to_nearest> const work{recipe, {}, memory, {}, {t, rows, cols}, rows, cols, 0};
    for (uint32_t i = machine::thread_rank(); i < tile_side * per_line; i += machine::block_threads()) {
      uint32_t const c = i / per_line, r = i % per_line * run;
      if (c >= work.at.m || r >= work.at.n) continue;
      typename recipe_type::element codes[run];
      uint64_t const row = work.at.top + r, column = work.at.left + c;
      load_codes(copy.codes_at(row, column, rows, cols), work.at.n - r < run ? work.at.n - r : run, codes);
      auto const scale =
          copy.scales[Copy::layout::offset({column, row / size}, cols, blocks_per_row<recipe_type>(rows))];
      ISOBIT_UNROLL
      for (uint32_t j = 0; j < run; ++j) memory.value[r + j][c] = recipe.value_of(codes[j], scale);
    }
    machine::sync_block();
    work.for_runs([&](uint32_t row, uint32_t c, uint32_t n) {
      float values[run];
      work.template get<true>(row, c, n, values);
      store_floats(out + (work.at.top + row) * cols + work.at.left + c, n, values);
    });
    machine::sync_block();
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
