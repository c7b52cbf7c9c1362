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
};

namespace detail {
template <class T> ISOBIT_HD constexpr dtype dtype_of() {
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

//! The dtype of elements of type `T`. Specialise it for a storage type of your own (`__half` is `dtype::f16`, say).
template <class T> inline constexpr dtype dtype_of = detail::dtype_of<T>();

} // namespace isobit::inline bits1
