// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Error-free transforms: a rounded sum or product together with its rounding error, which is a floating-point number
//! too. Scalar (constexpr, host and device) and for vectors (host). Built from arith/op.hpp, so no flag can simplify the
//! error to zero.
//!
//! Guarantee: target. Preconditions are stated at each; where one is not met, `value` still is the IEEE result, and
//! `error` is meaningless or NaN, with the same bits everywhere up to a NaN's payload.
//!
//! Sources: D. E. Knuth, The Art of Computer Programming 2, section 4.2.2 (1969); O. Møller, Quasi double-precision in
//! floating point addition, BIT 5 (1965); T. J. Dekker, A floating-point technique for extending the available precision,
//! Numer. Math. 18 (1971); T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005);
//! S. Boldo, S. Graillat, J.-M. Muller, On the robustness of the 2Sum and Fast2Sum algorithms, ACM TOMS 44 (2017).
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/arith/vector.hpp>

namespace isobit::inline bits1 {

//! `value + error` is exact, and `value` is the nearest number to it. `T` is a scalar or a vector.
template <class T> struct with_error {
  T value;
  T error;
};

//! `high + low` is exact; each part has half of the significand's bits, so that products of parts are exact.
template <class T> struct split_parts {
  T high;
  T low;
};

namespace detail {
//! 2^s + 1, where s is half of the significand's bits, rounded up.
template <class T> inline constexpr T split_factor = sizeof(T) == 4 ? T(4097) : T(134217729);
} // namespace detail

//! a + b and its error (Møller, Knuth). 6 operations.
//! Precondition: a + b does not overflow (and |a| is not the largest finite number). Underflow does no harm.
template <ieee_float T> ISOBIT_HD constexpr with_error<T> two_sum(T a, T b) {
  T const s = add(a, b);
  T const b_part = sub(s, a);
  T const a_part = sub(s, b_part);
  return {s, add(sub(a, a_part), sub(b, b_part))};
}

//! a - b and its error. 6 operations; preconditions of `two_sum`.
template <ieee_float T> ISOBIT_HD constexpr with_error<T> two_difference(T a, T b) {
  T const s = sub(a, b);
  T const b_part = sub(s, a);
  T const a_part = sub(s, b_part);
  return {s, sub(sub(a, a_part), add(b, b_part))};
}

//! a + b and its error (Dekker). 3 operations.
//! Preconditions: |a| >= |b|, or a's exponent is at least b's, or a is zero; a + b does not overflow.
template <ieee_float T> ISOBIT_HD constexpr with_error<T> fast_two_sum(T a, T b) {
  T const s = add(a, b);
  return {s, sub(b, sub(s, a))};
}

//! a * b and its error by a fused multiply-add. 2 operations (and a sign).
//! Preconditions: a * b does not overflow, and its error does not underflow: exponent(a) + exponent(b) is at least -103
//! (float) or -970 (double), or a or b is zero.
template <ieee_float T> ISOBIT_HD constexpr with_error<T> two_product(T a, T b) {
  T const p = mul(a, b);
  return {p, fma(a, b, neg(p))};
}

//! `x` in two parts of 12 + 11 bits and a sign (float) or 26 + 26 (double) (Veltkamp, Dekker). 4 operations.
//! Precondition: |x| < 2^115 (float) or 2^996 (double).
template <ieee_float T> ISOBIT_HD constexpr split_parts<T> split(T x) {
  T const c = mul(detail::split_factor<T>, x);
  T const high = sub(c, sub(c, x));
  return {high, sub(x, high)};
}

//! a * b and its error without a fused multiply-add (Dekker). 17 operations; the bits of `two_product`.
//! Preconditions: those of `two_product` and of `split` for both.
template <ieee_float T> ISOBIT_HD constexpr with_error<T> two_product_split(T a, T b) {
  T const p = mul(a, b);
  auto const x = split(a), y = split(b);
  T const rest = sub(sub(sub(p, mul(x.high, y.high)), mul(x.low, y.high)), mul(x.high, y.low));
  return {p, sub(mul(x.low, y.low), rest)};
}

#if !defined(__CUDACC_RTC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
//! The same transforms on each element of vectors (arith/vector.hpp): the same bits as the scalar forms.
template <float_vector V> [[gnu::always_inline]] inline with_error<V> two_sum(V const& a, V const& b) {
  V const s = add(a, b);
  V const b_part = sub(s, a);
  V const a_part = sub(s, b_part);
  return {s, add(sub(a, a_part), sub(b, b_part))};
}
template <float_vector V> [[gnu::always_inline]] inline with_error<V> two_difference(V const& a, V const& b) {
  V const s = sub(a, b);
  V const b_part = sub(s, a);
  V const a_part = sub(s, b_part);
  return {s, sub(sub(a, a_part), add(b, b_part))};
}
template <float_vector V> [[gnu::always_inline]] inline with_error<V> fast_two_sum(V const& a, V const& b) {
  V const s = add(a, b);
  return {s, sub(b, sub(s, a))};
}
template <float_vector V> [[gnu::always_inline]] inline with_error<V> two_product(V const& a, V const& b) {
  V const p = mul(a, b);
  return {p, fma(a, b, neg(p))};
}
template <float_vector V> [[gnu::always_inline]] inline split_parts<V> split(V const& x) {
  V const c = mul(broadcast<V>(detail::split_factor<element_of<V>>), x);
  V const high = sub(c, sub(c, x));
  return {high, sub(x, high)};
}
template <float_vector V> [[gnu::always_inline]] inline with_error<V> two_product_split(V const& a, V const& b) {
  V const p = mul(a, b);
  auto const x = split(a), y = split(b);
  V const rest = sub(sub(sub(p, mul(x.high, y.high)), mul(x.low, y.high)), mul(x.high, y.low));
  return {p, sub(mul(x.low, y.low), rest)};
}
#pragma GCC diagnostic pop
#endif

} // namespace isobit::inline bits1
