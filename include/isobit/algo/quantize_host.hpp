// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Quantises and dequantises matrices on the host. The fast path works on registers of four floats; its every step is
//! exact or one nearest-even rounding, so that it has the bits of the recipe's integer definition.
#pragma once

#include <isobit/algo/load.hpp>
#include <isobit/algo/quantize.hpp>
#include <isobit/algo/quantize_check.hpp>
#include <isobit/algo/quantize_stochastic.hpp>
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

ISOBIT_INLINE float_x4 larger(float_x4 a, float_x4 b) { // of non-negative numbers without NaN
#if defined(__SSE2__)
  return __builtin_ia32_maxps(a, b);
#else
  return as<float_x4>(as<int_x4>(a) < as<int_x4>(b) ? as<int_x4>(b) : as<int_x4>(a));
#endif
}

// True if one of the four is negative, as integers.
ISOBIT_INLINE bool any_negative(int_x4 v) {
#if defined(__SSE2__)
  return __builtin_ia32_movmskps(as<float_x4>(v)) != 0;
#else
  return (v[0] | v[1] | v[2] | v[3]) < 0;
#endif
}

// The 32 floats of a block, as bits. NaNs stay NaNs; their payload does not matter.
struct block_bits {
  int_x4 v[8];
};

ISOBIT_INLINE void widen(float const* x, block_bits& out) { __builtin_memcpy(&out, x, sizeof out); }
ISOBIT_INLINE void widen(bf16 const* x, block_bits& out) {
  half_x8 const zero{};
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) {
    half_x8 h;
    __builtin_memcpy(&h, x + 8 * i, sizeof h);
    out.v[2 * i] = as<int_x4>(__builtin_shufflevector(zero, h, 0, 8, 1, 9, 2, 10, 3, 11));
    out.v[2 * i + 1] = as<int_x4>(__builtin_shufflevector(zero, h, 4, 12, 5, 13, 6, 14, 7, 15));
  }
}
ISOBIT_INLINE int_x4 widen_halves(int_x4 h) {
  // Exponent and mantissa in place; the multiplication moves the exponent, and makes subnormal halves normal.
  int_x4 const magnitude = h & 0x7fff;
  float_x4 const moved = mul(as<float_x4>(magnitude << 13), float_x4{0x1p112f, 0x1p112f, 0x1p112f, 0x1p112f});
  int_x4 const finite = as<int_x4>(moved);
  int_x4 const special = (magnitude << 13) | 0x7f800000;
  return (magnitude > 0x7bff ? special : finite) | ((h & 0x8000) << 16);
}
ISOBIT_INLINE void widen(f16 const* x, block_bits& out) {
  half_x8 const zero{};
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) {
    half_x8 h;
    __builtin_memcpy(&h, x + 8 * i, sizeof h);
    out.v[2 * i] = widen_halves(as<int_x4>(__builtin_shufflevector(h, zero, 0, 8, 1, 9, 2, 10, 3, 11)));
    out.v[2 * i + 1] = widen_halves(as<int_x4>(__builtin_shufflevector(h, zero, 4, 12, 5, 13, 6, 14, 7, 15)));
  }
}
template <class T> ISOBIT_INLINE void widen(T const* x, block_bits& out) {
  float values[32];
  for (int i = 0; i < 32; ++i) values[i] = decode_element(x[i]);
  __builtin_memcpy(&out, values, sizeof out);
}

// The element codes plus `code_excess`, without sign and not yet saturated, of four scaled numbers' magnitudes. |x| + A
// is a multiple of the element's last place, because A = 2^(e + 23 - mantissa_bits) for the |x| in [2^e, 2^(e+1)).
template <small_float Element>
inline constexpr int code_excess = (23 - Element::format.mantissa_bits + 128 - Element::format.bias)
                                   << Element::format.mantissa_bits;
template <small_float Element> ISOBIT_INLINE int_x4 magnitude_codes(float_x4 magnitude) {
  constexpr small_float_format f = Element::format;
  constexpr int dropped = 23 - f.mantissa_bits;
  constexpr int first = 128 - f.bias; // the float exponent field of the smallest normal element
  float_x4 const at_least_normal = larger(magnitude, as<float_x4>(broadcast_x4(first << 23)));
  int_x4 const addend = (as<int_x4>(at_least_normal) & 0x7f800000) + (dropped << 23);
  int_x4 const sum = as<int_x4>(add(magnitude, as<float_x4>(addend)));
  return (sum - addend) + (addend >> dropped);
}

ISOBIT_INLINE byte_x16 low_bytes(int_x4 const* v) {
  auto const even = [](byte_x16 a, byte_x16 b) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  };
  return even(even(as<byte_x16>(v[0]), as<byte_x16>(v[1])), even(as<byte_x16>(v[2]), as<byte_x16>(v[3])));
}

// The bytes of the 16 codes, saturated, with the signs of the numbers `x`.
template <small_float Element> ISOBIT_INLINE byte_x16 saturate_and_sign(int_x4 const* code, int_x4 const* x) {
  constexpr small_float_format f = Element::format;
  constexpr int largest = static_cast<int>(f.largest());
#if defined(__SSE2__)
  constexpr bool pack_saturates = f.sign() == 0x80;
#else
  constexpr bool pack_saturates = false;
#endif
  if constexpr (pack_saturates) {
#if defined(__SSE2__)
    // The packing instructions saturate, to 16 bits and then at 127, and keep signs.
    constexpr short excess = static_cast<short>(code_excess<Element> - (127 - largest));
    short_x8 const low = __builtin_ia32_packssdw128(code[0], code[1]) - excess;
    short_x8 const high = __builtin_ia32_packssdw128(code[2], code[3]) - excess;
    auto const packed = as<byte_x16>(__builtin_ia32_packsswb128(low, high));
    auto const signs = as<byte_x16>(
        __builtin_ia32_packsswb128(__builtin_ia32_packssdw128(x[0], x[1]), __builtin_ia32_packssdw128(x[2], x[3])));
    return (packed - static_cast<unsigned char>(127 - largest)) | (signs & 0x80);
#endif
  } else {
    int_x4 out[4];
    ISOBIT_UNROLL
    for (int i = 0; i < 4; ++i) {
      int_x4 const sign = (x[i] >> (31 - f.exponent_bits - f.mantissa_bits)) & static_cast<int>(f.sign());
      int_x4 const unsaturated = code[i] - code_excess<Element>;
      out[i] = (unsaturated > largest ? broadcast_x4(largest) : unsaturated) | sign;
    }
    return low_bytes(out);
  }
}

// 16 codes of 16 finite numbers times `factor`.
template <small_float Element> ISOBIT_INLINE byte_x16 codes_x16(int_x4 const* x, float_x4 factor) {
  int_x4 code[4];
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) code[i] = magnitude_codes<Element>(mul(as<float_x4>(x[i] & 0x7fffffff), factor));
  return saturate_and_sign<Element>(code, x);
}

// Stores of a block's codes in an array.
template <class Element> struct codes_at {
  Element* codes;
  ISOBIT_HD void operator()(uint32_t i, Element code) const { codes[i] = code; }
};

// A block of `n` elements by the definition.
template <class Recipe, class T>
[[gnu::noinline]] typename Recipe::scale quantize_block_exactly(Recipe recipe, uint32_t n, T const* x,
                                                                typename Recipe::element* codes) {
  return quantize_block(thread{}, recipe, n, contiguous<T>{x}, codes_at<typename Recipe::element>{codes});
}

template <class Recipe, class T>
inline typename Recipe::scale quantize_whole_block(Recipe recipe, T const* x, typename Recipe::element* codes) {
  return quantize_block_exactly(recipe, Recipe::block_size, x, codes);
}

// The MX recipes' fast path: blocks without infinities and NaNs.
template <class Element, class Rule, class NonFinite, class T>
  requires(sizeof(Element) == 1)
inline e8m0 quantize_whole_block(mx::recipe<Element, Rule, NonFinite> recipe, T const* x, Element* codes) {
  block_bits block;
  widen(x, block);
  float_x4 amax{}, sum{};
  ISOBIT_UNROLL
  for (int i = 0; i < 8; ++i) {
    auto const magnitude = as<float_x4>(block.v[i] & 0x7fffffff);
    amax = larger(amax, magnitude);
    sum += magnitude; // not finite if a number is not, or if the numbers are huge
  }
  if (any_negative(0x7f7fffff - as<int_x4>(sum))) return quantize_block_exactly(recipe, 32, x, codes);

  amax = larger(amax, __builtin_shufflevector(amax, amax, 2, 3, 0, 1));
  amax = larger(amax, __builtin_shufflevector(amax, amax, 1, 0, 3, 2));
  e8m0 const scale = recipe.scale_of(static_cast<uint32_t>(as<int_x4>(amax)[0]));
  float const r = reciprocal(scale);
  ISOBIT_UNROLL
  for (int i = 0; i < 8; i += 4) {
    byte_x16 const out = codes_x16<Element>(block.v + i, float_x4{r, r, r, r});
    __builtin_memcpy(codes + 4 * i, &out, sizeof out);
  }
  return scale;
}

// 16 numbers of an NVFP4 block, as bits, and their largest magnitude. False if one is not finite.
template <class T> ISOBIT_INLINE bool read_x16(T const* x, int_x4 (&v)[4], uint32_t& amax) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = decode_element(x[i]);
  __builtin_memcpy(v, values, sizeof v);
  float_x4 most{}; // a magnitude above infinity is a NaN, which `larger` must not see
  int_x4 bad{};
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) {
    int_x4 const magnitude = v[i] & 0x7fffffff;
    bad |= 0x7f7fffff - magnitude;
    most = larger(most, as<float_x4>(magnitude));
  }
  if (any_negative(bad)) return false;
  most = larger(most, __builtin_shufflevector(most, most, 2, 3, 0, 1));
  most = larger(most, __builtin_shufflevector(most, most, 1, 0, 3, 2));
  amax = static_cast<uint32_t>(as<int_x4>(most)[0]);
  return true;
}

template <class T> inline e4m3 quantize_whole_block(nvfp4<nv::te> recipe, T const* x, e2m1* codes) {
  int_x4 v[4], code[4];
  uint32_t amax;
  if (!read_x16(x, v, amax)) return quantize_block_exactly(recipe, 16, x, codes);
  e4m3 const scale = recipe.scale_of(amax);
  float const r = recipe.encoder(scale).factor;
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) {
    int_x4 const product = as<int_x4>(mul(as<float_x4>(v[i] & 0x7fffffff), float_x4{r, r, r, r}));
    int_x4 const eight = broadcast_x4(0x41000000); // products beyond 6 all saturate; infinities would overflow
    code[i] = magnitude_codes<e2m1>(as<float_x4>(product > eight ? eight : product));
  }
  byte_x16 const out = saturate_and_sign<e2m1>(code, v);
  __builtin_memcpy(codes, &out, sizeof out);
  return scale;
}

// The bits of the largest magnitude that rounds to the code c or a lower one, for c = 0 ... 6: the number halfway between
// the codes c and c + 1, times the two scales, rounded down to a float; the float before, where it is a tie that rounds
// up. Precondition: both scales are finite and not zero.
template <bool Down> inline void exact_limits(float t, e4m3 s, int (&limit)[7]) {
  constexpr uint64_t four_halfway[7] = {1, 3, 5, 7, 10, 14, 20};
  normal_parts const c = code_parts(s), g = normalise(magnitude_bits(t));
  uint64_t const unit = (uint64_t(c.m) * g.m) << 28;
  for (int i = 0; i < 7; ++i) {
    uint64_t const product = unit * four_halfway[i]; // below 2^61
    uint64_t const quotient = Down ? product / 21 : product;
    bool exact = quotient * (Down ? 21 : 1) == product;
    int const exponent = c.e + g.e - 2 - 28 - (Down ? 7 : 0);
    int last = bit_width(quotient) - 24; // the last place of the float
    if (last + exponent < -149) last = -149 - exponent;
    int const field = last + exponent + 149;
    if (last > 63) last = 63;
    uint64_t const kept = quotient >> last;
    exact = exact && kept << last == quotient;
    limit[i] = field > 253 ? 0x7f7fffff : (field << 23) + static_cast<int>(kept);
    if (field <= 253 && exact && i % 2 != 0) --limit[i];
  }
}

template <bool Down, class Recipe, class T>
inline e4m3 quantize_exact_block(Recipe recipe, float tensor, T const* x, e2m1* codes) {
  int_x4 v[4], code[4] = {};
  uint32_t amax;
  if (!read_x16(x, v, amax)) return quantize_block_exactly(recipe, 16, x, codes);
  e4m3 const scale = recipe.scale_of(amax);
  if (scale.bits != 0) {
    int limit[7];
    exact_limits<Down>(tensor, scale, limit);
    for (int c = 0; c < 7; ++c) {
      int_x4 const most = broadcast_x4(limit[c]);
      ISOBIT_UNROLL
      for (int i = 0; i < 4; ++i) code[i] -= (v[i] & 0x7fffffff) > most;
    }
  }
  ISOBIT_UNROLL
  for (int i = 0; i < 4; ++i) code[i] |= (v[i] >> 28) & 8;
  byte_x16 const out = low_bytes(code);
  __builtin_memcpy(codes, &out, sizeof out);
  return scale;
}
template <class T> inline e4m3 quantize_whole_block(nvfp4<nv::exact> recipe, T const* x, e2m1* codes) {
  return quantize_exact_block<true>(recipe, recipe.tensor_amax, x, codes);
}
template <class T> inline e4m3 quantize_whole_block(nvfp4<nv::exact_scale> recipe, T const* x, e2m1* codes) {
  return quantize_exact_block<false>(recipe, recipe.tensor_scale, x, codes);
}

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
  requires(Element::format.sign() == 0x80)
inline void dequantize_whole_block(mx::recipe<Element, Rule, NonFinite> recipe, Element const* codes, e8m0 scale,
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

// Codes and scales of whole blocks that lie one after another.
template <class Recipe> struct run_coder {
  Recipe recipe;
  run_coder(Recipe const& r, [[maybe_unused]] uint64_t blocks) : recipe(r) {}

  template <class T>
  void run(T const* x, uint64_t blocks, typename Recipe::element* codes, typename Recipe::scale* scales) const {
    constexpr uint32_t size = Recipe::block_size;
    for (uint64_t b = 0; b < blocks; ++b) scales[b] = quantize_whole_block(recipe, x + b * size, codes + b * size);
  }
};

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

// Shares the blocks of a matrix out to the host's jobs, each in the default floating-point environment.
template <class Recipe, class Executor, class F>
inline void run_blocks(host<Executor> const& group, uint64_t rows, uint64_t cols, F const& f) {
  uint64_t const total = rows * blocks_per_row<Recipe>(cols);
  uint64_t const each = group.grain / Recipe::block_size + 1;
  group.run(total / each + (total % each != 0), [&](uint64_t job) {
    uint64_t const begin = job * each;
    uint64_t const end = total - begin < each ? total : begin + each;
    with_default_environment([&] { for_each_block<Recipe::block_size>(cols, begin, end, f); });
  });
}

// Where block `b`'s codes begin, `first` being the index of its first element. A packed row begins with a byte of its own.
template <class Recipe, class Code> constexpr uint64_t place_of(uint64_t first, uint64_t b, uint64_t cols) {
  if (!stl::same_as<Code, e2m1x2>) return first;
  if (cols % 2 == 0) return first / 2;
  uint64_t const row = b / blocks_per_row<Recipe>(cols);
  return row * packed_per_row(cols) + (first - row * cols) / 2;
}

// The codes of one block, one to an element or packed.
template <class Element> inline void put_codes(Element const* from, uint32_t n, Element* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = from[i];
}
inline void put_codes(e2m1 const* from, uint32_t n, e2m1x2* to) {
  for (uint32_t i = 0; i < n / 2; ++i) to[i] = pack(from[2 * i], from[2 * i + 1]);
  if (n % 2 != 0) to[n / 2] = pack(from[n - 1], e2m1{0});
}
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
                       (stl::same_as<Code, e2m1x2> && stl::same_as<typename Recipe::element, e2m1>);

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
  detail::run_blocks<Recipe>(group, rows, cols, [=](uint64_t first, uint64_t b, uint32_t present) {
    typename Recipe::element block[Recipe::block_size];
    typename Recipe::element* to = block;
    if constexpr (!stl::same_as<Code, e2m1x2>) to = codes + first;
    if (present == Recipe::block_size)
      scales[b] = detail::quantize_whole_block(recipe, x + first, to);
    else
      scales[b] = detail::quantize_block_exactly(recipe, present, x + first, to);
    if constexpr (stl::same_as<Code, e2m1x2>)
      detail::put_codes(block, present, codes + detail::place_of<Recipe, Code>(first, b, cols));
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
  static_assert(!requires { typename Recipe::chooses; }, "isobit: four_over_six has no square blocks here");
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
