// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Which type an array element is computed in, and how it gets there.
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/format/bf16.hpp>
#include <isobit/format/e2m1.hpp>
#include <isobit/format/e2m3.hpp>
#include <isobit/format/e3m2.hpp>
#include <isobit/format/e4m3.hpp>
#include <isobit/format/e5m2.hpp>
#include <isobit/format/f16.hpp>

namespace isobit::inline bits1 {

//! How an element of type `T` is read: `value` is the type that arithmetic uses, `decode` the exact conversion.
//! `T` itself for float, double, integers and user types; float for the formats of 16 bits or fewer. Specialise it for
//! a storage type of your own.
template <class T> struct element_traits {
  using value = T;
  ISOBIT_HD static constexpr value decode(T const& x) { return x; }
};

namespace detail {

//! `decode(x)` in fewer instructions, for devices: the mantissa and exponent of the code, read as a float, are off by a
//! power of two, and one exact multiplication puts that right, subnormal codes included. A NaN stays a NaN, with
//! another payload. Precondition: subnormal floats are not flushed (true for `mul` on every device).
template <small_float T> ISOBIT_HD constexpr float decode_by_scaling(T x) {
  using fields = float_fields<float>;
  constexpr small_float_format f = T::format;
  uint32_t const magnitude = x.bits & f.magnitude();
  uint32_t const sign = static_cast<uint32_t>(x.bits & f.sign()) << (31 - f.exponent_bits - f.mantissa_bits);
  float const moved = from_bits<float>(magnitude << (fields::mantissa_bits - f.mantissa_bits));
  uint32_t bits = to_bits(moved);
  if constexpr (f.exponent_bits < fields::exponent_bits) {
    constexpr float scale = from_bits<float>(static_cast<uint32_t>(2 * fields::bias - f.bias) << fields::mantissa_bits);
    bits = to_bits(mul(moved, scale));
    if (f.special == specials::ieee && magnitude >= f.infinity()) bits |= fields::exponent;
    if (f.special == specials::one_nan && magnitude == f.magnitude()) bits = fields::quiet_nan;
  }
  return from_bits<float>(bits | sign);
}

} // namespace detail

//! On a device by `detail::decode_by_scaling`, elsewhere by `decode`: the same numbers, NaNs with other payloads, which
//! `finish` makes canonical.
template <small_float T> struct element_traits<T> {
  using value = float;
  ISOBIT_HD static constexpr value decode(T const& x) {
#if defined(ISOBIT_ON_DEVICE)
    if (!__builtin_is_constant_evaluated()) return detail::decode_by_scaling(x);
#endif
    return isobit::decode(x);
  }
};

//! The type in which elements of type `T` are computed.
template <class T> using element_value = typename element_traits<T>::value;

//! The value of an element, exactly.
template <class T> ISOBIT_HD constexpr element_value<T> decode_element(T const& x) {
  return element_traits<T>::decode(x);
}

//! The element of type `T` that holds the result `x`: for a format of 16 bits or fewer its nearest code, ties to even,
//! rounded once (a NaN becomes the format's); for all other types `x` converted.
template <class T, class R> ISOBIT_HD constexpr T encode_element(R const& x) {
  if constexpr (small_float<T>)
    return encode<T>(x);
  else
    return static_cast<T>(x);
}

} // namespace isobit::inline bits1
