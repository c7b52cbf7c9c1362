// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The compensated sum: every node carries its rounded sum and the rounding errors below it.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/arith/eft.hpp>

namespace isobit::inline bits1 {

//! A sum and what its roundings lost. The value of the state is the exact sum of the two.
//! `sum` has the bits of `plain<T>` over the same nodes; `error` is finite always.
template <ieee_float T> struct compensated_state {
  T sum;
  T error;
};

//! The compensated sum (Ogita, Rump and Oishi's Sum2, over the order's nodes instead of a loop): a TwoSum at every
//! node (Knuth, TAOCP 2, 4.2.2, theorem B: 6 operations, no precondition), errors added beside it. 8 floating-point
//! operations and 3 integer operations a node, depth as `plain`.
//!
//! Node: `s = l.sum + r.sum`, `e` the exact error of that addition, `error = (l.error + r.error) + e`, each operation
//! rounded once in `T`. `finish` rounds `sum + error` once.
//!
//! Error: for n finite inputs x_i whose plain partial sums do not overflow, with u the unit roundoff and
//! h = ceil(log2 n) the depth, |result - sum x_i| <= u |sum x_i| + 3 h^2 u^2 sum |x_i|.
//!
//! Special values: the class of the result (finite, +inf, -inf, NaN) is that of the plain IEEE sum over the same
//! nodes, except that finite sums whose exact value rounds to infinity give that infinity. Never inf - inf from the
//! error term, for it is dropped where it is not finite: when a sum is infinite or NaN, and in the one case where the
//! TwoSum itself overflows (an operand is the largest finite number and the other is 1.5 units of its last place).
//! A NaN result is the canonical NaN. The sum of -0 alone is -0; the sum of nothing is +0.
//!
//! Level: run-to-run, geometry, target, partition and neighbourhood. Not order-free: another order of the same inputs
//! may round differently in the last place (seldom) or lose errors below u^2.
template <ieee_float T> struct compensated {
  using input = T;
  using state = compensated_state<T>;
  using result = T;

  ISOBIT_HD constexpr state lift(T x) const { return {x, T(0)}; }

  ISOBIT_HD constexpr state combine(state left, state right) const {
    auto const s = two_sum(left.sum, right.sum);
    T const error = add(add(left.error, right.error), s.error);
    return {s.value, is_finite(error) ? error : T(0)};
  }

  // The test of zero keeps the sign of a sum that is -0: -0 + 0 would be +0.
  ISOBIT_HD constexpr T finish(state s) const {
    return canonical(!is_finite(s.sum) || is_zero(s.error) ? s.sum : add(s.sum, s.error));
  }

  ISOBIT_HD constexpr T empty() const { return T(0); }
};

} // namespace isobit::inline bits1
