// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `counter`: evaluates the tree from left to right with one state a level, as a binary counter carries.
#pragma once

#include <isobit/order/level.hpp>

// g++ cannot see that only filled levels are read.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace isobit::inline bits1 {

//! The tree (order/tree.hpp) evaluated left to right. Units are what the caller chooses: elements, rows, tiles, ranks.
//! After `u` units it holds one state for each set bit of `u`: the full nodes that still wait for their right
//! neighbour.
//!
//!     counter<float> c;
//!     for (uint64_t i = 0; i < n; ++i) c.push(acc, acc.lift(x[i]));   // any mix of levels gives the same bits
//!     float sum = acc.finish(c.fold(acc));
//!
//! `State` must be trivially copyable and default-initialisable. `Depth` bounds the units: at most 2^Depth - 1.
//! Cost: one combine for each push, spread over time; `Depth` states of storage, of which only the filled ones are ever
//! touched. On a device the levels are indexed dynamically and therefore live in local memory.
//! Guarantee: every level of the contract; the bits depend on the values and their order only.
template <class State, int Depth = 64> class counter {
  static_assert(Depth >= 1 && Depth <= 64, "isobit: the depth of a counter must be 1 to 64");
  static_assert(__is_trivially_copyable(State), "isobit: the state of a counter must be trivially copyable");

public:
  //! No units. The states stay uninitialised, except where the language forbids that (in constant evaluation).
  ISOBIT_HD constexpr counter() {
    if (__builtin_is_constant_evaluated())
      for (State& s : state_) s = State{};
  }

  //! Appends `value`: the aligned node of 2^level units that starts where the pushed units end. Preconditions: the
  //! number of units pushed so far is a multiple of 2^level, and at most the last node ever pushed is ragged (cut off
  //! by the end of the range; it still counts as 2^level units).
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void push(Acc const& acc, State value, int level = 0) {
    for (; (filled_ >> level & 1) != 0; ++level) {
      value = acc.combine(state_[level], value);
      filled_ ^= uint64_t(1) << level;
    }
    state_[level] = value;
    filled_ |= uint64_t(1) << level;
  }

  //! The root over everything pushed: the waiting nodes combined from right to left, so that each is the left operand
  //! of all that follows it. Absent levels are skipped. Precondition: not empty. Does not change the counter.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr State fold(Acc const& acc) const {
    int level = detail::lowest_level(filled_);
    State value = state_[level];
    for (uint64_t rest = filled_ & (filled_ - 1); rest != 0; rest &= rest - 1) {
      level = detail::lowest_level(rest);
      value = acc.combine(state_[level], value);
    }
    return value;
  }

  //! Calls `prepend(node)` for every waiting node, from right to left. A scan continues so: combining each node as the
  //! left operand of a prefix within the following units makes that the prefix over everything.
  ISOBIT_CALLS_USER_CODE
  template <class Prepend> ISOBIT_HD constexpr void for_each_from_right(Prepend const& prepend) const {
    for (uint64_t rest = filled_; rest != 0; rest &= rest - 1) prepend(state_[detail::lowest_level(rest)]);
  }

  ISOBIT_HD constexpr bool empty() const { return filled_ == 0; }
  //! The number of units pushed (a ragged last node counted as full). Bit `l` is set where level `l` waits.
  ISOBIT_HD constexpr uint64_t units() const { return filled_; }
  //! Forgets everything.
  ISOBIT_HD constexpr void clear() { filled_ = 0; }

private:
  State state_[Depth];
  uint64_t filled_ = 0;
};

} // namespace isobit::inline bits1

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic pop
#endif
