// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An activation and the cast of its output to MXFP8 in one kernel: the numbers go from registers to codes, and are
// never stored in between. The codes are those of the same cast on a host.
#pragma once

#include <isobit/quantize.hpp>

using mxfp8_recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;

// max(gate, 0)^2 * up: a gated squared ReLU.
__host__ __device__ inline float activation(isobit::bf16 gate, isobit::bf16 up) {
  float const g = isobit::max(isobit::decode(gate), 0.0f);
  return isobit::mul(isobit::mul(g, g), isobit::decode(up));
}

// Eight lanes a block of 32 elements, four elements a lane; the last block of a row may be ragged.
__global__ void activate_and_cast(isobit::bf16 const* gate, isobit::bf16 const* up, std::size_t rows, std::size_t cols,
                                  isobit::e4m3* codes, isobit::e8m0* scales) {
  isobit::tile<8> const tile;
  std::size_t const per_row = isobit::blocks_per_row<mxfp8_recipe>(cols), tiles = blockDim.x / 8;
  for (std::size_t b = blockIdx.x * tiles + tile.tile_rank(); b < rows * per_row; b += gridDim.x * tiles) {
    std::size_t const column = b % per_row * 32, first = b / per_row * cols + column;
    auto const n = std::uint32_t(cols - column < 32 ? cols - column : 32);
    auto const load = [=](std::uint32_t i) { return activation(gate[first + i], up[first + i]); };
    auto const store = [=](std::uint32_t i, isobit::e4m3 code) { codes[first + i] = code; };
    isobit::e8m0 const scale = isobit::quantize_block(tile, mxfp8_recipe{}, n, load, store);
    if (tile.thread_rank() == 0) scales[b] = scale;
  }
}
