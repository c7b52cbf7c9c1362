// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Names of element types, as a digest and a trace record them.
#pragma once

#include <isobit/format/e8m0.hpp>
#include <isobit/format/element.hpp>

namespace isobit::inline bits1 {

//! The type of a tensor's elements. The numbers are part of every digest: they never change meaning.
enum class dtype : uint32_t {
  bytes = 0, //!< untyped memory
  boolean = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  u32 = 6,
  i32 = 7,
  u64 = 8,
  i64 = 9,
  f64 = 16,
  f32 = 17,
  f16 = 18,
  bf16 = 19,
  e4m3 = 20,
  e5m2 = 21,
  e8m0 = 22,
  e2m1 = 23, //!< 4 bits; two codes a byte, or one: the same tensor
  e3m2 = 24, //!< one code a byte
  e2m3 = 25, //!< one code a byte
};

//! Bits of one element, as a digest counts them: 4 for e2m1, 8 for every other code of a byte or less.
ISOBIT_HD constexpr int dtype_bits(dtype type) {
  switch (type) {
  case dtype::u64:
  case dtype::i64:
  case dtype::f64: return 64;
  case dtype::u32:
  case dtype::i32:
  case dtype::f32: return 32;
  case dtype::u16:
  case dtype::i16:
  case dtype::f16:
  case dtype::bf16: return 16;
  case dtype::e2m1: return 4;
  default: return 8;
  }
}

//! The name of a dtype, as in the enumeration: "bf16".
ISOBIT_HD constexpr char const* dtype_name(dtype type) {
  switch (type) {
  case dtype::bytes: return "bytes";
  case dtype::boolean: return "boolean";
  case dtype::u8: return "u8";
  case dtype::i8: return "i8";
  case dtype::u16: return "u16";
  case dtype::i16: return "i16";
  case dtype::u32: return "u32";
  case dtype::i32: return "i32";
  case dtype::u64: return "u64";
  case dtype::i64: return "i64";
  case dtype::f64: return "f64";
  case dtype::f32: return "f32";
  case dtype::f16: return "f16";
  case dtype::bf16: return "bf16";
  case dtype::e4m3: return "e4m3";
  case dtype::e5m2: return "e5m2";
  case dtype::e8m0: return "e8m0";
  case dtype::e2m1: return "e2m1";
  case dtype::e3m2: return "e3m2";
  case dtype::e2m3: return "e2m3";
  }
  return "unknown";
}

namespace detail {
template <class T> ISOBIT_HD constexpr dtype deduce_dtype() {
  using stl::same_as;
  if constexpr (same_as<T, double>)
    return dtype::f64;
  else if constexpr (same_as<T, float>)
    return dtype::f32;
  else if constexpr (same_as<T, isobit::f16>)
    return dtype::f16;
  else if constexpr (same_as<T, isobit::bf16>)
    return dtype::bf16;
  else if constexpr (same_as<T, isobit::e4m3>)
    return dtype::e4m3;
  else if constexpr (same_as<T, isobit::e5m2>)
    return dtype::e5m2;
  else if constexpr (same_as<T, isobit::e8m0>)
    return dtype::e8m0;
  else if constexpr (same_as<T, isobit::e2m1> || same_as<T, isobit::e2m1x2>)
    return dtype::e2m1;
  else if constexpr (same_as<T, isobit::e3m2>)
    return dtype::e3m2;
  else if constexpr (same_as<T, isobit::e2m3>)
    return dtype::e2m3;
  else if constexpr (same_as<T, bool>)
    return dtype::boolean;
  else if constexpr (stl::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr uint32_t log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<dtype>(2 + 2 * log2 + (stl::is_signed_v<T> ? 1 : 0));
  } else {
    static_assert(sizeof(T) == 0, "isobit: this element type has no dtype: digest its bytes, or specialise dtype_of");
    return dtype::bytes;
  }
}
} // namespace detail

//! The dtype of elements of type `T`. Specialise it for a storage type of your own; interop/cuda_types.hpp does it for
//! `__half` and its like.
template <class T> inline constexpr dtype dtype_of = detail::deduce_dtype<T>();

//! How many elements one object of type `T` holds: 2 for two 4-bit codes in a byte, the even one in the low half.
template <class T> inline constexpr int elements_in = 1;
template <> inline constexpr int elements_in<e2m1x2> = 2;

} // namespace isobit::inline bits1
