// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Accumulators whose state is one value: the IEEE sum, and any binary operator.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/arith/op.hpp>

namespace isobit::inline bits1 {

//! The sum: the state is the sum so far, in `T`. One flag-proof addition a node; integers add modulo 2^N.
//! A NaN result is the canonical NaN. The sum of nothing is +0.
template <class T> struct plain {
  using input = T;
  using state = T;
  using result = T;
  //! combine(a, b) and combine(b, a) are equal, but for the payload of a NaN, which `finish` makes canonical.
  static constexpr bool commutative = ieee_float<T> || stl::is_integral_v<T>;
  ISOBIT_HD constexpr T lift(T x) const { return x; }
  ISOBIT_HD constexpr T combine(T left, T right) const {
    if constexpr (ieee_float<T>)
      return add(left, right);
    else if constexpr (stl::is_integral_v<T>)
      return static_cast<T>(static_cast<stl::make_unsigned_t<T>>(left) + static_cast<stl::make_unsigned_t<T>>(right));
    else
      return left + right;
  }
  ISOBIT_HD constexpr T finish(T s) const {
    if constexpr (ieee_float<T>)
      return canonical(s);
    else
      return s;
  }
  ISOBIT_HD constexpr T empty() const { return T{}; }
};

//! Any binary operator `op(left, right) -> T` over values of `T`, commutative or not. The result for no input is
//! `T{}`. The operator's own arithmetic is the caller's: write it with `isobit::add`, `isobit::mul`, ... when compiler
//! flags must not change it.
template <class T, class Op> struct with_operator {
  using input = T;
  using state = T;
  using result = T;
  Op op{}; // not [[no_unique_address]]: nvcc cannot pass such an empty class to a kernel
  ISOBIT_HD constexpr T lift(T x) const { return x; }
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr T combine(T left, T right) const { return op(left, right); }
  ISOBIT_HD constexpr T finish(T s) const {
    if constexpr (ieee_float<T>)
      return canonical(s);
    else
      return s;
  }
  ISOBIT_HD constexpr T empty() const { return T{}; }
};

} // namespace isobit::inline bits1
