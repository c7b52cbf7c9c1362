// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Whole matrices on the host, in any direction and scale layout: row-wise and column-wise copies in one pass, squares that
//! share a scale, groups of rows, and back.
#pragma once

#include <isobit/algo/quantize_host.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {
namespace detail {

// A matrix of which element (0, 0) is number `first` of the tensor.
template <class T> struct numbered_matrix {
  T const* x;
  uint64_t rows, cols, first;
  T const* at(uint64_t r, uint64_t c) const { return x + r * cols + c; }
  uint64_t index(uint64_t r, uint64_t c) const { return first + r * cols + c; }
};

// The part of a matrix that is worked on together: `n` rows from `top`, `m` columns from `left`.
struct patch {
  uint64_t top, left;
  uint32_t n, m;
};

// The scale of `size` neighbouring elements and their codes, element i having the number index + i * step.
template <class Recipe, class Rounding, class T>
[[gnu::noinline]] typename Recipe::scale quantize_rounded(Recipe const& recipe, Rounding rounding, uint32_t size,
                                                          T const* x, uint64_t index, uint64_t step,
                                                          typename Recipe::element* codes) {
  float values[Recipe::block_size];
  for (uint32_t i = 0; i < Recipe::block_size; ++i) values[i] = i < size ? decode_element(x[i]) : 0.0f;
  auto const scale = block_scale(thread{}, recipe, values);
  auto const code = encoder_of(recipe, scale);
  for (uint32_t i = 0; i < size; ++i) codes[i] = round_code(code, rounding, values[i], index + i * step);
  return scale;
}

// Quantises patches of a matrix into copies.
template <class Recipe, class Rounding, class T> struct patch_quantizer {
  static constexpr uint32_t size = Recipe::block_size;
  using element = typename Recipe::element;
  using scale = typename Recipe::scale;
  static constexpr uint32_t widest = 8 * size; // columns of a patch

  run_coder<Recipe> const& coder;
  Rounding rounding;
  numbered_matrix<T> in;

  // `count` blocks one after another at `x`, each of `present` elements; their elements are numbered by `index(block)` and
  // `step`.
  template <class R, class Index>
  void blocks(R random, T const* x, uint32_t count, uint32_t present, Index const& index, uint64_t step, element* codes,
              scale* scales) const {
    if constexpr (stl::same_as<R, to_nearest>) {
      if (present == size) return coder.run(x, count, codes, scales);
    }
    for (uint32_t b = 0; b < count; ++b)
      scales[b] = quantize_rounded(coder.recipe, random, present, x + b * present, index(b), step, codes + b * present);
  }

  template <class Copy> void row_wise(Copy const& copy, patch const& p) const {
    [[maybe_unused]] auto const random = rounding_of<Copy>(rounding);
    uint64_t const per_line = blocks_per_row<Recipe>(in.cols);
    scale scales[widest / size + 1];
    uint32_t const whole = p.m / size, rest = p.m % size;
    for (uint64_t r = p.top; r < p.top + p.n; ++r) {
      T const* const x = in.at(r, p.left);
      auto* const to = copy.codes_at(r, p.left, in.rows, in.cols);
      if constexpr (stl::same_as<Rounding, to_nearest>) {
        using code = typename Copy::code;
        coder.run(x, whole, to, scales);
        if (rest != 0)
          scales[whole] =
              quantize_block_exactly(coder.recipe, rest, x + whole * size, to + code_count<code>(whole * size));
      } else {
        element codes[widest];
        for (uint32_t b = 0; b < whole + (rest != 0); ++b)
          scales[b] = quantize_rounded(coder.recipe, random, b < whole ? size : rest, x + b * size,
                                       in.index(r, p.left + b * size), 1, codes + b * size);
        put_codes(codes, p.m, to);
      }
      for (uint32_t b = 0; b < whole + (rest != 0); ++b)
        copy.scales[Copy::layout::offset({r, p.left / size + b}, in.rows, per_line)] = scales[b];
    }
  }

  // `codes` of a patch no wider than a block, column after column, into a column-wise copy.
  template <class Copy>
  void put_columns(Copy const& copy, patch const& p, element const* codes, scale const* scales) const {
    for (uint32_t c = 0; c < p.m; ++c)
      copy.scales[Copy::layout::offset({p.left + c, p.top / size}, in.cols, blocks_per_row<Recipe>(in.rows))] =
          scales[c];
    if constexpr (Copy::is_transposed) {
      for (uint32_t c = 0; c < p.m; ++c)
        put_codes(codes + c * p.n, p.n, copy.codes_at(p.top, p.left + c, in.rows, in.cols));
    } else {
      for (uint32_t r = 0; r < p.n; ++r) {
        element line[size];
        for (uint32_t c = 0; c < p.m; ++c) line[c] = codes[c * p.n + r];
        put_codes(line, p.m, copy.codes_at(p.top + r, p.left, in.rows, in.cols));
      }
    }
  }

  template <class Copy> void column_wise(Copy const& copy, patch const& whole) const {
    auto const random = rounding_of<Copy>(rounding);
    for (uint32_t done = 0; done < whole.m; done += size) {
      patch const p{whole.top, whole.left + done, whole.n, whole.m - done < size ? whole.m - done : size};
      T columns[size * size];
      for (uint32_t r = 0; r < p.n; ++r)
        for (uint32_t c = 0; c < p.m; ++c) columns[c * p.n + r] = in.at(p.top + r, p.left)[c];
      element codes[size * size];
      scale scales[size];
      blocks(
          random, columns, p.m, p.n, [&](uint32_t c) { return in.index(p.top, p.left + c); }, in.cols, codes, scales);
      put_columns(copy, p, codes, scales);
    }
  }

  // The patch, no wider than a block, has one scale.
  template <class Copy> void square(Copy const& copy, patch const& p, scale s) const {
    auto const random = rounding_of<Copy>(rounding);
    auto const code = encoder_of(coder.recipe, s);
    element codes[size * size];
    scale scales[size];
    for (auto& v : scales) v = s;
    for (uint32_t r = 0; r < p.n; ++r)
      for (uint32_t c = 0; c < p.m; ++c) {
        float const x = decode_element(in.at(p.top + r, p.left)[c]);
        codes[Copy::along_rows ? r * p.m + c : c * p.n + r] =
            round_code(code, random, x, in.index(p.top + r, p.left + c));
      }
    if constexpr (Copy::along_rows) {
      for (uint32_t r = 0; r < p.n; ++r) {
        put_codes(codes + r * p.m, p.m, copy.codes_at(p.top + r, p.left, in.rows, in.cols));
        copy.scales[Copy::layout::offset({p.top + r, p.left / size}, in.rows, blocks_per_row<Recipe>(in.cols))] = s;
      }
    } else {
      put_columns(copy, p, codes, scales);
    }
  }

  uint32_t amax(patch const& p) const {
    uint32_t most = 0;
    for (uint32_t r = 0; r < p.n; ++r)
      for (uint32_t c = 0; c < p.m; ++c) {
        uint32_t const m = Recipe::magnitude(decode_element(in.at(p.top + r, p.left)[c]));
        most = most < m ? m : most;
      }
    return most;
  }

  // The rows [k * size, (k + 1) * size).
  template <bool Square, class... Copies> void band(uint64_t k, Copies const&... copies) const {
    uint64_t const top = k * size;
    uint32_t const n = static_cast<uint32_t>(in.rows - top < size ? in.rows - top : size);
    constexpr uint32_t width = Square ? size : widest;
    for (uint64_t left = 0; left < in.cols; left += width) {
      patch const p{top, left, n, static_cast<uint32_t>(in.cols - left < width ? in.cols - left : width)};
      if constexpr (Square) {
        scale const s = coder.recipe.scale_of(amax(p));
        (square(copies, p, s), ...);
      } else {
        (one(copies, p), ...);
      }
    }
  }
  template <class Copy> void one(Copy const& copy, patch const& p) const {
    if constexpr (Copy::along_rows)
      row_wise(copy, p);
    else
      column_wise(copy, p);
  }
};

template <class Recipe, class Copy> void zero_padding(Copy const& copy, uint64_t rows, uint64_t cols) {
  scale_padding<typename Copy::layout> const padding{Copy::lines(rows, cols),
                                                     blocks_per_row<Recipe>(Copy::length(rows, cols))};
  for (uint64_t i = 0, n = padding.count(); i < n; ++i) copy.scales[padding.offset(i)] = typename Copy::scale{};
}

template <bool Square, class Executor, class Recipe, class Rounding, class T, class... Copies>
void quantize_matrix(host<Executor> const& group, run_coder<Recipe> const& coder, Rounding rounding,
                     numbered_matrix<T> const& in, Copies const&... copies) {
  if (in.rows == 0 || in.cols == 0) return;
  (zero_padding<Recipe>(copies, in.rows, in.cols), ...);
  patch_quantizer<Recipe, Rounding, T> const patches{coder, rounding, in};
  group.run(blocks_per_row<Recipe>(in.rows),
            [&](uint64_t k) { with_default_environment([&] { patches.template band<Square>(k, copies...); }); });
}

template <bool Square, class Executor, class Recipe, class Rounding, class T, class... Copies>
void quantize_checked(char const* function, host<Executor> const& group, Recipe const& recipe, Rounding rounding,
                      T const* x, uint64_t rows, uint64_t cols, Copies const&... copies) {
  static_assert(stl::same_as<element_value<T>, float>, "isobit: quantize takes float or a narrower float type");
  static_assert(one_copy_each_way<Copies...>, "isobit: quantize makes one row-wise and one column-wise copy at most");
  static_assert((!stl::is_const_v<typename Copies::code> && ...), "isobit: quantize writes the codes of a copy");
  check_recipe(function, recipe);
  check_copies<Recipe>(function, x, "x", rows, cols, copies...);
  if constexpr (Square) check_square<Recipe>(function, rows, cols, copies...);
  if (rows == 0 || cols == 0) return;
  with_coder(recipe, rows * blocks_per_row<Recipe>(cols), [&](auto const& coder) {
    quantize_matrix<Square>(group, coder, rounding, numbered_matrix<T>{x, rows, cols, 0}, copies...);
  });
}

} // namespace detail

//! Quantises the `rows` x `cols` matrix at `x` (row-major, no gaps) into one copy or, in one pass over `x`, two: one
//! row-wise, one column-wise (see quantized_copy.hpp).
//!
//! Every byte of a copy's codes is written, and every scale of its layout, padding as 0. Throws `invalid_argument`, naming
//! the argument, before anything is written: null, misaligned or overlapping arrays, too little room for the scales, a
//! line of elements that the block size does not divide in a copy made without `ragged`, a tensor scale that is negative
//! or not finite. Guarantee: target, partition (any executor), neighbourhood; both copies are those that two calls make.
template <class Executor, quantize_recipe Recipe, class T, copy_of<Recipe>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize(host<Executor> const& group, Recipe recipe,
                                                                         T const* x, uint64_t rows, uint64_t cols,
                                                                         Copies... copies) {
  detail::quantize_checked<false>("quantize", group, recipe, detail::to_nearest{}, x, rows, cols, copies...);
}

//! As above with stochastic rounding of the codes. Element (r, c) takes the random bits of index r * cols + c in every
//! copy; a column-wise copy uses stream + 2^63, so that the two share none.
template <class Executor, stochastic_recipe Recipe, class T, copy_of<Recipe>... Copies>
requires(sizeof...(Copies) == 1 || sizeof...(Copies) == 2) void quantize(host<Executor> const& group, Recipe recipe,
                                                                         stochastic rounding, T const* x, uint64_t rows,
                                                                         uint64_t cols, Copies... copies) {
  detail::quantize_checked<false>("quantize", group, recipe, rounding, x, rows, cols, copies...);
}

//! As `quantize`, with one scale for each square of Recipe::block_size rows and columns, written once for each of its lines: the
//! row-wise and the column-wise copy hold the same numbers.
template <class Executor, quantize_recipe Recipe, class T, copy_of<Recipe>... Copies>
requires(sizeof...(Copies) == 1 ||
         sizeof...(Copies) == 2) void quantize_square(host<Executor> const& group, Recipe recipe, T const* x,
                                                      uint64_t rows, uint64_t cols, Copies... copies) {
  static_assert(
      !requires { typename Recipe::chooses; }, "isobit: four_over_six has no square blocks here");
  detail::quantize_checked<true>("quantize_square", group, recipe, detail::to_nearest{}, x, rows, cols, copies...);
}

//! How many scales a grouped copy takes: groups of rows [offsets[g], offsets[g + 1]), the layout beginning anew in each.
template <quantize_recipe Recipe, orientation Orientation = orientation::row_wise, class Layout = scale_layout::linear>
constexpr uint64_t grouped_scales_size(uint64_t const* offsets, uint64_t groups, uint64_t cols) {
  uint64_t sum = 0;
  for (uint64_t g = 0; g < groups; ++g)
    sum += scales_size<Recipe, Orientation, Layout>(offsets[g + 1] - offsets[g], cols);
  return sum;
}

//! As `quantize`, for a matrix whose rows [offsets[g], offsets[g + 1]) are group g, for g below `groups` (grouped matrix
//! products). Blocks along columns, scale layouts and transposed codes begin anew in each group, behind those of the
//! groups before: what one call for each group would write. `x` is row 0; rows before offsets[0] are left out, and have no
//! room in the copies.
template <class Executor, quantize_recipe Recipe, class T, copy_of<Recipe>... Copies>
requires(sizeof...(Copies) == 1 ||
         sizeof...(Copies) == 2) void quantize_groups(host<Executor> const& group, Recipe recipe, T const* x,
                                                      uint64_t const* offsets, uint64_t groups, uint64_t cols,
                                                      Copies... copies) {
  static_assert(detail::one_copy_each_way<Copies...>,
                "isobit: quantize makes one row-wise and one column-wise copy at most");
  detail::check_recipe("quantize_groups", recipe);
  detail::check_groups<Recipe>("quantize_groups", x, "x", offsets, groups, cols, copies...);
  uint64_t const rows = offsets[groups] - offsets[0];
  if (rows == 0 || cols == 0) return;
  detail::with_coder(recipe, rows * blocks_per_row<Recipe>(cols), [&](auto const& coder) {
    auto const each = [&](auto... at) {
      for (uint64_t g = 0; g < groups; ++g) {
        uint64_t const n = offsets[g + 1] - offsets[g], before = offsets[g] * cols;
        detail::numbered_matrix<T> const in{x + before, n, cols, before};
        detail::quantize_matrix<false>(group, coder, detail::to_nearest{}, in, detail::part_of(copies, at)...);
        (at.template skip<Recipe>(n, cols), ...);
      }
    };
    each(detail::group_position<Copies>{}...);
  });
}

//! Writes the numbers that a copy means, `rows` x `cols`, row-major, to `out`: `value_of` of each code and its block's scale.
//! Errors and guarantee as for `quantize`.
template <class Executor, quantize_recipe Recipe, copy_of<Recipe> Copy>
void dequantize(host<Executor> const& group, Recipe recipe, Copy copy, uint64_t rows, uint64_t cols, float* out) {
  detail::check_recipe("dequantize", recipe);
  detail::check_copies<Recipe>("dequantize", out, "out", rows, cols, copy);
  if (rows == 0 || cols == 0) return;
  using element = typename Recipe::element;
  constexpr uint32_t size = Recipe::block_size;
  uint64_t const lines = Copy::lines(rows, cols), per_line = blocks_per_row<Recipe>(Copy::length(rows, cols));
  auto const scale_at = [=](uint64_t line, uint64_t block) {
    return copy.scales[Copy::layout::offset({line, block}, lines, per_line)];
  };
  group.run(blocks_per_row<Recipe>(rows), [=](uint64_t k) {
    uint64_t const top = k * size, bottom = rows - top < size ? rows : top + size;
    with_default_environment([&] {
      for (uint64_t left = 0; left < cols; left += size) {
        uint32_t const m = static_cast<uint32_t>(cols - left < size ? cols - left : size);
        uint32_t const n = static_cast<uint32_t>(bottom - top);
        element room[size];
        if constexpr (Copy::is_transposed) {
          for (uint32_t c = 0; c < m; ++c) {
            element const* const codes = detail::take_codes(copy.codes_at(top, left + c, rows, cols), n, room);
            for (uint32_t r = 0; r < n; ++r)
              out[(top + r) * cols + left + c] = recipe.value_of(codes[r], scale_at(left + c, k));
          }
        } else {
          for (uint64_t r = top; r < bottom; ++r) {
            element const* const codes = detail::take_codes(copy.codes_at(r, left, rows, cols), m, room);
            float* const to = out + r * cols + left;
            if (Copy::along_rows && m == size)
              detail::dequantize_whole_block(recipe, codes, scale_at(r, left / size), to);
            else
              for (uint32_t c = 0; c < m; ++c)
                to[c] = recipe.value_of(codes[c], Copy::along_rows ? scale_at(r, left / size) : scale_at(left + c, k));
          }
        }
      }
    });
  });
}

} // namespace isobit::inline bits1
#endif
