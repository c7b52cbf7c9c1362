// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Fingerprints of quantised tensors: codes, block scales and the tensor's scale, each alone and all together, in
//! logical order. How codes and scales lie in memory is the caller's `load`; padding is never asked for.
#pragma once

#include <isobit/algo/digest_elements.hpp>
#include <isobit/algo/scale_layout.hpp>

namespace isobit::inline bits1 {

//! The digests of one quantised tensor. Equal `joint` digests mean that everything is equal; otherwise the parts say
//! what differs.
template <class Value> struct quantized_digest {
  Value codes;
  Value scales;
  Value global; //!< of the tensor's scale; of nothing (a float tensor of 0 elements) where it has none
  Value joint;
  ISOBIT_HD friend constexpr bool operator==(quantized_digest const&, quantized_digest const&) = default;
};

//! `load(row, column)` of a matrix, as it is stored.
template <class Load> struct matrix_elements {
  Load load;
  uint64_t rows, columns;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t i) const { return load(i / columns, i % columns); }
};

//! The matrix whose element (r, c) is `data[map(r, c)]`.
template <class T, class Map> struct mapped_matrix {
  stored_elements<T> elements;
  Map map;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t row, uint64_t column) const { return elements(map(row, column)); }
};

namespace detail {

struct dense_rows {
  uint64_t pitch;
  ISOBIT_HD uint64_t operator()(uint64_t row, uint64_t column) const { return row * pitch + column; }
};

// A layout of algo/scale_layout.hpp, or any type with such an `offset`.
template <class Layout> struct layout_map {
  uint64_t rows, columns;
  ISOBIT_HD uint64_t operator()(uint64_t row, uint64_t column) const {
    return Layout::offset(scale_layout::place{row, column}, rows, columns);
  }
};

ISOBIT_HD constexpr uint64_t chained(uint64_t start, uint64_t a, uint64_t b, uint64_t c) {
  word_chain chain{start};
  chain.absorb(a);
  chain.absorb(b);
  chain.absorb(c);
  return chain.h;
}
ISOBIT_HD constexpr uint64_t joint_of(uint64_t codes, uint64_t scales, uint64_t global) {
  return chained(e_fraction, codes, scales, global);
}
ISOBIT_HD constexpr bits128 joint_of(bits128 const& codes, bits128 const& scales, bits128 const& global) {
  return {chained(e_fraction, codes.low, scales.low, global.low),
          chained(root3_fraction, codes.high, scales.high, global.high)};
}

template <class Load> inline constexpr bool is_matrix_elements = false;
template <class Load> inline constexpr bool is_matrix_elements<matrix_elements<Load>> = true;

template <digest_form Form, class Group, class M>
ISOBIT_HD typename Form::value matrix_digest(Group const& g, M const& m) {
  static_assert(is_matrix_elements<M>,
                "isobit: codes and scales are given as isobit::matrix(data, rows, columns[, map])");
  uint64_t const extents[2] = {m.rows, m.columns};
  constexpr dtype type = dtype_of<stored_element<M>>;
  return finish_digest(digest_elements_sum<Form>(g, m, m.rows * m.columns), {type, extents, 2, Form::equates_values});
}

} // namespace detail

//! The matrix of `rows` times `columns` elements whose element (r, c) is `data[map(r, c)]`. `map` is a callable, or a
//! layout such as `scale_layout::tiles_128x4{}`. Of packed codes, `map` counts codes.
template <class T, class Map>
ISOBIT_HD auto matrix(T const* data, uint64_t rows, uint64_t columns, [[maybe_unused]] Map const& map) {
  if constexpr (requires { Map::offset(scale_layout::place{}, rows, columns); })
    return matrix_elements<mapped_matrix<T, detail::layout_map<Map>>>{{{data}, {rows, columns}}, rows, columns};
  else
    return matrix_elements<mapped_matrix<T, Map>>{{{data}, map}, rows, columns};
}
//! A matrix without gaps. Of packed codes (two in a byte) each row begins with a byte of its own.
template <class T>
ISOBIT_HD auto matrix(T const* data, uint64_t rows, uint64_t columns) {
  uint64_t const pitch = elements_in<T> == 2 ? columns + columns % 2 : columns;
  return matrix(data, rows, columns, detail::dense_rows{pitch});
}

//! The digests of the quantised tensor with these codes and scales, both `matrix(...)`, and the scale of the whole
//! tensor `global[0 .. globals)` (none: MX; one: NVFP4). By all members of a thread, tile or block, or `host()`.
//! `Form`: `digest64`, `digest128`, or `by_value` of these.
//! codes == digest of the tensor of codes of that shape; scales and global alike. Where only a layout differs, all are
//! the same. Level: run-to-run, geometry, target, partition. Cost: one read; on a GPU about 90 instructions for 16
//! bytes and a call of `load` an element.
template <digest_form Form = digest64, class Group, class Codes, class Scales>
ISOBIT_HD quantized_digest<typename Form::value> digest_quantized(Group const& g, Codes const& codes,
                                                                  Scales const& scales, float const* global = nullptr,
                                                                  uint64_t globals = 0) {
  quantized_digest<typename Form::value> result;
  result.codes = detail::matrix_digest<Form>(g, codes);
  result.scales = detail::matrix_digest<Form>(g, scales);
  result.global = finish_digest(digest_elements_sum<Form>(g, stored(global), globals),
                                {dtype::f32, &globals, 1, Form::equates_values});
  result.joint = detail::joint_of(result.codes, result.scales, result.global);
  return result;
}

} // namespace isobit::inline bits1
