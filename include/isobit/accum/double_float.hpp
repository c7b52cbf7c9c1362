// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The double-word sum: every node carries an unevaluated sum of two numbers, twice the precision of one.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/arith/eft.hpp>

namespace isobit::inline bits1 {

//! A number in two words. Usually its value is `high + low`, with `high` the nearest `T` to the value, so that
//! |low| <= |high|. Where |low| > |high| the words are exchanged and scaled: the value is (low + high) * 2^192 (float) or
//! 2^1152 (double), and `low` the nearest to the scaled value. So are sums of 2^126 (float) or 2^1022 (double) and more
//! kept, once an operand was as large: sums far beyond the largest finite number need no third word.
template <ieee_float T> struct double_word {
  T high;
  T low;
};

namespace detail {

template <class T> struct double_word_scale;
template <> struct double_word_scale<float> {
  static constexpr float down = 0x1p-96f, up = 0x1p96f; // applied twice
  static constexpr uint32_t large = 0x7e800000u;        // the bits of 2^126
  static constexpr uint32_t large_scaled = 0x1e800000u; // of 2^-66
};
template <> struct double_word_scale<double> {
  static constexpr double down = 0x1p-576, up = 0x1p576;
  static constexpr uint64_t large = 0x7fd0000000000000u;        // 2^1022
  static constexpr uint64_t large_scaled = 0x37d0000000000000u; // 2^-130
};

template <ieee_float T> ISOBIT_HD constexpr T scale_down(T x) {
  return mul(mul(x, double_word_scale<T>::down), double_word_scale<T>::down);
}
template <ieee_float T> ISOBIT_HD constexpr T scale_up(T x) {
  return mul(mul(x, double_word_scale<T>::up), double_word_scale<T>::up);
}
template <ieee_float T> ISOBIT_HD constexpr bool is_scaled(double_word<T> s) {
  return magnitude_bits(s.low) > magnitude_bits(s.high);
}

template <ieee_float T> ISOBIT_HD constexpr bool is_large(double_word<T> s) {
  return magnitude_bits(s.high) >= double_word_scale<T>::large || is_scaled(s);
}
template <ieee_float T> ISOBIT_HD constexpr double_word<T> to_scaled(double_word<T> s) {
  return is_scaled(s) ? double_word<T>{s.low, s.high} : double_word<T>{scale_down(s.high), scale_down(s.low)};
}
// Infinities and NaNs are no scaled numbers.
template <ieee_float T> ISOBIT_HD constexpr double_word<T> from_scaled(double_word<T> s) {
  if (magnitude_bits(s.high) < double_word_scale<T>::large_scaled) return {scale_up(s.high), scale_up(s.low)};
  return is_finite(s.high) ? double_word<T>{s.low, s.high} : double_word<T>{s.high, T(0)};
}

// AccurateDWPlusDW: Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of double-word
// arithmetic, ACM TOMS 44 (2017), algorithm 6. 20 operations; relative error at most 3u^2 / (1 - 4u).
template <ieee_float T> ISOBIT_HD constexpr double_word<T> add_double_words(double_word<T> a, double_word<T> b) {
  auto const s = two_sum(a.high, b.high);
  auto const t = two_sum(a.low, b.low);
  auto const v = fast_two_sum(s.value, add(s.error, t.value));
  auto const z = fast_two_sum(v.value, add(t.error, v.error));
  // -0 + -0 would lose its sign in the additions of +0, an infinity become NaN by its error term.
  bool const done = to_bits(s.value) == float_fields<T>::sign || !is_finite(s.value);
  return {done ? s.value : z.value, z.error};
}

// x * y exactly. Precondition: its low half is not below the smallest subnormal.
template <ieee_float T> ISOBIT_HD constexpr double_word<T> product_in_two_words(T x, T y) {
  auto const p = two_product(x, y);
  if (magnitude_bits(p.value) < double_word_scale<T>::large) return {p.value, p.error};
  if (!is_finite(x) || !is_finite(y)) return {p.value, T(0)};
  // Both factors are at least 2^-2, or the product would not be so large.
  auto const scaled = two_product(mul(x, double_word_scale<T>::down), mul(y, double_word_scale<T>::down));
  return {scaled.error, scaled.value};
}

} // namespace detail

//! The sum in double-word arithmetic. 20 floating-point operations and about 12 integer operations a node.
//!
//! Node: `AccurateDWPlusDW` (Joldes, Muller and Popescu 2017) of the two states: TwoSum of the high words, TwoSum of the
//! low words, two FastTwoSum. Relative error of a node at most 3u^2 / (1 - 4u) with u the unit roundoff of `T`
//! (2^-24, 2^-53). `finish` rounds once.
//!
//! Error: for n finite inputs x_i, with h = ceil(log2 n) the depth of the tree, |result - sum x_i| <= u |sum x_i| +
//! 4 h u^2 sum |x_i|, for 4 h u^2 < 1/100. Underflow does no harm: sums are exact there.
//!
//! Overflow: none, unless the result itself rounds to infinity. Sums of 2^126 (float) or 2^1022 (double) and more are
//! kept scaled (`double_word`), which costs their low word what lies below 2^43 or 2^78.
//!
//! Special values: an infinite or NaN input gives what IEEE addition of the inputs gives, whatever finite numbers are
//! beside it; the error terms of such sums are dropped. A NaN result is the canonical NaN. The sum of -0 alone is -0;
//! the sum of nothing is +0.
//!
//! Level: run-to-run, geometry, target, partition and neighbourhood. Not order-free.
template <ieee_float T> struct double_float {
  using input = T;
  using state = double_word<T>;
  using result = T;
  //! Both the TwoSums and the scaling are symmetric.
  static constexpr bool commutative = true;

  ISOBIT_HD constexpr state lift(T x) const { return {x, T(0)}; }

  ISOBIT_HD constexpr state combine(state left, state right) const {
    bool const large = detail::is_large(left) || detail::is_large(right);
    if (large) {
      left = detail::to_scaled(left);
      right = detail::to_scaled(right);
    }
    state const sum = detail::add_double_words(left, right);
    return large ? detail::from_scaled(sum) : sum;
  }

  ISOBIT_HD constexpr T finish(state s) const {
    return detail::is_scaled(s) ? detail::scale_up(s.low) : canonical(s.high);
  }

  ISOBIT_HD constexpr T empty() const { return T(0); }
};

} // namespace isobit::inline bits1
