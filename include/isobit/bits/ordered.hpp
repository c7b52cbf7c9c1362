// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Floating-point numbers in their order, as integers: a monotone mapping, the distance in units in the last place, and
//! the neighbours of a number.
#pragma once

#include <isobit/bits/cast.hpp>

namespace isobit::inline bits1 {

namespace detail {
template <class T> struct ordered_types;
template <> struct ordered_types<float> {
  using with_sign = int32_t;
};
template <> struct ordered_types<double> {
  using with_sign = int64_t;
};
} // namespace detail

//! The signed integer type as wide as `T`.
template <ieee_float T> using ordered_int = typename detail::ordered_types<T>::with_sign;

//! `x` as a signed integer, monotone in the total order of IEEE 754-2019 section 5.10:
//! -NaN < -infinity < ... < -0 < +0 < ... < +infinity < +NaN. -0 maps to -1 and +0 to 0. NaNs are ordered by payload.
//! Adjacent numbers map to adjacent integers. One shift, one shift and one exclusive or.
template <ieee_float T> ISOBIT_HD constexpr ordered_int<T> to_ordered(T x) {
  auto const b = static_cast<ordered_int<T>>(to_bits(x));
  auto const all_ones_if_negative = static_cast<float_bits<T>>(b >> (sizeof(T) * 8 - 1));
  return static_cast<ordered_int<T>>(to_bits(x) ^ (all_ones_if_negative >> 1));
}
//! The inverse of `to_ordered`.
template <ieee_float T> ISOBIT_HD constexpr T from_ordered(ordered_int<T> i) {
  auto const all_ones_if_negative = static_cast<float_bits<T>>(i >> (sizeof(T) * 8 - 1));
  return from_bits<T>(static_cast<float_bits<T>>(i) ^ (all_ones_if_negative >> 1));
}

//! `to_ordered` shifted to the unsigned integers, for unsigned atomic maxima and radix sorts: -NaN maps lowest.
template <ieee_float T> ISOBIT_HD constexpr float_bits<T> to_ordered_unsigned(T x) {
  return static_cast<float_bits<T>>(to_ordered(x)) ^ float_fields<T>::sign;
}
//! The inverse of `to_ordered_unsigned`.
template <ieee_float T> ISOBIT_HD constexpr T from_ordered_unsigned(float_bits<T> u) {
  return from_ordered<T>(static_cast<ordered_int<T>>(u ^ float_fields<T>::sign));
}

//! How many steps from one representable number to the next lead from `a` to `b`. -0 and +0 are the same place;
//! infinity is one step beyond the largest finite number. Two NaNs are 0 apart; a NaN and a number are the largest
//! unsigned integer apart.
template <ieee_float T> ISOBIT_HD constexpr float_bits<T> ulp_distance(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b) ? 0 : static_cast<float_bits<T>>(~float_bits<T>(0));
  auto const place = [](T x) { // two's complement of the signed magnitude
    return sign_bit(x) ? float_bits<T>(0) - magnitude_bits(x) : magnitude_bits(x);
  };
  bool const a_is_lower = to_ordered(a) < to_ordered(b);
  return a_is_lower ? place(b) - place(a) : place(a) - place(b);
}

//! The least number greater than `x` (nextUp of IEEE 754-2019 section 5.3.1): of either zero, the smallest subnormal; of
//! the negative smallest subnormal, -0; of +infinity, +infinity. A NaN gives the canonical NaN.
template <ieee_float T> ISOBIT_HD constexpr T next_up(T x) {
  if (is_nan(x)) return canonical(x);
  if (is_zero(x)) return from_bits<T>(1);
  if (to_bits(x) == float_fields<T>::exponent) return x;
  return from_ordered<T>(to_ordered(x) + 1);
}
//! The greatest number less than `x`: -next_up(-x).
template <ieee_float T> ISOBIT_HD constexpr T next_down(T x) {
  if (is_nan(x)) return canonical(x);
  return from_bits<T>(to_bits(next_up(from_bits<T>(to_bits(x) ^ float_fields<T>::sign))) ^ float_fields<T>::sign);
}

} // namespace isobit::inline bits1
