// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Count, mean and variance (and the range, if wanted) of a sequence, merged pairwise.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/arith/op.hpp>

namespace isobit::inline bits1 {

//! What a node of `moments` knows of its elements. All zero: no element. Merging with that changes nothing.
template <ieee_float T> struct moments_state {
  uint64_t count;
  T mean;
  T squares; //!< the sum of the squared deviations from the mean (M2)
};
template <ieee_float T> struct ranged_moments_state {
  uint64_t count;
  T mean;
  T squares;
  T min;
  T max;
};

//! The moments of `count` elements; NaN where there is none to tell.
template <ieee_float T> struct moments_result {
  uint64_t count;
  T mean;            //!< NaN for no element
  T squares;         //!< the sum of the squared deviations from the mean; 0 for no element
  T variance;        //!< of the population: squares / count; NaN for no element
  T sample_variance; //!< unbiased: squares / (count - 1); NaN for fewer than two elements
};
template <ieee_float T> struct ranged_moments_result {
  uint64_t count;
  T mean, squares, variance, sample_variance;
  T min, max; //!< -0 < +0; NaN if an element is NaN, or for no element
};

namespace detail {
template <ieee_float T> ISOBIT_HD constexpr T nan_of() { return from_bits<T>(float_fields<T>::quiet_nan); }

template <class State, ieee_float T> ISOBIT_HD constexpr void merge_moments(State& a, State const& b) {
  T const left = convert<T>(a.count), right = convert<T>(b.count), both = convert<T>(a.count + b.count);
  // Most nodes of the tree are full: b.count / (2 * b.count) is 1/2 without a division.
  T const share = a.count == b.count ? T(0.5) : div(right, both);
  T const delta = sub(b.mean, a.mean);
  if (is_finite(delta)) {
    a.squares = add(add(a.squares, b.squares), mul(mul(delta, delta), mul(left, share)));
    a.mean = add(a.mean, mul(delta, share));
  } else if (is_finite(a.mean) && is_finite(b.mean)) { // the means are further apart than the largest number
    a.squares = is_nan(a.squares) || is_nan(b.squares) ? nan_of<T>() : from_bits<T>(float_fields<T>::exponent);
    a.mean = add(mul(a.mean, div(left, both)), mul(b.mean, share));
  } else {
    a.squares = nan_of<T>();
    a.mean = add(a.mean, b.mean);
  }
  a.count += b.count;
}

template <class Result, class State> ISOBIT_HD constexpr Result finished_moments(State const& s) {
  using T = decltype(s.mean);
  Result r{};
  r.count = s.count;
  r.mean = s.count > 0 ? canonical(s.mean) : nan_of<stl::remove_cvref_t<T>>();
  r.squares = canonical(s.squares);
  r.variance = s.count > 0 ? canonical(div(s.squares, convert<stl::remove_cvref_t<T>>(s.count))) : r.mean;
  r.sample_variance = s.count > 1 ? canonical(div(s.squares, convert<stl::remove_cvref_t<T>>(s.count - 1)))
                                  : nan_of<stl::remove_cvref_t<T>>();
  return r;
}
} // namespace detail

//! Count, mean and sum of squared deviations, in one pass without cancellation, merged by the formulas of Chan, Golub and
//! LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979). 8 operations a node; a
//! division more where the two counts differ.
//!
//! Node, every operation rounded once in `T`, counts converted to `T`:
//!
//!     share   = right.count / (left.count + right.count)
//!     delta   = right.mean - left.mean
//!     mean    = left.mean + delta * share
//!     squares = (left.squares + right.squares) + (delta * delta) * (left.count * share)
//!
//! A node without elements is skipped, not divided by. `count` is exact; `squares` is a sum of terms that are not
//! negative: so is the variance. Count, and squares of nodes of equal count, do not depend on which node is left; the
//! mean may, in its last place: the order fixes that.
//!
//! Error (first order, u the unit roundoff, h the depth): the mean is off by at most 4 h u max |x|, squares by a relative
//! (h + 7) u, plus what the errors of the means bring in, about n (4 h u max |x|)^2.
//!
//! Special values: an infinite input gives the mean that IEEE addition gives (infinity, or NaN for both signs), squares
//! and variances NaN, as x - mean is; a NaN input makes all of these NaN. Finite inputs: the mean does not overflow;
//! squares are +inf where they overflow. NaN results are the canonical NaN. For no element: count 0, mean NaN.
//!
//! Level: run-to-run, geometry, target, partition and neighbourhood.
template <ieee_float T> struct moments {
  using input = T;
  using state = moments_state<T>;
  using result = moments_result<T>;

  //! x - x is 0, or NaN where there is no deviation to speak of.
  ISOBIT_HD constexpr state lift(T x) const { return {1, x, sub(x, x)}; }
  ISOBIT_HD constexpr state combine(state left, state const& right) const {
    if (right.count == 0) return left;
    if (left.count == 0) return right;
    detail::merge_moments<state, T>(left, right);
    return left;
  }
  ISOBIT_HD constexpr result finish(state const& s) const { return detail::finished_moments<result>(s); }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }
};

//! `moments` with the least and the greatest element (`isobit::min`, `isobit::max`: integer comparisons, -0 < +0, NaN if
//! an element is NaN). All else as `moments`, with the same bits.
template <ieee_float T> struct ranged_moments {
  using input = T;
  using state = ranged_moments_state<T>;
  using result = ranged_moments_result<T>;

  ISOBIT_HD constexpr state lift(T x) const { return {1, x, sub(x, x), x, x}; }
  ISOBIT_HD constexpr state combine(state left, state const& right) const {
    if (right.count == 0) return left;
    if (left.count == 0) return right;
    detail::merge_moments<state, T>(left, right);
    left.min = isobit::min(left.min, right.min);
    left.max = isobit::max(left.max, right.max);
    return left;
  }
  ISOBIT_HD constexpr result finish(state const& s) const {
    auto r = detail::finished_moments<result>(s);
    r.min = s.count > 0 ? canonical(s.min) : r.mean;
    r.max = s.count > 0 ? canonical(s.max) : r.mean;
    return r;
  }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }
};

} // namespace isobit::inline bits1
