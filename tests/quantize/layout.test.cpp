// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scale layouts: outside positions, the inverse of every map, padding, sizes past 2^32.
#include <doctest/doctest.h>

#include <isobit/quantize.hpp>

#include <vector>

namespace {

using namespace isobit;
using scale_layout::linear;
using scale_layout::linear_transposed;
using scale_layout::place;
using scale_layout::tiles_128x4;
using scale_layout::tiles_8x4;

// Positions that cuBLAS, CUTLASS, Transformer Engine and torchao share.
static_assert(tiles_128x4::offset({0, 0}, 128, 4) == 0 && tiles_128x4::offset({1, 0}, 128, 4) == 16);
static_assert(tiles_128x4::offset({31, 0}, 128, 4) == 496 && tiles_128x4::offset({32, 0}, 128, 4) == 4);
static_assert(tiles_128x4::offset({33, 0}, 128, 4) == 20 && tiles_128x4::offset({64, 0}, 128, 4) == 8);
static_assert(tiles_128x4::offset({96, 0}, 128, 4) == 12 && tiles_128x4::offset({127, 3}, 128, 4) == 511);
static_assert(tiles_128x4::offset({128, 0}, 256, 4) == 512 && tiles_128x4::offset({5, 6}, 128, 9) == 594);
static_assert(tiles_128x4::size(1, 1) == 512 && tiles_128x4::size(129, 5) == 2048 && tiles_128x4::size(128, 4) == 512);
static_assert(tiles_128x4::size(0, 4) == 0 && tiles_8x4::size(9, 5) == 128);
static_assert(tiles_8x4::offset({9, 6}, 16, 9) == 3 * 32 + 32 + 1 * 4 + 2);
static_assert(linear::offset({3, 2}, 4, 5) == 17 && linear_transposed::offset({3, 2}, 4, 5) == 11);

// The same map as nested loops: tiles over tiles, then what a tile stores, in order.
template <class Layout> std::vector<place> in_order(uint64_t lines, uint64_t blocks, uint64_t tile_lines) {
  std::vector<place> all;
  uint64_t const run = tile_lines < 32 ? tile_lines : 32;
  for (uint64_t l = 0; l < Layout::padded_lines(lines); l += tile_lines)
    for (uint64_t b = 0; b < Layout::padded_blocks(blocks); b += 4)
      for (uint64_t i = 0; i < run; ++i)
        for (uint64_t stack = 0; stack < tile_lines; stack += run)
          for (uint64_t j = 0; j < 4; ++j) all.push_back({l + stack + i, b + j});
  return all;
}

template <class Layout> void inverse(uint64_t lines, uint64_t blocks) {
  CAPTURE(lines);
  CAPTURE(blocks);
  uint64_t const size = Layout::size(lines, blocks);
  std::vector<int> hits(size);
  for (uint64_t l = 0; l < Layout::padded_lines(lines); ++l)
    for (uint64_t b = 0; b < Layout::padded_blocks(blocks); ++b) {
      uint64_t const o = Layout::offset({l, b}, lines, blocks);
      REQUIRE(o < size);
      ++hits[o];
      CHECK(Layout::at(o, lines, blocks) == place{l, b});
    }
  for (int h : hits) CHECK(h == 1);

  // The padding is what no block of the matrix has.
  detail::scale_padding<Layout> const padding{lines, blocks};
  std::vector<int> padded(size);
  for (uint64_t i = 0; i < padding.count(); ++i) ++padded[padding.offset(i)];
  for (uint64_t o = 0; o < size; ++o) {
    place const p = Layout::at(o, lines, blocks);
    CHECK(padded[o] == (p.line >= lines || p.block >= blocks));
  }
}

TEST_CASE("maps and their inverses, padding") {
  for (uint64_t lines : {1, 7, 8, 9, 33, 127, 128, 129, 300})
    for (uint64_t blocks : {1, 3, 4, 5, 9}) {
      inverse<linear>(lines, blocks);
      inverse<linear_transposed>(lines, blocks);
      inverse<tiles_128x4>(lines, blocks);
      inverse<tiles_8x4>(lines, blocks);
    }
}

TEST_CASE("tiles hold their scales in the order of four nested loops") {
  auto const check = []<class Layout>(Layout, uint64_t lines, uint64_t blocks, uint64_t tile) {
    auto const all = in_order<Layout>(lines, blocks, tile);
    REQUIRE(all.size() == Layout::size(lines, blocks));
    for (uint64_t o = 0; o < all.size(); ++o) CHECK(Layout::at(o, lines, blocks) == all[o]);
  };
  check(tiles_128x4{}, 200, 9, 128);
  check(tiles_8x4{}, 20, 6, 8);
  // Negative control: not the other tile's order.
  CHECK_FALSE(tiles_128x4::at(4, 200, 9) == in_order<tiles_8x4>(200, 9, 8)[4]);
}

TEST_CASE("offsets past 2^32") {
  uint64_t const lines = uint64_t(1) << 33, blocks = 7;
  for (uint64_t l : {lines - 1, lines / 2 + 77, lines / 2 - 3}) {
    place const p{l, 6};
    CHECK(tiles_128x4::at(tiles_128x4::offset(p, lines, blocks), lines, blocks) == p);
    CHECK(tiles_8x4::at(tiles_8x4::offset(p, lines, blocks), lines, blocks) == p);
    CHECK(tiles_128x4::offset(p, lines, blocks) == (l / 128 * 2 + 1) * 512 + l % 32 * 16 + l % 128 / 32 * 4 + 2);
    CHECK(linear::offset(p, lines, blocks) == l * 7 + 6);
  }
}

} // namespace
