// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Describes a quantised copy of a matrix: which way its blocks run, in which order the codes are, where the scales lie.
#pragma once

#include <isobit/algo/quantize.hpp>
#include <isobit/algo/quantize_stochastic.hpp>
#include <isobit/algo/scale_layout.hpp>

namespace isobit::inline bits1 {

//! The blocks of a copy run along the rows or along the columns of the matrix. The codes of a column-wise copy are in the
//! order of the matrix, or transposed: column after column, so that a block's codes are neighbours.
enum class orientation { row_wise, column_wise, column_wise_transposed };

//! Says that the last block of a line may have fewer elements than the recipe's block.
struct ragged_blocks {};
inline constexpr ragged_blocks ragged{};

//! Where a copy lies. Made by `row_wise`, `column_wise` and `column_wise_transposed`; trivially copyable, may be passed to
//! a kernel. `Code`: the recipe's element, or `e2m1x2`; const for reading.
template <orientation Orientation, class Layout, class Code, class Scale> struct quantized_copy {
  static constexpr orientation along = Orientation;
  static constexpr bool along_rows = Orientation == orientation::row_wise;
  static constexpr bool is_transposed = Orientation == orientation::column_wise_transposed;
  static constexpr bool is_packed = stl::same_as<stl::remove_const_t<Code>, e2m1x2>;
  using layout = Layout;
  using code = Code;
  using scale = Scale;

  Code* codes;
  Scale* scales;
  uint64_t scales_size; //!< how many scales there is room for
  bool may_be_ragged;

  //! The lines of a `rows` x `cols` matrix along which the blocks run, and how many elements each has.
  ISOBIT_HD static constexpr uint64_t lines(uint64_t rows, uint64_t cols) { return along_rows ? rows : cols; }
  ISOBIT_HD static constexpr uint64_t length(uint64_t rows, uint64_t cols) { return along_rows ? cols : rows; }
  //! `Code`s of one line of codes of n elements.
  ISOBIT_HD static constexpr uint64_t pitch(uint64_t n) { return is_packed ? packed_per_row(n) : n; }
  //! `Code`s of the copy.
  ISOBIT_HD static constexpr uint64_t codes_size(uint64_t rows, uint64_t cols) {
    return is_transposed ? cols * pitch(rows) : rows * pitch(cols);
  }
  //! Where the codes from element (r, c) on begin; c, or r where they are transposed, is even if they are packed.
  ISOBIT_HD constexpr Code* codes_at(uint64_t r, uint64_t c, uint64_t rows, uint64_t cols) const {
    uint64_t const line = is_transposed ? c : r, i = is_transposed ? r : c;
    return codes + line * pitch(is_transposed ? rows : cols) + (is_packed ? i / 2 : i);
  }
};

template <class T> inline constexpr bool is_quantized_copy = false;
template <orientation O, class L, class C, class S>
inline constexpr bool is_quantized_copy<quantized_copy<O, L, C, S>> = true;

//! `Copy` holds codes and scales of `Recipe`.
template <class Copy, class Recipe>
concept copy_of = is_quantized_copy<Copy> && stl::same_as < stl::remove_const_t<typename Copy::scale>,
typename Recipe::scale > &&(stl::same_as<stl::remove_const_t<typename Copy::code>, typename Recipe::element> ||
                            (Copy::is_packed && stl::same_as<typename Recipe::element, e2m1>));

//! How many scales a copy of a `rows` x `cols` matrix takes in the layout, padding included.
template <quantize_recipe Recipe, orientation Orientation = orientation::row_wise, class Layout = scale_layout::linear>
ISOBIT_HD constexpr uint64_t scales_size(uint64_t rows, uint64_t cols) {
  bool const along_rows = Orientation == orientation::row_wise;
  return Layout::size(along_rows ? rows : cols, blocks_per_row<Recipe>(along_rows ? cols : rows));
}

//! A copy whose blocks run along the rows: codes in the order of the matrix.
//! `scales_size`: how many scales there is room for. Without `ragged`, the block size must divide the columns.
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto row_wise(Code* codes, Scale* scales, uint64_t scales_size) {
  return quantized_copy<orientation::row_wise, Layout, Code, Scale>{codes, scales, scales_size, false};
}
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto row_wise(Code* codes, Scale* scales, uint64_t scales_size, ragged_blocks) {
  return quantized_copy<orientation::row_wise, Layout, Code, Scale>{codes, scales, scales_size, true};
}
//! A copy whose blocks run along the columns; codes in the order of the matrix. The scale of rows [k * block, ...) of column
//! c is that of line c, block k.
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto column_wise(Code* codes, Scale* scales, uint64_t scales_size) {
  return quantized_copy<orientation::column_wise, Layout, Code, Scale>{codes, scales, scales_size, false};
}
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto column_wise(Code* codes, Scale* scales, uint64_t scales_size, ragged_blocks) {
  return quantized_copy<orientation::column_wise, Layout, Code, Scale>{codes, scales, scales_size, true};
}
//! The same with the codes of the transposed matrix: cols rows of `rows` elements.
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto column_wise_transposed(Code* codes, Scale* scales, uint64_t scales_size) {
  return quantized_copy<orientation::column_wise_transposed, Layout, Code, Scale>{codes, scales, scales_size, false};
}
template <class Layout = scale_layout::linear, class Code, class Scale>
ISOBIT_HD constexpr auto column_wise_transposed(Code* codes, Scale* scales, uint64_t scales_size, ragged_blocks) {
  return quantized_copy<orientation::column_wise_transposed, Layout, Code, Scale>{codes, scales, scales_size, true};
}

//! What a column-wise copy adds to the stream of `stochastic`, so that it shares no random bits with the row-wise copy.
inline constexpr uint64_t column_wise_stream = uint64_t(1) << 63;

namespace detail {

//! Codes to nearest: what stands for `stochastic` where nothing is random.
struct to_nearest {};

// The random bits of a copy; elements are numbered along the rows of the matrix, in both directions.
template <class Copy> ISOBIT_HD constexpr to_nearest rounding_of(to_nearest) { return {}; }
template <class Copy> ISOBIT_HD constexpr stochastic rounding_of(stochastic r) {
  return {r.seed, r.stream + (Copy::along_rows ? 0 : column_wise_stream)};
}

// The code of x, element `index`.
template <class Encoder> ISOBIT_HD constexpr auto round_code(Encoder const& code, to_nearest, float x, uint64_t) {
  return code(x);
}
template <class Encoder>
ISOBIT_HD constexpr auto round_code(Encoder const& code, stochastic r, float x, uint64_t index) {
  return code(x, r.bits(index));
}

// The part of a copy that holds one group of rows of a grouped matrix: layouts and packed lines begin anew.
template <class Copy> struct group_position {
  uint64_t codes = 0, scales = 0;
  template <class Recipe> ISOBIT_HD constexpr void skip(uint64_t rows, uint64_t cols) {
    codes += Copy::codes_size(rows, cols);
    scales += scales_size<Recipe, Copy::along, typename Copy::layout>(rows, cols);
  }
};
template <class Copy> ISOBIT_HD constexpr Copy part_of(Copy const& copy, group_position<Copy> const& at) {
  return {copy.codes + at.codes, copy.scales + at.scales, copy.scales_size - at.scales, copy.may_be_ragged};
}

} // namespace detail
} // namespace isobit::inline bits1
