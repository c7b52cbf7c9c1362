// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The least and the greatest element, and where they are.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/bits/ordered.hpp>

namespace isobit::inline bits1 {

//! An element and its index, as the load `with_index` (algo/zip.hpp) gives them.
template <class T> struct indexed_value {
  T value;
  uint64_t index;
};

//! The index of an extremum that does not exist.
inline constexpr uint64_t no_index = ~uint64_t{0};

//! A NaN anywhere is the least and the greatest element: the result is NaN, at the first NaN's index.
struct nan_propagate {};
//! NaNs count as absent.
struct nan_ignore {};

//! A node of `extrema`: integers that are ordered as the numbers are (`to_ordered`).
template <ieee_float T> struct extrema_state {
  ordered_int<T> min, max;
  uint64_t argmin, argmax;
};

template <ieee_float T> struct extrema_result {
  T min, max;              //!< NaN where there is none
  uint64_t argmin, argmax; //!< the lowest index at which it is found; `no_index` where there is none

  //! The greatest magnitude; NaN where min is.
  ISOBIT_HD constexpr T absmax() const { return from_bits<T>(max_is_larger() ? magnitude_bits(max) : magnitude_bits(min)); }
  //! The index of min or max, whichever is larger in magnitude; of equal ones, the lower.
  ISOBIT_HD constexpr uint64_t argabsmax() const {
    if (magnitude_bits(min) == magnitude_bits(max)) return argmin < argmax ? argmin : argmax;
    return max_is_larger() ? argmax : argmin;
  }

private:
  ISOBIT_HD constexpr bool max_is_larger() const { return magnitude_bits(max) > magnitude_bits(min); }
};

//! Least and greatest element with their lowest indices. -0 < +0. Inputs are `indexed_value`s: give `reduce` the load
//! `with_index(x)`. Integer comparisons only, four a node: no flag can touch them, subnormal numbers are not zero.
//!
//! `Policy` says what a NaN does: `nan_propagate` or `nan_ignore`. For no element, or only ignored ones: NaN, `no_index`.
//! Associative and commutative in every bit: with the indices in the elements, any order and any bracketing of the
//! same elements gives the same result.
//!
//! Level: all, order-free included. Exact: no rounding, no overflow.
template <ieee_float T, class Policy = nan_propagate> struct extrema {
  static_assert(stl::same_as<Policy, nan_propagate> || stl::same_as<Policy, nan_ignore>,
                "isobit: the NaN policy of extrema is nan_propagate or nan_ignore");
  using input = indexed_value<T>;
  using state = extrema_state<T>;
  using result = extrema_result<T>;
  static constexpr bool commutative = true;

  ISOBIT_HD constexpr state lift(input const& x) const {
    if (!is_nan(x.value)) return {to_ordered(x.value), to_ordered(x.value), x.index, x.index};
    if constexpr (stl::same_as<Policy, nan_ignore>)
      return {highest, lowest, no_index, no_index};
    else
      return {lowest, highest, x.index, x.index};
  }
  ISOBIT_HD constexpr state combine(state left, state const& right) const {
    if (right.min < left.min || (right.min == left.min && right.argmin < left.argmin)) {
      left.min = right.min;
      left.argmin = right.argmin;
    }
    if (right.max > left.max || (right.max == left.max && right.argmax < left.argmax)) {
      left.max = right.max;
      left.argmax = right.argmax;
    }
    return left;
  }
  ISOBIT_HD constexpr result finish(state const& s) const {
    return {canonical(from_ordered<T>(s.min)), canonical(from_ordered<T>(s.max)), s.argmin, s.argmax};
  }
  ISOBIT_HD constexpr result empty() const {
    auto const nan = from_bits<T>(float_fields<T>::quiet_nan);
    return {nan, nan, no_index, no_index};
  }

private:
  // The ends of the order are NaNs (`to_ordered`), beyond every number.
  static constexpr ordered_int<T> highest = static_cast<ordered_int<T>>(float_fields<T>::sign - 1);
  static constexpr ordered_int<T> lowest = static_cast<ordered_int<T>>(float_fields<T>::sign);
};

} // namespace isobit::inline bits1
