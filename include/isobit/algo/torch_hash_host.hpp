// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The exclusive or of an array's elements, widened as torch does, on vector registers of the host.
//!
//! Widening is linear over exclusive or but for the exponent. Integers: widen the exclusive or of all. Floats: the
//! double's exponent is e + 1024 - top, top = 2^(bits of e - 1), so that its low bits are those of e, and above them
//! stand 1024 where e has its top bit and 1024 - top elsewhere; parities of counts say the rest. Zeros have no
//! exponent: their number's parity too. Subnormal numbers, infinities and NaNs send their stretch to the plain loop.
#pragma once

#include <isobit/algo/element_source.hpp>
#include <isobit/arith/vector.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

// Signed integers as wide as elements of type T.
template <class T>
using word_of = stl::conditional_t<
    sizeof(T) == 8, int64_t,
    stl::conditional_t<sizeof(T) == 4, int32_t, stl::conditional_t<sizeof(T) == 2, int16_t, stl::int8_t>>>;

template <class V> uint64_t xor_lanes(V const& v) {
  element_of<V> x = 0;
  for (int i = 0; i < width_of<V>; ++i) x = static_cast<element_of<V>>(x ^ v[i]);
  return static_cast<uint64_t>(x) & (~uint64_t(0) >> (64 - 8 * sizeof(x)));
}

// A stretch of vectors: exclusive or of the bits, parity of the zeros, whether some element needs the plain loop.
struct xor_stretch {
  uint64_t bits, zeros;
  bool special;
};
template <class T, int Vectors> xor_stretch xor_vectors(T const* x) {
  using word = word_of<T>;
  using words = vec<word, 16 / static_cast<int>(sizeof(T))>;
  constexpr dtype type = dtype_of<T>;
  words all{}, zero{}, special{};
  for (int i = 0; i < Vectors; ++i) {
    words w;
    __builtin_memcpy(&w, reinterpret_cast<unsigned char const*>(x) + 16 * i, 16);
    if constexpr (type == dtype::f32 || type == dtype::f16 || type == dtype::bf16) {
      constexpr int mantissa_bits = type == dtype::f32 ? 23 : type == dtype::f16 ? 10 : 7;
      constexpr word infinity = static_cast<word>(fields_of(type).first_nan - 1);
      constexpr word least = static_cast<word>(word(1) << mantissa_bits);
      words const magnitude = w & static_cast<word>(fields_of(type).magnitude);
      words const is_zero = magnitude == words{};
      zero ^= is_zero;
      special |= (magnitude >= words{} + infinity) | ((magnitude < words{} + least) & ~is_zero);
    } else if constexpr (type == dtype::boolean) {
      w = (w != words{}) & (words{} + word(1));
    }
    all ^= w;
  }
  bool any = false;
  for (int i = 0; i < width_of<words>; ++i) any = any || special[i] != 0;
  return {xor_lanes(all), xor_lanes(zero) & 1, any};
}

#pragma GCC diagnostic pop

// What `count` elements whose bits' exclusive or is `x.bits` give, none of them special.
template <dtype Type> uint64_t widened_xor(xor_stretch const& x, uint64_t count) {
  if constexpr (Type == dtype::f32 || Type == dtype::f16 || Type == dtype::bf16) {
    constexpr int mantissa_bits = Type == dtype::f32 ? 23 : Type == dtype::f16 ? 10 : 7;
    constexpr int bits = dtype_bits(Type), low_bits = bits - 2; // below the sign and the exponent's top bit
    constexpr uint64_t top = uint64_t(1) << (low_bits - mantissa_bits);
    uint64_t const high = x.bits >> low_bits & 1, others = (count ^ high ^ x.zeros) & 1;
    uint64_t const exponent = high * 1024 ^ others * (1024 - top);
    uint64_t const low = (x.bits & ((uint64_t(1) << low_bits) - 1)) << (52 - mantissa_bits);
    return x.bits >> (bits - 1) << 63 ^ exponent << 52 ^ low;
  } else if constexpr (Type == dtype::i8 || Type == dtype::i16 || Type == dtype::i32) {
    constexpr int up = 64 - dtype_bits(Type);
    return static_cast<uint64_t>(static_cast<int64_t>(x.bits << up) >> up);
  } else {
    return x.bits;
  }
}

// The array; `plain(first, last)` is the loop over elements.
template <class T, class Plain> uint64_t xor_of_array(T const* x, uint64_t count, Plain const& plain) {
  constexpr int vectors = 32;
  constexpr uint64_t stretch = vectors * 16 / sizeof(T);
  uint64_t h = 0, i = 0;
  for (; count - i >= stretch; i += stretch) {
    auto const s = xor_vectors<T, vectors>(x + i);
    h ^= s.special ? plain(i, i + stretch) : widened_xor<dtype_of<T>>(s, stretch);
  }
  return h ^ plain(i, count);
}

} // namespace isobit::inline bits1::detail
#endif
