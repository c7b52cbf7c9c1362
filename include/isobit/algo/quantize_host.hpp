// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Quantises and dequantises matrices on the host, in blocks along the rows.
#pragma once

#include <isobit/algo/load.hpp>
#include <isobit/algo/quantize.hpp>
#include <isobit/algo/quantize_check.hpp>
#include <isobit/algo/quantize_stochastic.hpp>
#include <isobit/algo/quantize_vectors.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/arith/vector.hpp>
#include <isobit/format/nvfp4.hpp>
#include <isobit/group/host.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {
namespace detail {

typedef int int_x4 __attribute__((vector_size(16)));
typedef float float_x4 __attribute__((vector_size(16)));
typedef unsigned short half_x8 __attribute__((vector_size(16)));
typedef short short_x8 __attribute__((vector_size(16)));
typedef unsigned char byte_x16 __attribute__((vector_size(16)));

#define ISOBIT_INLINE [[gnu::always_inline]] inline

// The same 16 bytes as another vector type.
template <class To, class From> ISOBIT_INLINE To as(From v) { return reinterpret_cast<To>(v); }

ISOBIT_INLINE int_x4 broadcast_x4(int x) { return int_x4{x, x, x, x}; }

template <class Recipe>
[[gnu::noinline]] void dequantize_block_exactly(Recipe recipe, uint32_t n, typename Recipe::element const* codes,
                                                typename Recipe::scale scale, float* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = recipe.value_of(codes[i], scale);
}
template <class Recipe>
inline void dequantize_whole_block(Recipe recipe, typename Recipe::element const* codes, typename Recipe::scale scale,
                                   float* out) {
  dequantize_block_exactly(recipe, Recipe::block_size, codes, scale, out);
}

// The fast path: blocks whose codes and scale are all finite.
template <class Element, class Rule, class NonFinite>
requires(Element::format.sign() == 0x80) inline void dequantize_whole_block(mx::recipe<Element, Rule, NonFinite> recipe,
                                                                            Element const* codes, e8m0 scale,
                                                                            float* out) {
  constexpr small_float_format f = Element::format;
  constexpr int dropped = 23 - f.mantissa_bits;
  byte_x16 code[2];
  __builtin_memcpy(code, codes, sizeof code);
  // The bytes beyond the largest number, with whatever sign, as ones.
  auto const special = ((code[0] & 0x7f) > static_cast<unsigned char>(f.largest())) |
                       ((code[1] & 0x7f) > static_cast<unsigned char>(f.largest()));
  auto const words = as<int_x4>(special);
  if (is_nan(scale) || (words[0] | words[1] | words[2] | words[3]) != 0)
    return dequantize_block_exactly(recipe, 32, codes, scale, out);

  // The code's fields moved to a float's are the number times a power of two, subnormal or not.
  float const up = from_bits<float>(static_cast<uint32_t>(127 + 127 - f.bias) << 23), down = decode(scale);
  float_x4 const to_number{up, up, up, up}, s{down, down, down, down};
  byte_x16 const zero{};
  ISOBIT_UNROLL
  for (int i = 0; i < 2; ++i) {
    auto const low =
        as<half_x8>(__builtin_shufflevector(zero, code[i], 0, 16, 0, 17, 0, 18, 0, 19, 0, 20, 0, 21, 0, 22, 0, 23));
    auto const high =
        as<half_x8>(__builtin_shufflevector(zero, code[i], 0, 24, 0, 25, 0, 26, 0, 27, 0, 28, 0, 29, 0, 30, 0, 31));
    half_x8 const none{};
    int_x4 const top[4] = {as<int_x4>(__builtin_shufflevector(none, low, 0, 8, 1, 9, 2, 10, 3, 11)),
                           as<int_x4>(__builtin_shufflevector(none, low, 4, 12, 5, 13, 6, 14, 7, 15)),
                           as<int_x4>(__builtin_shufflevector(none, high, 0, 8, 1, 9, 2, 10, 3, 11)),
                           as<int_x4>(__builtin_shufflevector(none, high, 4, 12, 5, 13, 6, 14, 7, 15))};
    ISOBIT_UNROLL
    for (int j = 0; j < 4; ++j) { // each code in the highest byte
      int_x4 const sign = top[j] & broadcast_x4(static_cast<int>(0x80000000u));
      int_x4 const magnitude = (top[j] & 0x7f000000) >> (24 - dropped);
      float_x4 const value = mul(mul(as<float_x4>(magnitude), to_number), s);
      int_x4 const signed_value = as<int_x4>(value) | sign;
      __builtin_memcpy(out + 16 * i + 4 * j, &signed_value, sizeof signed_value);
    }
  }
}
#undef ISOBIT_INLINE

// The blocks [begin, end) of a matrix, counted along its rows: f(first element, its block, how many elements).
template <uint32_t BlockSize, class F>
inline void for_each_block(uint64_t cols, uint64_t begin, uint64_t end, F const& f) {
  uint64_t const per_row = cols / BlockSize + (cols % BlockSize != 0);
  uint64_t row = begin / per_row, column = begin % per_row * BlockSize;
  for (uint64_t b = begin; b < end; ++b) {
    uint64_t const left = cols - column;
    f(row * cols + column, b, left < BlockSize ? static_cast<uint32_t>(left) : BlockSize);
    column += BlockSize;
    if (column >= cols) column = 0, ++row;
  }
}

// Shares the blocks of a matrix out to the host's jobs, each in the default floating-point environment: f(begin, end).
template <class Recipe, class Executor, class F>
inline void run_jobs(host<Executor> const& group, uint64_t rows, uint64_t cols, F const& f) {
  uint64_t const total = rows * blocks_per_row<Recipe>(cols);
  uint64_t const each = group.grain / Recipe::block_size + 1;
  group.run(total / each + (total % each != 0), [&](uint64_t job) {
    uint64_t const begin = job * each;
    uint64_t const end = total - begin < each ? total : begin + each;
    with_default_environment([&] { f(begin, end); });
  });
}
template <class Recipe, class Executor, class F>
inline void run_blocks(host<Executor> const& group, uint64_t rows, uint64_t cols, F const& f) {
  run_jobs<Recipe>(group, rows, cols, [&f, cols](uint64_t begin, uint64_t end) {
    for_each_block<Recipe::block_size>(cols, begin, end, f);
  });
}

// f(coder of the recipe's blocks), which is made in the default floating-point environment.
template <class Recipe, class F> inline void with_coder(Recipe const& recipe, uint64_t blocks, F const& f) {
  auto const make = [&] { return run_coder<Recipe>(recipe, blocks); };
  f(with_default_environment(make));
}

// The blocks [begin, end) of a row-major matrix: the whole ones of a row, or of all rows, in one run.
template <class Recipe, class T, class Code>
inline void quantize_range(run_coder<Recipe> const& coder, T const* x, uint64_t cols, uint64_t begin, uint64_t end,
                           Code* codes, typename Recipe::scale* scales) {
  constexpr uint64_t size = Recipe::block_size;
  uint64_t const whole = cols / size, per_row = blocks_per_row<Recipe>(cols);
  if (whole == per_row)
    return coder.run(x + begin * size, end - begin, codes + code_count<Code>(begin * size), scales + begin);
  uint64_t row = begin / per_row, k = begin % per_row;
  for (uint64_t b = begin; b < end; ++row, k = 0) {
    uint64_t const stop = end - b < per_row - k ? k + (end - b) : per_row, full = stop < whole ? stop : whole;
    T const* const line = x + row * cols;
    Code* const to = codes + row * code_count<Code>(cols);
    if (full > k) coder.run(line + k * size, full - k, to + code_count<Code>(k * size), scales + b);
    b += stop - k;
    if (stop == per_row)
      scales[b - 1] = quantize_block_exactly(coder.recipe, static_cast<uint32_t>(cols - whole * size),
                                             line + whole * size, to + code_count<Code>(whole * size));
  }
}

// Where block `b`'s codes begin, `first` being the index of its first element. A packed row begins with a byte of its own.
template <class Recipe, class Code> constexpr uint64_t place_of(uint64_t first, uint64_t b, uint64_t cols) {
  if (!stl::same_as<Code, e2m1x2>) return first;
  if (cols % 2 == 0) return first / 2;
  uint64_t const row = b / blocks_per_row<Recipe>(cols);
  return row * packed_per_row(cols) + (first - row * cols) / 2;
}

// The codes of one block, one to an element; those of packed ones in `room`.
template <class Element> inline Element const* take_codes(Element const* from, uint32_t, Element*) { return from; }
inline e2m1 const* take_codes(e2m1x2 const* from, uint32_t n, e2m1* room) {
  for (uint32_t i = 0; i < n; ++i) room[i] = i % 2 == 0 ? from[i / 2].even() : from[i / 2].odd();
  return room;
}

} // namespace detail

//! What holds the codes of `Recipe`: its element, or `e2m1x2`, two e2m1 codes to a byte. A packed row begins with a byte
//! of its own: it has packed_per_row(cols) bytes, and when `cols` is odd the high half of the last one is 0.
template <class Code, class Recipe>
concept code_storage = stl::same_as<Code, typename Recipe::element> ||
    (stl::same_as<Code, e2m1x2>&& stl::same_as<typename Recipe::element, e2m1>);

//! Quantises the `rows` x `cols` matrix at `x` (row-major, no gaps) in blocks along each row.
//!
//! `codes`: rows * cols elements, in the order of `x`, or rows * packed_per_row(cols) `e2m1x2`. `scales`: rows *
//! blocks_per_row<Recipe>(cols), row-major; the last block of a row may be ragged, its scale comes from the elements
//! that exist. `x` holds float or a narrower float (f16, bf16, ...). Throws `invalid_argument`, before anything is
//! written, for null, misaligned or overlapping arrays and for a recipe whose tensor scale is negative or not finite.
//! Guarantee: target, partition (any executor) and neighbourhood; each block depends on its own elements only.
template <class Executor, quantize_recipe Recipe, class T, code_storage<Recipe> Code>
void quantize(host<Executor> const& group, Recipe recipe, T const* x, uint64_t rows, uint64_t cols, Code* codes,
              typename Recipe::scale* scales) {
  static_assert(stl::same_as<element_value<T>, float>, "isobit: quantize takes float or a narrower float type");
  detail::check_recipe("quantize", recipe);
  detail::check_quantize<Recipe>("quantize", x, "x", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  detail::with_coder(recipe, rows * blocks_per_row<Recipe>(cols), [&](auto const& coder) {
    detail::run_jobs<Recipe>(group, rows, cols, [&coder, x, cols, codes, scales](uint64_t begin, uint64_t end) {
      detail::quantize_range(coder, x, cols, begin, end, codes, scales);
    });
  });
}

//! As above with stochastic rounding of the codes. Element (r, c) takes the random bits of index r * cols + c, however the
//! codes are stored. Cost: one Philox call for four elements.
template <class Executor, stochastic_recipe Recipe, class T, code_storage<Recipe> Code>
void quantize(host<Executor> const& group, Recipe recipe, stochastic rounding, T const* x, uint64_t rows, uint64_t cols,
              Code* codes, typename Recipe::scale* scales) {
  static_assert(stl::same_as<element_value<T>, float>, "isobit: quantize takes float or a narrower float type");
  detail::check_recipe("quantize", recipe);
  detail::check_quantize<Recipe>("quantize", x, "x", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  detail::run_blocks<Recipe>(group, rows, cols, [=](uint64_t first, uint64_t b, uint32_t present) {
    typename Recipe::element block[Recipe::block_size];
    scales[b] = quantize_block(thread{}, recipe, rounding, first, present, contiguous<T>{x + first},
                               detail::codes_at<typename Recipe::element>{block});
    detail::put_codes(block, present, codes + detail::place_of<Recipe, Code>(first, b, cols));
  });
}

//! As the first form, with one scale for each square of Recipe::block_size rows and columns (16 x 16 for NVFP4, 32 x 32 for
//! MX): the same codes come out of the matrix and of its transpose. The scale is written once for each row of the square,
//! so that `scales` has the layout of `quantize` and `dequantize` reads the result. Squares at the last rows and columns
//! are ragged. Guarantee: target, partition, and neighbourhood among squares.
template <class Executor, quantize_recipe Recipe, class T, code_storage<Recipe> Code>
void quantize_square(host<Executor> const& group, Recipe recipe, T const* x, uint64_t rows, uint64_t cols, Code* codes,
                     typename Recipe::scale* scales) {
  static_assert(stl::same_as<element_value<T>, float>, "isobit: quantize_square takes float or a narrower float type");
  static_assert(
      !requires { typename Recipe::chooses; }, "isobit: four_over_six has no square blocks here");
  detail::check_recipe("quantize_square", recipe);
  detail::check_quantize<Recipe>("quantize_square", x, "x", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  constexpr uint64_t size = Recipe::block_size;
  uint64_t const per_row = blocks_per_row<Recipe>(cols), bands = blocks_per_row<Recipe>(rows);
  group.run(bands, [=](uint64_t band) {
    uint64_t const top = band * size, bottom = rows - top < size ? rows : top + size;
    with_default_environment([&] {
      for (uint64_t k = 0; k < per_row; ++k) {
        uint64_t const left = k * size;
        uint32_t const n = static_cast<uint32_t>(cols - left < size ? cols - left : size);
        uint32_t amax = 0;
        for (uint64_t r = top; r < bottom; ++r)
          for (uint32_t i = 0; i < n; ++i) {
            uint32_t const m = Recipe::magnitude(decode_element(x[r * cols + left + i]));
            amax = amax < m ? m : amax;
          }
        auto const scale = recipe.scale_of(amax);
        auto const code = detail::encoder_of(recipe, scale);
        for (uint64_t r = top; r < bottom; ++r) {
          typename Recipe::element block[size];
          uint64_t const first = r * cols + left, b = r * per_row + k;
          for (uint32_t i = 0; i < n; ++i) block[i] = code(decode_element(x[first + i]));
          detail::put_codes(block, n, codes + detail::place_of<Recipe, Code>(first, b, cols));
          scales[b] = scale;
        }
      }
    });
  });
}

//! Writes the numbers that the codes mean with their scales, as the recipe's `value_of` says (MX: code * scale, exactly).
//! Layout, errors and guarantee as for `quantize`.
template <class Executor, quantize_recipe Recipe, code_storage<Recipe> Code>
void dequantize(host<Executor> const& group, Recipe recipe, Code const* codes, typename Recipe::scale const* scales,
                uint64_t rows, uint64_t cols, float* out) {
  detail::check_recipe("dequantize", recipe);
  detail::check_quantize<Recipe>("dequantize", out, "out", rows, cols, codes, scales);
  if (rows == 0 || cols == 0) return;
  detail::run_blocks<Recipe>(group, rows, cols, [=](uint64_t first, uint64_t b, uint32_t present) {
    typename Recipe::element room[Recipe::block_size];
    auto const* from = detail::take_codes(codes + detail::place_of<Recipe, Code>(first, b, cols), present, room);
    if (present == Recipe::block_size)
      detail::dequantize_whole_block(recipe, from, scales[b], out + first);
    else
      detail::dequantize_block_exactly(recipe, present, from, scales[b], out + first);
  });
}

} // namespace isobit::inline bits1
#endif
