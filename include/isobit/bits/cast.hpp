// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Floating-point numbers as integers: the bit pattern, its fields, and tests of class. Integer operations only, so
//! that no compiler flag (flush-to-zero, finite-math-only) can change an answer.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The value of type `To` with the bytes of `from`. Usable in constant expressions, on the host and on the device.
template <class To, class From>
  requires(sizeof(To) == sizeof(From))
ISOBIT_HD constexpr To bit_cast(From const& from) {
  return __builtin_bit_cast(To, from);
}

//! The fields of an IEEE 754 binary type.
template <class T> struct float_fields;

template <> struct float_fields<float> {
  using bits = uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr int exponent_bits = 8;
  static constexpr int bias = 127;
  static constexpr bits sign = 0x80000000u;
  static constexpr bits exponent = 0x7f800000u; //!< also the pattern of +infinity
  static constexpr bits mantissa = 0x007fffffu;
  static constexpr bits quiet_nan = 0x7fc00000u; //!< the one NaN that isobit returns
};

template <> struct float_fields<double> {
  using bits = uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr int exponent_bits = 11;
  static constexpr int bias = 1023;
  static constexpr bits sign = 0x8000000000000000u;
  static constexpr bits exponent = 0x7ff0000000000000u;
  static constexpr bits mantissa = 0x000fffffffffffffu;
  static constexpr bits quiet_nan = 0x7ff8000000000000u;
};

//! `float` or `double`.
template <class T>
concept ieee_float = stl::same_as<T, float> || stl::same_as<T, double>;

template <ieee_float T> using float_bits = typename float_fields<T>::bits;

//! The bit pattern of `x`.
template <ieee_float T> ISOBIT_HD constexpr float_bits<T> to_bits(T x) { return bit_cast<float_bits<T>>(x); }
//! The number with the bit pattern `b`.
template <ieee_float T> ISOBIT_HD constexpr T from_bits(float_bits<T> b) { return bit_cast<T>(b); }

template <ieee_float T> ISOBIT_HD constexpr float_bits<T> magnitude_bits(T x) {
  return to_bits(x) & ~float_fields<T>::sign;
}

template <ieee_float T> ISOBIT_HD constexpr bool is_nan(T x) { return magnitude_bits(x) > float_fields<T>::exponent; }
template <ieee_float T> ISOBIT_HD constexpr bool is_inf(T x) { return magnitude_bits(x) == float_fields<T>::exponent; }
template <ieee_float T> ISOBIT_HD constexpr bool is_finite(T x) { return magnitude_bits(x) < float_fields<T>::exponent; }
//! True for +0 and -0 only; subnormal numbers are not zero here, whatever the flags.
template <ieee_float T> ISOBIT_HD constexpr bool is_zero(T x) { return magnitude_bits(x) == 0; }
template <ieee_float T> ISOBIT_HD constexpr bool sign_bit(T x) { return (to_bits(x) & float_fields<T>::sign) != 0; }
template <ieee_float T> ISOBIT_HD constexpr bool is_subnormal(T x) {
  return magnitude_bits(x) != 0 && magnitude_bits(x) <= float_fields<T>::mantissa;
}

//! `x`, with every NaN replaced by the one positive quiet NaN: processors differ in the NaN that they make.
template <ieee_float T> ISOBIT_HD constexpr T canonical(T x) {
  return is_nan(x) ? from_bits<T>(float_fields<T>::quiet_nan) : x;
}

} // namespace isobit::inline bits1
