// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `sparse_counter`: the tree over indices of which only some are present, in time that depends on those alone.
#pragma once

#include <isobit/error.hpp>
#include <isobit/order/level.hpp>

namespace isobit::inline bits1 {

// g++ cannot see that only filled levels are read.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

//! The tree over slots 0 ... n - 1, where the absent slots are skipped (the slot law): expert outputs of one token by
//! expert number, partial sums by rank, keys of a sparse row. Only the present slots are visited, in rising order.
//!
//! Two neighbours meet at the node whose level is the highest bit in which their indices differ, so that node is
//! complete below as soon as the next index is known. n itself does not matter: absent slots change nothing.
//!
//!     present {1, 4, 6, 7}:   1 (4 (6 7))
//!
//! An index may also stand for an aligned node that was computed elsewhere, such as the experts of one rank, when it is
//! any index within that node and the node has no other slot pushed.
//! Preconditions as for `counter`; indices rise (checked: isobit::invalid_argument, on a device __trap).
//! Cost: m - 1 combines for m present slots, `Depth` states of storage. Guarantee: every level of the contract.
template <class State, int Depth = 64> class sparse_counter {
  static_assert(Depth >= 1 && Depth <= 64, "isobit: the depth of a sparse counter must be 1 to 64");
  static_assert(__is_trivially_copyable(State), "isobit: the state of a sparse counter must be trivially copyable");

public:
  ISOBIT_HD constexpr sparse_counter() {
    if (__builtin_is_constant_evaluated())
      for (State& s : state_) s = State{};
  }

  //! The slot `index` is present and holds `value`. Precondition: `index` is above all earlier ones, below 2^Depth.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void push(Acc const& acc, uint64_t index, State value) {
    if (Depth < 64 && (index >> (Depth & 63)) != 0) return reject("index", "below 2^Depth");
    if (!empty_) {
      if (index <= index_) return reject("index", "above the index pushed before it");
      int const meet = detail::highest_level(index_ ^ index);
      // Whatever waits below the meeting level lies in the meeting node's left child.
      uint64_t const below = filled_ & ((uint64_t(1) << meet) - 1);
      state_[meet] = fold(acc, below);
      filled_ ^= below | uint64_t(1) << meet;
    }
    empty_ = false;
    index_ = index;
    current_ = value;
  }

  //! The root over the slots pushed. Precondition: not empty. Does not change the counter.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr State fold(Acc const& acc) const { return fold(acc, filled_); }

  ISOBIT_HD constexpr bool empty() const { return empty_; }

private:
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr State fold(Acc const& acc, uint64_t levels) const {
    State value = current_;
    for (; levels != 0; levels &= levels - 1) value = acc.combine(state_[detail::lowest_level(levels)], value);
    return value;
  }
  ISOBIT_HD static constexpr void reject([[maybe_unused]] char const* argument, [[maybe_unused]] char const* needed) {
#if defined(__CUDACC_RTC__) || defined(ISOBIT_ON_DEVICE)
    __trap();
#else
    throw invalid_argument("sparse_counter::push", argument, needed);
#endif
  }

  State state_[Depth];
  State current_{};
  uint64_t filled_ = 0;
  uint64_t index_ = 0;
  bool empty_ = true;
};

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#pragma GCC diagnostic pop
#endif

} // namespace isobit::inline bits1
