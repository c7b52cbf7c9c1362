// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the quantisers on a host and the launchers check of their arguments, before anything is written.
#pragma once

#include <isobit/algo/quantized_copy.hpp>
#include <isobit/error.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

struct byte_range {
  char const* name;
  void const* data;
  uint64_t bytes;
};

inline void check_buffer(char const* function, byte_range const& r, size_t alignment) {
  if (r.data == nullptr && r.bytes > 0) throw invalid_argument(function, r.name, "non-null when rows * cols > 0");
  if (reinterpret_cast<uintptr_t>(r.data) % alignment != 0)
    throw invalid_argument(function, r.name, "aligned to", alignment, "bytes");
}

inline void check_disjoint(char const* function, byte_range const& a, byte_range const& b) {
  auto const p = reinterpret_cast<uintptr_t>(a.data), q = reinterpret_cast<uintptr_t>(b.data);
  if (a.bytes == 0 || b.bytes == 0) return;
  if (p < q ? q - p >= a.bytes : p - q >= b.bytes) return;
  char needed[64];
  std::snprintf(needed, sizeof needed, "disjoint from %s", a.name);
  throw invalid_argument(function, b.name, needed);
}

// How many `Code`s hold the codes of a matrix.
template <class Code> constexpr uint64_t codes_of(uint64_t rows, uint64_t cols) {
  return rows * (stl::same_as<Code, e2m1x2> ? packed_per_row(cols) : cols);
}

// The arguments of quantize and dequantize. Nothing has been written when this throws.
template <class Recipe, class T, class Code>
inline void check_quantize(char const* function, T const* values, char const* values_name, uint64_t rows, uint64_t cols,
                           Code const* codes, typename Recipe::scale const* scales) {
  constexpr uint64_t most = uint64_t(1) << 60;
  if (cols != 0 && rows > most / cols) throw invalid_argument(function, "rows * cols", "at most", most, "elements");
  uint64_t const n = rows * cols;
  byte_range const v{values_name, values, n * sizeof(T)};
  byte_range const c{"codes", codes, n == 0 ? 0 : codes_of<Code>(rows, cols) * sizeof(Code)};
  byte_range const s{"scales", scales,
                     n == 0 ? 0 : rows * blocks_per_row<Recipe>(cols) * sizeof(typename Recipe::scale)};
  check_buffer(function, v, alignof(T));
  check_buffer(function, c, alignof(Code));
  check_buffer(function, s, alignof(typename Recipe::scale));
  check_disjoint(function, v, c);
  check_disjoint(function, v, s);
  check_disjoint(function, c, s);
}

// A recipe with a state says whether that is one it can work with.
template <class Recipe> inline void check_recipe(char const* function, Recipe const& recipe) {
  if constexpr (requires { recipe.is_valid(); })
    if (!recipe.is_valid()) throw invalid_argument(function, Recipe::tensor_argument, Recipe::tensor_needed);
}

// Adds a matrix to what a copy must hold.
template <class Recipe, class Copy>
inline void add_extent(char const* function, Copy const& copy, uint64_t rows, uint64_t cols,
                       group_position<Copy>& extent) {
  if (!copy.may_be_ragged && Copy::length(rows, cols) % Recipe::block_size != 0)
    throw invalid_argument(function, Copy::along_rows ? "cols" : "rows", "a multiple of", Recipe::block_size,
                           "(the recipe's block), or the copy made with `ragged`");
  if (rows != 0 && cols != 0) extent.template skip<Recipe>(rows, cols);
}

// The values and the copies of them: arrays, room and overlaps.
template <class T, class... Copies>
inline void check_extents(char const* function, T const* values, char const* values_name, uint64_t n,
                          Copies const&... copies, group_position<Copies> const&... extents) {
  byte_range all[1 + 2 * sizeof...(Copies)] = {{values_name, values, n * sizeof(T)}};
  check_buffer(function, all[0], alignof(T));
  size_t count = 1;
  auto const add = [&]<class Copy>(Copy const& copy, group_position<Copy> const& extent) {
    constexpr bool rows = Copy::along_rows;
    byte_range& codes = all[count++] = {rows ? "row_wise.codes" : "column_wise.codes", copy.codes,
                                        extent.codes * sizeof(typename Copy::code)};
    byte_range& scales = all[count++] = {rows ? "row_wise.scales" : "column_wise.scales", copy.scales,
                                         extent.scales * sizeof(typename Copy::scale)};
    check_buffer(function, codes, 1);
    check_buffer(function, scales, 1);
    if (copy.scales_size < extent.scales)
      throw invalid_argument(function, rows ? "row_wise.scales_size" : "column_wise.scales_size", "at least",
                             extent.scales, "scales");
  };
  (add(copies, extents), ...);
  for (size_t i = 0; i < count; ++i)
    for (size_t k = i + 1; k < count; ++k) check_disjoint(function, all[i], all[k]);
}

template <class Recipe, class... Copies>
inline void check_square(char const* function, uint64_t rows, uint64_t cols, Copies const&... copies) {
  if ((rows % Recipe::block_size != 0 || cols % Recipe::block_size != 0) && !(copies.may_be_ragged && ...))
    throw invalid_argument(function, rows % Recipe::block_size != 0 ? "rows" : "cols", "a multiple of",
                           Recipe::block_size, "(the recipe's square), or the copies made with `ragged`");
}

inline void check_elements(char const* function, uint64_t rows, uint64_t cols) {
  constexpr uint64_t most = uint64_t(1) << 59;
  if (cols != 0 && rows > most / cols) throw invalid_argument(function, "rows * cols", "at most", most, "elements");
}

// The arguments of a function on a matrix of `values` and its copies.
template <class Recipe, class T, class... Copies>
inline void check_copies(char const* function, T const* values, char const* values_name, uint64_t rows, uint64_t cols,
                         Copies const&... copies) {
  check_elements(function, rows, cols);
  auto const check = [&](auto... extents) {
    (add_extent<Recipe>(function, copies, rows, cols, extents), ...);
    check_extents<T, Copies...>(function, values, values_name, rows * cols, copies..., extents...);
  };
  check(group_position<Copies>{}...);
}

template <class T> void check_array_of(char const* function, char const* name, T const* data) {
  if (data == nullptr) throw invalid_argument(function, name, "non-null");
  if (reinterpret_cast<uintptr_t>(data) % alignof(T) != 0)
    throw invalid_argument(function, name, "aligned to", alignof(T), "bytes");
}

// The same for a grouped matrix, whose rows [offsets[g], offsets[g + 1]) are group g.
template <class Recipe, class T, class... Copies>
inline void check_groups(char const* function, T const* values, char const* values_name, uint64_t const* offsets,
                         uint64_t groups, uint64_t cols, Copies const&... copies) {
  check_array_of(function, "offsets", offsets);
  for (uint64_t g = 0; g < groups; ++g)
    if (offsets[g] > offsets[g + 1]) throw invalid_argument(function, "offsets", "in ascending order");
  check_elements(function, offsets[groups], cols);
  auto const check = [&](auto... extents) {
    for (uint64_t g = 0; g < groups; ++g)
      (add_extent<Recipe>(function, copies, offsets[g + 1] - offsets[g], cols, extents), ...);
    check_extents<T, Copies...>(function, values, values_name, offsets[groups] * cols, copies..., extents...);
  };
  check(group_position<Copies>{}...);
}

template <class... Copies> inline constexpr bool one_copy_each_way = false;
template <class A> inline constexpr bool one_copy_each_way<A> = true;
template <class A, class B> inline constexpr bool one_copy_each_way<A, B> = A::along_rows != B::along_rows;

} // namespace isobit::inline bits1::detail
#endif
