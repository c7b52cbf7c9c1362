// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! IEEE 754 arithmetic in integers, rounded to nearest even: what the operations of arith/op.hpp are in constant
//! expressions where the compiler refuses (overflow, NaN, division by zero, fma, sqrt), and where a host has no fused
//! multiply-add. Slow (tens of nanoseconds), independent of every flag and of the rounding mode.
#pragma once

#include <isobit/bits/cast.hpp>

namespace isobit::inline bits1 {
namespace soft {
namespace detail {

//! 128 bits without a 128-bit type (NVRTC has none by default).
struct wide {
  uint64_t high = 0, low = 0;

  ISOBIT_HD constexpr bool is_zero() const { return (high | low) == 0; }
  ISOBIT_HD constexpr bool less(wide b) const { return high < b.high || (high == b.high && low < b.low); }
  ISOBIT_HD constexpr wide plus(wide b) const {
    uint64_t const l = low + b.low;
    return {high + b.high + (l < low ? 1u : 0u), l};
  }
  ISOBIT_HD constexpr wide minus(wide b) const { return {high - b.high - (low < b.low ? 1u : 0u), low - b.low}; }
  ISOBIT_HD constexpr wide left(int n) const {
    if (n == 0) return *this;
    if (n >= 64) return {low << (n - 64), 0};
    return {(high << n) | (low >> (64 - n)), low << n};
  }
  //! Shifted right; bits that fall off set the lowest bit ("jamming"), which keeps every later rounding right.
  ISOBIT_HD constexpr wide right_sticky(int n) const {
    if (n == 0) return *this;
    if (n >= 128) return {0, is_zero() ? 0u : 1u};
    if (n > 64) {
      uint64_t const lost = (high << (128 - n)) | low;
      return {0, (high >> (n - 64)) | (lost != 0 ? 1u : 0u)};
    }
    if (n == 64) return {0, high | (low != 0 ? 1u : 0u)};
    return {high >> n, (high << (64 - n)) | (low >> n) | ((low << (64 - n)) != 0 ? 1u : 0u)};
  }
  //! The position of the highest set bit; the value is not zero.
  ISOBIT_HD constexpr int top() const {
    uint64_t word = high != 0 ? high : low;
    int position = high != 0 ? 64 : 0;
    for (int step = 32; step != 0; step /= 2)
      if ((word >> step) != 0) {
        word >>= step;
        position += step;
      }
    return position;
  }
};

ISOBIT_HD constexpr wide product(uint64_t a, uint64_t b) {
  uint64_t const a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t const middle = a1 * b0 + ((a0 * b0) >> 32);
  uint64_t const other = a0 * b1 + (middle & 0xffffffffu);
  return {a1 * b1 + (middle >> 32) + (other >> 32), a * b};
}

//! A finite number as mantissa * 2^exponent.
struct parts {
  uint64_t mantissa;
  int exponent;
};
template <ieee_float T> inline constexpr int lowest_exponent = 1 - float_fields<T>::bias - float_fields<T>::mantissa_bits;

template <ieee_float T> ISOBIT_HD constexpr parts unpack(T x) {
  using f = float_fields<T>;
  auto const e = static_cast<int>(magnitude_bits(x) >> f::mantissa_bits);
  uint64_t const m = to_bits(x) & f::mantissa;
  if (e == 0) return {m, lowest_exponent<T>};
  return {m | (uint64_t(1) << f::mantissa_bits), e - 1 + lowest_exponent<T>};
}

//! (-1)^negative * value * 2^exponent rounded to nearest, ties to even; `value` may carry a sticky lowest bit if it has at
//! least two bits more than `T`'s significand.
template <ieee_float T> ISOBIT_HD constexpr T round_and_pack(bool negative, wide value, int exponent) {
  using f = float_fields<T>;
  float_bits<T> const sign = negative ? f::sign : 0;
  if (value.is_zero()) return from_bits<T>(sign);
  int last = exponent + value.top() - f::mantissa_bits; // the exponent of the result's last place
  if (last < lowest_exponent<T>) last = lowest_exponent<T>;
  if (last - lowest_exponent<T> >= (1 << f::exponent_bits)) return from_bits<T>(sign | f::exponent);
  int const shift = last - exponent;
  uint64_t kept = 0;
  if (shift <= 0) {
    kept = value.left(-shift).low;
  } else {
    // Two bits below the last place: the half, and whether anything is below it.
    uint64_t const q = shift >= 2 ? value.right_sticky(shift - 2).low : value.left(2 - shift).low;
    kept = q >> 2;
    if ((q & 3) == 3 || ((q & 3) == 2 && (kept & 1) != 0)) ++kept;
  }
  // A carry out of the significand moves into the exponent by itself.
  uint64_t const magnitude = (static_cast<uint64_t>(last - lowest_exponent<T>) << f::mantissa_bits) + kept;
  if (magnitude >= f::exponent) return from_bits<T>(sign | f::exponent);
  return from_bits<T>(sign | static_cast<float_bits<T>>(magnitude));
}

template <ieee_float T> ISOBIT_HD constexpr T nan() { return from_bits<T>(float_fields<T>::quiet_nan); }
template <ieee_float T> ISOBIT_HD constexpr T infinity(bool negative) {
  return from_bits<T>(float_fields<T>::exponent | (negative ? float_fields<T>::sign : 0));
}
template <ieee_float T> ISOBIT_HD constexpr T zero(bool negative) {
  return from_bits<T>(negative ? float_fields<T>::sign : 0);
}
} // namespace detail

//! a * b + c, rounded once. A NaN result is the canonical NaN.
template <ieee_float T> ISOBIT_HD constexpr T fma(T a, T b, T c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return detail::nan<T>();
  bool const product_negative = sign_bit(a) != sign_bit(b);
  if (is_inf(a) || is_inf(b)) {
    if (is_zero(a) || is_zero(b)) return detail::nan<T>();
    if (is_inf(c) && sign_bit(c) != product_negative) return detail::nan<T>();
    return detail::infinity<T>(product_negative);
  }
  if (is_inf(c)) return c;
  if (is_zero(a) || is_zero(b)) {
    if (is_zero(c)) return detail::zero<T>(product_negative && sign_bit(c));
    return c;
  }
  auto const pa = detail::unpack(a), pb = detail::unpack(b), pc = detail::unpack(c);
  auto product = detail::product(pa.mantissa, pb.mantissa);
  int product_exponent = pa.exponent + pb.exponent;
  if (pc.mantissa == 0) return detail::round_and_pack<T>(product_negative, product, product_exponent);
  detail::wide addend{0, pc.mantissa};
  int addend_exponent = pc.exponent;

  // Both with the highest bit at 125: at most 106 bits are used, so an alignment that loses bits is by more than 19
  // places, and then a subtraction cancels at most one place.
  int const product_shift = 125 - product.top(), addend_shift = 125 - addend.top();
  product = product.left(product_shift);
  product_exponent -= product_shift;
  addend = addend.left(addend_shift);
  addend_exponent -= addend_shift;

  bool const product_larger =
      product_exponent > addend_exponent || (product_exponent == addend_exponent && addend.less(product));
  auto const larger = product_larger ? product : addend;
  auto const smaller = product_larger ? addend : product;
  int const exponent = product_larger ? product_exponent : addend_exponent;
  int const distance = exponent - (product_larger ? addend_exponent : product_exponent);
  bool const negative = product_larger ? product_negative : sign_bit(c);
  auto const aligned = smaller.right_sticky(distance);
  if (product_negative == sign_bit(c)) return detail::round_and_pack<T>(negative, larger.plus(aligned), exponent);
  auto const difference = larger.minus(aligned);
  return detail::round_and_pack<T>(negative && !difference.is_zero(), difference, exponent);
}

//! a + b.
template <ieee_float T> ISOBIT_HD constexpr T add(T a, T b) { return fma(a, T(1), b); }
//! a - b.
template <ieee_float T> ISOBIT_HD constexpr T sub(T a, T b) {
  return fma(a, T(1), from_bits<T>(to_bits(b) ^ float_fields<T>::sign));
}
//! a * b.
template <ieee_float T> ISOBIT_HD constexpr T mul(T a, T b) {
  return fma(a, b, detail::zero<T>(sign_bit(a) != sign_bit(b)));
}

//! a / b.
template <ieee_float T> ISOBIT_HD constexpr T div(T a, T b) {
  bool const negative = sign_bit(a) != sign_bit(b);
  if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b)) || (is_zero(a) && is_zero(b))) return detail::nan<T>();
  if (is_inf(a) || is_zero(b)) return detail::infinity<T>(negative);
  if (is_zero(a) || is_inf(b)) return detail::zero<T>(negative);
  constexpr int p = float_fields<T>::mantissa_bits;
  auto pa = detail::unpack(a), pb = detail::unpack(b);
  int const shift_a = p - detail::wide{0, pa.mantissa}.top(), shift_b = p - detail::wide{0, pb.mantissa}.top();
  uint64_t rest = pa.mantissa << shift_a;
  uint64_t const divisor = pb.mantissa << shift_b;
  int const exponent = (pa.exponent - shift_a) - (pb.exponent - shift_b) - (p + 3);
  uint64_t quotient = 0;
  for (int i = 0; i <= p + 3; ++i) { // rest < 2 * divisor throughout
    bool const fits = rest >= divisor;
    quotient = (quotient << 1) | (fits ? 1u : 0u);
    rest = (rest - (fits ? divisor : 0)) << 1;
  }
  return detail::round_and_pack<T>(negative, {0, quotient << 1 | (rest != 0 ? 1u : 0u)}, exponent - 1);
}

//! The square root of `x`. That of -0 is -0; of a negative number, NaN.
template <ieee_float T> ISOBIT_HD constexpr T sqrt(T x) {
  if (is_nan(x)) return detail::nan<T>();
  if (is_zero(x)) return x;
  if (sign_bit(x)) return detail::nan<T>();
  if (is_inf(x)) return x;
  constexpr int p = float_fields<T>::mantissa_bits;
  auto parts = detail::unpack(x);
  int const shift = p - detail::wide{0, parts.mantissa}.top();
  uint64_t radicand = parts.mantissa << shift;
  int exponent = parts.exponent - shift;
  if (exponent % 2 != 0) {
    radicand <<= 1;
    --exponent;
  }
  // Digit by digit, two bits of the radicand for one of the root; zeros follow the radicand. rest <= 2 * root.
  constexpr int integer_digits = (p + 3) / 2, digits = p + 4;
  uint64_t root = 0, rest = 0;
  for (int i = 0; i < digits; ++i) {
    int const position = 2 * (integer_digits - 1 - i);
    uint64_t const two = position >= 0 ? (radicand >> position) & 3 : 0;
    rest = rest << 2 | two;
    uint64_t const trial = root << 2 | 1;
    bool const fits = rest >= trial;
    if (fits) rest -= trial;
    root = root << 1 | (fits ? 1u : 0u);
  }
  return detail::round_and_pack<T>(false, {0, root << 1 | (rest != 0 ? 1u : 0u)},
                                   exponent / 2 - (digits - integer_digits) - 1);
}

//! A binary64 number rounded once to binary32, or a binary32 number exactly as binary64.
template <ieee_float To, ieee_float From> ISOBIT_HD constexpr To convert(From x) {
  if (is_nan(x)) return detail::nan<To>();
  if (is_inf(x)) return detail::infinity<To>(sign_bit(x));
  auto const p = detail::unpack(x);
  return detail::round_and_pack<To>(sign_bit(x), {0, p.mantissa}, p.exponent);
}

//! An integer of at most 64 bits, rounded once.
template <ieee_float To, stl::integral From> ISOBIT_HD constexpr To convert(From x) {
  static_assert(sizeof(From) <= 8, "isobit: convert takes integers of at most 64 bits");
  bool negative = false;
  if constexpr (stl::is_signed_v<From>) negative = x < 0;
  uint64_t const magnitude = negative ? uint64_t(0) - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  return detail::round_and_pack<To>(negative, {0, magnitude}, 0);
}

} // namespace soft
} // namespace isobit::inline bits1
