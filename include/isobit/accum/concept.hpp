// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What an accumulator is: how one input becomes a state, how two adjacent states become one, and how the last state
//! becomes the result.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! An accumulator `a` says what the nodes of an order hold.
//!
//! - `a.lift(x)`: the state of the single input `x` (a leaf).
//! - `a.combine(left, right)`: the state of the two adjacent ranges together. `left` always is the lower range, so that
//!   it need not commute. It need not be associative either: the order fixes the bracketing.
//! - `a.finish(s)`: the result; rounds once.
//! - `a.empty()`: the result for no input at all.
//!
//! `state` is trivially copyable and default-initialisable: it travels by shuffles, through shared memory and as bytes.
//! An absent operand is skipped, never replaced by an identity.
template <class A>
concept accumulator = requires(A const a, typename A::input x, typename A::state s) {
  { a.lift(x) } -> stl::same_as<typename A::state>;
  { a.combine(s, s) } -> stl::same_as<typename A::state>;
  { a.finish(s) } -> stl::same_as<typename A::result>;
  { a.empty() } -> stl::same_as<typename A::result>;
} && __is_trivially_copyable(typename A::state);

//! The type that the accumulator `A` returns.
template <accumulator A> using result_of = typename A::result;

} // namespace isobit::inline bits1
