// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Count, mean and variance (and the range, if wanted) of a sequence, merged pairwise.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/arith/eft.hpp>

namespace isobit::inline bits1 {

//! What a node of `moments` knows of its elements. All zero: no element. Merging with that changes nothing.
template <ieee_float T> struct moments_state {
  uint64_t count;
  T mean, mean_rest;       //!< the mean is the exact sum of the two; the first is the nearest `T`
  T squares, squares_rest; //!< the sum of the squared deviations from the mean (M2), in two parts as well
};
template <ieee_float T> struct ranged_moments_state {
  uint64_t count;
  T mean, mean_rest, squares, squares_rest;
  T min, max;
};

//! The moments of `count` elements; NaN where there is none to tell.
template <ieee_float T> struct moments_result {
  uint64_t count;
  T mean;            //!< NaN for no element
  T mean_rest;       //!< what `mean` lost in rounding: deviations are (x - mean) - mean_rest
  T variance;        //!< of the population, M2 / count; NaN for no element
  T sample_variance; //!< unbiased, M2 / (count - 1); NaN for fewer than two elements
};
template <ieee_float T> struct ranged_moments_result {
  uint64_t count;
  T mean, mean_rest, variance, sample_variance;
  T min, max; //!< -0 < +0; NaN if an element is NaN, or for no element
};

namespace detail {

template <ieee_float T> inline constexpr T one_nan = from_bits<T>(float_fields<T>::quiet_nan);

template <ieee_float T> ISOBIT_HD constexpr T finite_or_zero(T x) { return is_finite(x) ? x : T(0); }

// Nodes whose means are infinite, NaN, or further apart than the largest number.
template <ieee_float T, class State> ISOBIT_HD constexpr void merge_far_moments(State& a, State const& b, T left, T share) {
  bool const defined = is_finite(a.mean) && is_finite(b.mean) && !is_nan(a.squares) && !is_nan(b.squares);
  a.squares = defined ? from_bits<T>(float_fields<T>::exponent) : one_nan<T>;
  if (is_finite(a.mean) && is_finite(b.mean))
    a.mean = add(mul(a.mean, left), mul(b.mean, share)); // shares of two finite numbers: no overflow
  else
    a.mean = add(a.mean, b.mean);
  a.mean_rest = T(0);
  a.squares_rest = T(0);
}

template <ieee_float T, class State> ISOBIT_HD constexpr void merge_moments(State& a, State const& b) {
  T const left = convert<T>(a.count);
  // Most nodes of the tree are full: 2^k / 2^(k + 1) is 1/2 without a division.
  T const share = a.count == b.count ? T(0.5) : div(convert<T>(b.count), convert<T>(a.count + b.count));
  auto const apart = two_difference(b.mean, a.mean);
  if (is_finite(apart.value)) {
    T const apart_rest = finite_or_zero(add(apart.error, sub(b.mean_rest, a.mean_rest)));
    T const delta = add(apart.value, apart_rest);

    auto const mean = two_sum(a.mean, mul(apart.value, share));
    T const rest = add(add(mean.error, a.mean_rest), mul(apart_rest, share));
    auto const normal = fast_two_sum(mean.value, finite_or_zero(rest));
    // -0 and -0 have the mean -0; additions of +0 would lose its sign.
    bool const minus_zero = to_bits(a.mean) == float_fields<T>::sign && to_bits(b.mean) == float_fields<T>::sign;
    if (!minus_zero) a.mean = normal.value;
    a.mean_rest = normal.error;

    auto const within = two_sum(a.squares, b.squares);
    auto const all = two_sum(within.value, mul(mul(delta, delta), mul(left, share)));
    a.squares = all.value;
    a.squares_rest = finite_or_zero(add(add(a.squares_rest, b.squares_rest), add(within.error, all.error)));
  } else {
    merge_far_moments<T>(a, b, div(left, convert<T>(a.count + b.count)), share);
  }
  a.count += b.count;
}

template <class Result, ieee_float T, class State> ISOBIT_HD constexpr Result finished_moments(State const& s) {
  Result r{};
  T const squares = is_finite(s.squares) ? add(s.squares, s.squares_rest) : s.squares;
  r.count = s.count;
  r.mean = s.count > 0 ? canonical(s.mean) : one_nan<T>;
  r.mean_rest = s.mean_rest;
  r.variance = s.count > 0 ? canonical(div(squares, convert<T>(s.count))) : one_nan<T>;
  r.sample_variance = s.count > 1 ? canonical(div(squares, convert<T>(s.count - 1))) : one_nan<T>;
  return r;
}

} // namespace detail

//! Count, mean and variance in one pass without cancellation, merged by the formulas of Chan, Golub and LeVeque (Updating
//! formulae and a pairwise algorithm for computing sample variances, 1979), with the mean and the squares kept in two
//! words: a variance is as good when all elements are near 10000 as when they are near 0. About 40 operations a node; a
//! division more where the two counts differ.
//!
//! Node, every operation rounded once in `T`, counts converted to `T`; `x + y =: (s, e)` is TwoSum, `=: fast` FastTwoSum:
//!
//!     share = right.count / (left.count + right.count)
//!     right.mean - left.mean =: (apart, e);   apart_rest = e + (right.mean_rest - left.mean_rest)
//!     left.mean + apart * share =: (m, e);    m + ((e + left.mean_rest) + apart_rest * share) =: fast (mean, mean_rest)
//!     delta = apart + apart_rest
//!     left.squares + right.squares =: (w, e)
//!     w + (delta * delta) * (left.count * share) =: (squares, f)
//!     squares_rest = (left.squares_rest + right.squares_rest) + (e + f)
//!
//! A node without elements is skipped, not divided by. `count` is exact. `squares` is a sum of terms that are not
//! negative: so is the variance. Count, and the squares of nodes of equal count, do not depend on which node is the left
//! one; the mean may, in the last place of `mean_rest`: the order fixes that.
//!
//! Error: with u the unit roundoff, h = ceil(log2 n), R the largest minus the least element and A the largest magnitude,
//! mean + mean_rest is off by at most E = h (3 u R + 4 u^2 A), and the variance V by at most
//! 10 u V + E sqrt(h V) + h E^2 (first order in u; no overflow or underflow).
//!
//! Special values: an infinite input gives the mean that IEEE addition gives (infinity, or NaN for both signs) and NaN
//! variances, as x - mean is NaN; a NaN input makes all of these NaN. Finite inputs: the mean does not overflow;
//! a variance whose squares overflow is +inf. NaN results are the canonical NaN. For no element: count 0, all else NaN.
//!
//! Level: run-to-run, geometry, target, partition and neighbourhood.
template <ieee_float T> struct moments {
  using input = T;
  using state = moments_state<T>;
  using result = moments_result<T>;

  // x - x is 0, or NaN where there is no deviation to speak of.
  ISOBIT_HD constexpr state lift(T x) const { return {1, x, T(0), sub(x, x), T(0)}; }
  ISOBIT_HD constexpr state combine(state left, state const& right) const {
    if (right.count == 0) return left;
    if (left.count == 0) return right;
    detail::merge_moments<T>(left, right);
    return left;
  }
  ISOBIT_HD constexpr result finish(state const& s) const { return detail::finished_moments<result, T>(s); }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }
};

//! `moments` with the least and the greatest element (`isobit::min`, `isobit::max`: integer comparisons, -0 < +0, NaN if
//! an element is NaN). All else as `moments`, with the same bits.
template <ieee_float T> struct ranged_moments {
  using input = T;
  using state = ranged_moments_state<T>;
  using result = ranged_moments_result<T>;

  ISOBIT_HD constexpr state lift(T x) const { return {1, x, T(0), sub(x, x), T(0), x, x}; }
  ISOBIT_HD constexpr state combine(state left, state const& right) const {
    if (right.count == 0) return left;
    if (left.count == 0) return right;
    detail::merge_moments<T>(left, right);
    left.min = isobit::min(left.min, right.min);
    left.max = isobit::max(left.max, right.max);
    return left;
  }
  ISOBIT_HD constexpr result finish(state const& s) const {
    auto r = detail::finished_moments<result, T>(s);
    r.min = s.count > 0 ? canonical(s.min) : detail::one_nan<T>;
    r.max = s.count > 0 ? canonical(s.max) : detail::one_nan<T>;
    return r;
  }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }
};

} // namespace isobit::inline bits1
