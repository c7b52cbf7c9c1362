// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::quantize` and `device::dequantize`. The same source runs on a GPU and, through
//! `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/load.hpp>
#include <isobit/algo/quantize.hpp>

namespace isobit::inline bits1::device {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int quantize_block_threads = 256;

namespace detail {

// Up to 8 bytes of codes, written by one instruction.
template <class Element, int K> struct alignas(K <= 8 ? K : 8) code_pack { Element code[K]; };

// Where a thread finds its work: rows of blocks, or one long row when every block is whole.
struct row_blocks {
  uint64_t cols, per_row, total;

  // The first element of block `b` and how many elements it has.
  ISOBIT_HD uint64_t first(uint64_t b, uint32_t block_size, uint32_t& present) const {
    if (cols % block_size == 0) {
      present = block_size;
      return b * block_size;
    }
    // One 32-bit division where it suffices.
    uint64_t const row = (total >> 32) == 0 ? uint32_t(b) / uint32_t(per_row) : b / per_row;
    uint64_t const start = (b - row * per_row) * block_size;
    present = cols - start < block_size ? static_cast<uint32_t>(cols - start) : block_size;
    return row * cols + start;
  }
};

// The codes and scale of block `b` by the members of `group`, each with its equal share of neighbouring elements.
template <class Recipe, class Group, class T>
ISOBIT_HD void quantize_one(Group group, T const* x, row_blocks const& rows, uint64_t b, bool aligned,
                            typename Recipe::element* codes, typename Recipe::scale* scales) {
  constexpr int share = static_cast<int>(Recipe::block_size / Group::size());
  constexpr int width = aligned_vectors<T>::width;
  constexpr bool vectors = share % width == 0 && share <= 8;
  using pack = code_pack<typename Recipe::element, vectors ? share : 1>;

  uint32_t present;
  uint64_t const first = rows.first(b, Recipe::block_size, present);
  typename Recipe::scale scale;
  if (vectors && aligned && present == Recipe::block_size) {
    float values[share];
    uint64_t const mine = first + group.thread_rank() * share;
    if constexpr (vectors) {
      ISOBIT_UNROLL
      for (int j = 0; j < share; j += width) aligned_vectors<T>{x}.get(mine + j, values + j);
      pack out;
      scale = quantize_block(group, Recipe{}, values, out.code);
      *reinterpret_cast<pack*>(codes + mine) = out;
    }
  } else {
    scale = quantize_block(
        group, Recipe{}, present, [=](uint32_t i) { return x[first + i]; },
        [=](uint32_t i, typename Recipe::element code) { codes[first + i] = code; });
  }
  if (group.thread_rank() == 0) scales[b] = scale;
}

// The same by one thread that reads the block twice and keeps none of it: for thread blocks narrower than a tile.
template <class Recipe, class T>
ISOBIT_HD void quantize_alone(T const* x, row_blocks const& rows, uint64_t b, typename Recipe::element* codes,
                              typename Recipe::scale* scales) {
  uint32_t present;
  uint64_t const first = rows.first(b, Recipe::block_size, present);
  uint32_t amax = 0;
  for (uint32_t i = 0; i < present; ++i) {
    uint32_t const m = Recipe::magnitude(decode_element(x[first + i]));
    amax = amax < m ? m : amax;
  }
  auto const scale = Recipe::scale_of(amax);
  for (uint32_t i = 0; i < present; ++i) codes[first + i] = Recipe::code_of(decode_element(x[first + i]), scale);
  scales[b] = scale;
}

} // namespace detail
} // namespace isobit::inline bits1::device

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Quantises `rows` rows of `cols` elements, one after another at `x`, in blocks along each row. Any grid, any block
//! shape; the four lanes of a `tile<4>` share a block of elements. Layout of the outputs: as for `device::quantize`.
template <class Recipe, class T>
ISOBIT_KERNEL void quantize_kernel(T const* x, uint64_t rows, uint64_t cols, typename Recipe::element* codes,
                                   typename Recipe::scale* scales) {
  constexpr int lanes = 4;
  uint64_t const per_row = blocks_per_row<Recipe>(cols);
  detail::row_blocks const work{cols, per_row, rows * per_row};
  bool const aligned = reinterpret_cast<stl::uintptr_t>(x) % 16 == 0 && (cols * sizeof(T)) % 16 == 0 &&
                       reinterpret_cast<stl::uintptr_t>(codes) % 8 == 0 && cols % 8 == 0;

  uint32_t const tiles = machine::block_threads() / lanes;
  uint32_t const mine = machine::thread_rank() / lanes;
  if (tiles == 0) {
    uint64_t const step = machine::grid_blocks() * machine::block_threads();
    for (uint64_t b = machine::block_rank() * machine::block_threads() + machine::thread_rank(); b < work.total;
         b += step)
      detail::quantize_alone<Recipe>(x, work, b, codes, scales);
  } else if (mine < tiles) {
    uint64_t const step = machine::grid_blocks() * tiles;
    for (uint64_t b = machine::block_rank() * tiles + mine; b < work.total; b += step)
      detail::quantize_one<Recipe>(tile<lanes>{}, x, work, b, aligned, codes, scales);
  }
}

//! Writes the number that each code means with its block's scale. Any grid, any block shape.
template <class Recipe>
ISOBIT_KERNEL void dequantize_kernel(typename Recipe::element const* codes, typename Recipe::scale const* scales,
                                     uint64_t rows, uint64_t cols, float* out) {
  constexpr uint32_t share = 8;
  constexpr uint32_t shares = Recipe::block_size / share;
  uint64_t const per_row = blocks_per_row<Recipe>(cols);
  detail::row_blocks const work{cols, per_row, rows * per_row};
  using pack = detail::code_pack<typename Recipe::element, share>;
  struct alignas(16) four {
    float value[4];
  };
  bool const aligned = reinterpret_cast<stl::uintptr_t>(out) % 16 == 0 && cols % 8 == 0 &&
                       reinterpret_cast<stl::uintptr_t>(codes) % 8 == 0;

  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t t = machine::block_rank() * machine::block_threads() + machine::thread_rank(); t / shares < work.total;
       t += step) {
    uint64_t const b = t / shares;
    uint32_t const from = static_cast<uint32_t>(t % shares) * share;
    uint32_t present;
    uint64_t const first = work.first(b, Recipe::block_size, present) + from;
    auto const scale = scales[b];
    if (aligned && from + share <= present) {
      pack const in = *reinterpret_cast<pack const*>(codes + first);
      ISOBIT_UNROLL
      for (uint32_t j = 0; j < share; j += 4) {
        four values;
        for (uint32_t i = 0; i < 4; ++i) values.value[i] = Recipe::value_of(in.code[j + i], scale);
        *reinterpret_cast<four*>(out + first + j) = values;
      }
    } else {
      for (uint32_t j = 0; j < share && from + j < present; ++j)
        out[first + j] = Recipe::value_of(codes[first + j], scale);
    }
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
