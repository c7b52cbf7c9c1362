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

namespace detail {

// A class that has something of an accumulator is taken for one, so that what it lacks can be named.
template <class A>
concept meant_as_accumulator = accumulator<A> || requires { typename A::state; } || requires { &A::lift; } ||
                               requires { &A::combine; } || requires { &A::finish; };

//! True for an accumulator; for anything else one sentence says what is missing.
template <class A> ISOBIT_HD constexpr bool is_accumulator() {
  constexpr bool types = requires {
    typename A::input;
    typename A::state;
    typename A::result;
  };
  static_assert(types, "isobit: an accumulator names three types: input, state and result");
  if constexpr (types) {
    using state = typename A::state;
    using result = typename A::result;
    constexpr bool bytes = __is_trivially_copyable(state) && stl::is_default_constructible_v<state>;
    static_assert(bytes, "isobit: the state of an accumulator must be trivially copyable and default-constructible");
    constexpr bool lift = requires(A const a, typename A::input x) {
      { a.lift(x) } -> stl::same_as<state>;
    };
    static_assert(lift, "isobit: an accumulator needs `state lift(input) const`");
    constexpr bool combine = requires(A const a, state s) {
      { a.combine(s, s) } -> stl::same_as<state>;
    };
    static_assert(combine, "isobit: an accumulator needs `state combine(state left, state right) const`");
    constexpr bool finish = requires(A const a, state s) {
      { a.finish(s) } -> stl::same_as<result>;
    };
    static_assert(finish, "isobit: an accumulator needs `result finish(state) const`");
    constexpr bool empty = requires(A const a) {
      { a.empty() } -> stl::same_as<result>;
    };
    static_assert(empty, "isobit: an accumulator needs `result empty() const`, the result for no element");
    return bytes && lift && combine && finish && empty;
  }
  return false;
}

} // namespace detail

//! An accumulator whose states do not depend on the order and grouping of the inputs, bit for bit, and says so by
//! `static constexpr bool order_free = true`. `state{}` must be the state of no input, and `a.deposit(s, x)` what
//! `s = a.combine(s, a.lift(x))` is. Groups then let every thread deposit what it reads, and combine once at the end.
template <class A>
concept order_free_accumulator = accumulator<A> && requires { requires A::order_free; } &&
                                 requires(A const a, typename A::state& s, typename A::input x) { a.deposit(s, x); };

//! The type that the accumulator `A` returns.
template <accumulator A> using result_of = typename A::result;

} // namespace isobit::inline bits1
