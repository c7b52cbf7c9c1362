// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements, evaluated by one thread. `fold` is what `reduce` calls: one overload for each group.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/order/counter.hpp>

namespace isobit::inline bits1 {

namespace detail {

// The tree over s[0..count), left in s[0]. 1 <= count <= Count.
ISOBIT_CALLS_USER_CODE
template <int Count, class Acc, class State>
ISOBIT_HD constexpr void fold_array(Acc const& acc, State* s, int count = Count) {
  ISOBIT_UNROLL
  for (int step = 1; step < Count; step *= 2) {
    ISOBIT_UNROLL
    for (int j = 0; j < Count; j += 2 * step)
      if (j + step < count) s[j] = acc.combine(s[j], s[j + step]);
  }
}

// An accumulator over states: its inputs are nodes that another call has computed (the block law).
template <class A> struct over_states {
  using input = typename A::state;
  using state = typename A::state;
  using result = typename A::result;
  static constexpr bool commutative = requires { requires A::commutative; };
  static constexpr bool order_free = order_free_accumulator<A>;
  A acc;
  ISOBIT_HD constexpr state lift(state const& s) const { return s; }
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr void deposit(state& s, state const& x) const { s = acc.combine(s, x); }
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr state combine(state const& left, state const& right) const { return acc.combine(left, right); }
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr result finish(state const& s) const { return acc.finish(s); }
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr result empty() const { return acc.empty(); }
};

} // namespace detail

//! The tree over `load(0) .. load(n - 1)`, n >= 1, by one thread: n - 1 combinations, log2 n states on the stack. An
//! order-free accumulator takes n deposits into one state.
ISOBIT_CALLS_USER_CODE
template <class Load, accumulator A>
ISOBIT_HD constexpr typename A::state fold(thread const&, uint64_t n, Load const& load, A const& acc) {
  using state = typename A::state;
  if constexpr (order_free_accumulator<A>) {
    state s{};
    for (uint64_t i = 0; i < n; ++i) acc.deposit(s, load(i));
    return s;
  } else {
    constexpr int leaves = sizeof(state) <= 16 ? 8 : 1; // one unrolled subtree
    constexpr int level = leaves == 8 ? 3 : 0;
    counter<state> pending;
    uint64_t const whole = n - n % leaves;
    uint64_t i = 0;
    for (; i < whole; i += leaves) {
      state s[leaves];
      ISOBIT_UNROLL
      for (int j = 0; j < leaves; ++j) s[j] = acc.lift(load(i + static_cast<uint64_t>(j)));
      detail::fold_array<leaves>(acc, s);
      pending.push(acc, s[0], level);
    }
    for (; i < n; ++i) pending.push(acc, acc.lift(load(i)));
    return pending.fold(acc);
  }
}

} // namespace isobit::inline bits1
