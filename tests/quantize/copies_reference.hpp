// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a copy of a matrix must be, made from the row-wise form of `quantize` on the matrix or its transpose, element by element.
#pragma once

#include "../algo/quantize_reference.hpp"

namespace copies_reference {
using namespace quantize_reference;
using scale_layout::linear;
using scale_layout::linear_transposed;
using scale_layout::tiles_128x4;
using scale_layout::tiles_8x4;

template <class T> std::vector<T> transpose(std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  std::vector<T> t(x.size());
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) t[c * rows + r] = x[r * cols + c];
  return t;
}

// The bytes of a copy.
struct bytes {
  std::vector<uint8_t> codes, scales;
  bool operator==(bytes const&) const = default;
};

// One code an element and linear scales, into the order and layout of `Copy`.
template <class Copy, class E, class S>
bytes arranged(std::vector<E> const& codes, std::vector<S> const& scales, uint64_t rows, uint64_t cols,
               uint32_t block) {
  uint64_t const lines = Copy::lines(rows, cols), length = Copy::length(rows, cols),
                 blocks = (length + block - 1) / block;
  bytes out;
  out.scales.resize(rows * cols == 0 ? 0 : Copy::layout::size(lines, blocks));
  for (uint64_t l = 0; l < lines && length > 0; ++l)
    for (uint64_t b = 0; b < blocks; ++b)
      out.scales[Copy::layout::offset({l, b}, lines, blocks)] = scales[l * blocks + b].bits;
  // `codes` is in the order of the lines.
  bool const as_lines = Copy::along_rows || Copy::is_transposed;
  uint64_t const n = as_lines ? lines : length, m = as_lines ? length : lines;
  uint64_t const pitch = Copy::is_packed ? (m + 1) / 2 : m;
  out.codes.resize(n * pitch);
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t k = 0; k < m; ++k) {
      uint8_t const code = (as_lines ? codes[i * m + k] : codes[k * n + i]).bits;
      if (Copy::is_packed)
        out.codes[i * pitch + k / 2] = static_cast<uint8_t>(out.codes[i * pitch + k / 2] | code << (k % 2 * 4));
      else
        out.codes[i * pitch + k] = code;
    }
  return out;
}

// A copy in memory of its own, with guards on both sides.
template <class Copy> struct storage {
  using code = std::remove_const_t<typename Copy::code>;
  using scale = std::remove_const_t<typename Copy::scale>;
  guarded<code> codes;
  guarded<scale> scales;
  uint64_t size;
  storage(uint64_t codes_size, uint64_t scales_size, uint8_t fill)
      : codes(codes_size, fill), scales(scales_size, fill), size(scales_size) {}
  Copy copy(bool may_be_ragged = true) { return {codes.data(), scales.data(), size, may_be_ragged}; }
  bytes values() {
    bytes b;
    for (auto c : codes.values()) b.codes.push_back(c.bits);
    for (auto s : scales.values()) b.scales.push_back(s.bits);
    return b;
  }
  bool guards_untouched() const { return codes.guards_untouched() && scales.guards_untouched(); }
  bool untouched() const { return codes.untouched() && scales.untouched(); }
};

template <class Copy, class Recipe> storage<Copy> room(uint64_t rows, uint64_t cols, uint8_t fill) {
  bool const none = rows == 0 || cols == 0;
  return {none ? 0 : Copy::codes_size(rows, cols),
          none ? 0 : scales_size<Recipe, Copy::along, typename Copy::layout>(rows, cols), fill};
}

template <orientation O, class Layout, class Recipe, bool Packed = false>
using copy_in =
    quantized_copy<O, Layout, std::conditional_t<Packed, e2m1x2, typename Recipe::element>, typename Recipe::scale>;

// The copy by the row-wise form on the matrix or its transpose.
template <class Copy, class Recipe, class T>
bytes expected(Recipe recipe, std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  auto const in = Copy::along_rows ? x : transpose(x, rows, cols);
  uint64_t const lines = Copy::lines(rows, cols), length = Copy::length(rows, cols);
  std::vector<typename Recipe::element> codes(x.size());
  std::vector<typename Recipe::scale> scales(lines * blocks_per_row<Recipe>(length));
  quantize(host(), recipe, in.data(), lines, length, codes.data(), scales.data());
  return arranged<Copy>(codes, scales, rows, cols, Recipe::block_size);
}

// The numbers that the copy means, from an arrangement that `expected` did not make.
template <class Copy, class Recipe>
std::vector<float> meaning(Recipe recipe, bytes const& b, uint64_t rows, uint64_t cols) {
  uint64_t const blocks = (Copy::length(rows, cols) + Recipe::block_size - 1) / Recipe::block_size;
  std::vector<float> out(rows * cols);
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) {
      uint64_t const line = Copy::along_rows ? r : c, i = Copy::along_rows ? c : r;
      uint64_t const row = Copy::is_transposed ? c : r, k = Copy::is_transposed ? r : c;
      uint64_t const m = Copy::is_transposed ? rows : cols, pitch = Copy::is_packed ? (m + 1) / 2 : m;
      uint8_t code = b.codes[row * pitch + (Copy::is_packed ? k / 2 : k)];
      if (Copy::is_packed) code = k % 2 ? code >> 4 : code & 15;
      uint8_t const s = b.scales[Copy::layout::offset({line, i / Recipe::block_size}, Copy::lines(rows, cols), blocks)];
      out[r * cols + c] = recipe.value_of(typename Recipe::element{code}, typename Recipe::scale{s});
    }
  return out;
}

} // namespace copies_reference
