// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Where the scale of a block lies: index maps from (line, block of the line) to an offset, with their inverses. A line is
//! a row of a matrix whose blocks run along the rows, or a column where they run along the columns.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {
namespace scale_layout {

//! A scale's position: block `block` of line `line`.
struct place {
  uint64_t line, block;
  ISOBIT_HD friend constexpr bool operator==(place const&, place const&) = default;
};

//! Line after line, without padding.
struct linear {
  //! How many scales `lines` lines of `blocks` blocks take, padding included.
  ISOBIT_HD static constexpr uint64_t size(uint64_t lines, uint64_t blocks) { return lines * blocks; }
  ISOBIT_HD static constexpr uint64_t padded_lines(uint64_t lines) { return lines; }
  ISOBIT_HD static constexpr uint64_t padded_blocks(uint64_t blocks) { return blocks; }
  //! Where the scale of `p` lies; `p` may be in the padding.
  ISOBIT_HD static constexpr uint64_t offset(place p, [[maybe_unused]] uint64_t lines, uint64_t blocks) {
    return p.line * blocks + p.block;
  }
  //! The inverse of `offset`.
  ISOBIT_HD static constexpr place at(uint64_t offset, [[maybe_unused]] uint64_t lines, uint64_t blocks) {
    return {offset / blocks, offset % blocks};
  }
};

//! The first blocks of all lines, then the second ones, without padding: Transformer Engine's scales of a column-wise
//! MXFP8 copy.
struct linear_transposed {
  ISOBIT_HD static constexpr uint64_t size(uint64_t lines, uint64_t blocks) { return lines * blocks; }
  ISOBIT_HD static constexpr uint64_t padded_lines(uint64_t lines) { return lines; }
  ISOBIT_HD static constexpr uint64_t padded_blocks(uint64_t blocks) { return blocks; }
  ISOBIT_HD static constexpr uint64_t offset(place p, uint64_t lines, [[maybe_unused]] uint64_t blocks) {
    return p.block * lines + p.line;
  }
  ISOBIT_HD static constexpr place at(uint64_t offset, uint64_t lines, [[maybe_unused]] uint64_t blocks) {
    return {offset % lines, offset / lines};
  }
};

//! Tiles of `Lines` x 4 scales, one after another along the lines; both counts are padded to whole tiles, and the
//! quantisers write zeros there. In a tile, lines 32 apart are neighbours: (line % 32) * 16 + line / 32 * 4 + block for
//! 128 lines, line * 4 + block for 8.
template <int Lines> struct tiles {
  static_assert(Lines == 128 || Lines == 8, "isobit: tiles of scales have 128 or 8 lines");
  static constexpr uint64_t run = Lines < 32 ? Lines : 32, stacked = Lines / run;

  ISOBIT_HD static constexpr uint64_t padded_lines(uint64_t lines) {
    return (lines / Lines + (lines % Lines != 0)) * Lines;
  }
  ISOBIT_HD static constexpr uint64_t padded_blocks(uint64_t blocks) { return (blocks / 4 + (blocks % 4 != 0)) * 4; }
  ISOBIT_HD static constexpr uint64_t size(uint64_t lines, uint64_t blocks) {
    return padded_lines(lines) * padded_blocks(blocks);
  }
  ISOBIT_HD static constexpr uint64_t offset(place p, [[maybe_unused]] uint64_t lines, uint64_t blocks) {
    uint64_t const inside = p.line % run * (4 * stacked) + p.line % Lines / run * 4 + p.block % 4;
    return p.line / Lines * Lines * padded_blocks(blocks) + p.block / 4 * (4 * Lines) + inside;
  }
  ISOBIT_HD static constexpr place at(uint64_t offset, [[maybe_unused]] uint64_t lines, uint64_t blocks) {
    uint64_t const across = padded_blocks(blocks) / 4, tile = offset / (4 * Lines), inside = offset % (4 * Lines);
    return {tile / across * Lines + inside / 4 % stacked * run + inside / (4 * stacked),
            tile % across * 4 + inside % 4};
  }
};

//! The layout of cuBLAS, cuDNN, CUTLASS, Transformer Engine, torchao (`to_blocked`), FlashInfer and vLLM.
using tiles_128x4 = tiles<128>;
//! FlashInfer's layout for few rows.
using tiles_8x4 = tiles<8>;

} // namespace scale_layout

namespace detail {

// The positions of a layout's padding: first whole lines, then the blocks behind the last one of each line.
template <class Layout> struct scale_padding {
  uint64_t lines, blocks;

  ISOBIT_HD constexpr uint64_t across() const { return Layout::padded_blocks(blocks); }
  ISOBIT_HD constexpr uint64_t below() const { return (Layout::padded_lines(lines) - lines) * across(); }
  ISOBIT_HD constexpr uint64_t count() const { return below() + lines * (across() - blocks); }
  ISOBIT_HD constexpr uint64_t offset(uint64_t i) const {
    scale_layout::place p{};
    if (i < below()) {
      uint64_t const down = i / across();
      p = {lines + down, i - down * across()};
    } else {
      uint64_t const beside = across() - blocks, k = i - below(), line = k / beside;
      p = {line, blocks + (k - line * beside)};
    }
    return Layout::offset(p, lines, blocks);
  }
};

} // namespace detail
} // namespace isobit::inline bits1
