// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `fragment`: what is known of the tree from a contiguous range of it; what a thread, block, launch or rank hands on.
#pragma once

#include <isobit/error.hpp>
#include <isobit/order/nodes.hpp>

namespace isobit::inline bits1 {

//! The range [first, last) of the tree's indices as its maximal aligned full nodes: blocks [k*2^l, (k+1)*2^l) that lie
//! within the range and whose parent does not. From left to right their levels first rise, then fall:
//!
//!     [3, 13)  =  [3,4) [4,8) [8,12) [12,13)       levels 0 2 2 0
//!
//! A fragment does not know n. Nodes are always full blocks, so their values do not depend on n; whoever holds the
//! fragment [0, n) asks for the `root()`, and only then are the nodes combined as the tree over n indices says.
//! Merging adjacent fragments is associative, bit for bit, with any operator: the nodes of the union are the same
//! whatever the grouping, and each has the one value that the tree gives it.
//!
//! Preconditions are checked. A violation throws isobit::invalid_argument on a host, does not compile in constant
//! evaluation, and stops the kernel (__trap) on a device.
//!
//! As bytes: trivially copyable, first, last and the number of nodes as 64-bit integers, then the nodes from left to
//! right. All bytes are set when `State` has no padding; unused nodes are value-initialised, so equal fragments have
//! equal bytes, and the first `used_bytes()` bytes say everything.
//! `Depth` bounds the indices: last <= 2^Depth (and < 2^64).
//! Guarantee: partition (and all others). Size: 24 + 2 * Depth * sizeof(State).
template <class State, int Depth = 64> class fragment {
  static_assert(Depth >= 1 && Depth <= 64, "isobit: the depth of a fragment must be 1 to 64");
  static_assert(__is_trivially_copyable(State), "isobit: the state of a fragment must be trivially copyable");

public:
  //! The empty fragment [first, first).
  ISOBIT_HD explicit constexpr fragment(uint64_t first = 0) : first_(first), last_(first) {}

  ISOBIT_HD constexpr uint64_t first() const { return first_; }
  ISOBIT_HD constexpr uint64_t last() const { return last_; }
  ISOBIT_HD constexpr bool empty() const { return first_ == last_; }
  //! The number of nodes, at most 2 * log2(last).
  ISOBIT_HD constexpr int size() const { return static_cast<int>(size_); }
  //! The value of node i, counted from the left.
  ISOBIT_HD constexpr State const& operator[](int i) const { return node_[i]; }
  //! The level of the node that starts at index `at`; `at` must be a node's start.
  ISOBIT_HD constexpr int level_at(uint64_t at) const { return node_level(at, last_); }
  //! The number of leading bytes that hold the fragment.
  ISOBIT_HD constexpr size_t used_bytes() const { return sizeof(fragment) - (capacity - size_) * sizeof(State); }

  //! Appends the node [last, last + 2^level), whose value is `value`; level 0 is the state of one element.
  //! Precondition: `last` is a multiple of 2^level, and the new end is at most 2^Depth.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void append(Acc const& acc, State value, int level = 0) {
    if (level < 0 || level >= 64 || (last_ & ((uint64_t(1) << level) - 1)) != 0)
      return reject("fragment::append", "level", "one at which the end of the fragment is aligned");
    uint64_t const end = last_ + (uint64_t(1) << level);
    if (end < last_ || (Depth < 64 && end > (uint64_t(1) << (Depth & 63))))
      return reject("fragment::append", "level", "small enough for the end to be at most 2^Depth");
    // A node that is a right child absorbs its left sibling where the fragment has it.
    for (uint64_t start = last_; (start >> level & 1) != 0 && start - first_ >= (uint64_t(1) << level); ++level) {
      value = acc.combine(node_[--size_], value);
      node_[size_] = State{};
      start -= uint64_t(1) << level;
    }
    node_[size_++] = value;
    last_ = end;
  }

  //! Appends all of `right`. Precondition: right.first() == last(). Cost: at most right.size() + log2(last) combines.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr void append(Acc const& acc, fragment const& right) {
    if (right.first_ != last_) return reject("fragment::append", "right", "adjacent: to start where the left one ends");
    uint64_t at = right.first_;
    for (int i = 0; i < right.size(); ++i) {
      int const level = right.level_at(at);
      append(acc, right.node_[i], level);
      at += uint64_t(1) << level;
    }
  }

  //! The tree over [0, n), n = last(). Precondition: first() == 0 and not empty.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD constexpr State root(Acc const& acc) const {
    if (first_ != 0 || last_ == 0) {
      reject("fragment::root", "fragment", "not empty and start at index 0");
      return State{};
    }
    int i = size() - 1;
    State value = node_[i];
    while (i > 0) value = acc.combine(node_[--i], value);
    return value;
  }

private:
  ISOBIT_HD static constexpr void reject([[maybe_unused]] char const* function, [[maybe_unused]] char const* argument,
                                         [[maybe_unused]] char const* needed) {
#if defined(__CUDACC_RTC__) || defined(ISOBIT_ON_DEVICE)
    __trap();
#else
    throw invalid_argument(function, argument, needed);
#endif
  }

  static constexpr size_t capacity = 2 * Depth;
  uint64_t first_, last_;
  uint64_t size_ = 0;
  State node_[capacity]{};
};

//! The fragment of the single node (level, k): the indices [k*2^level, (k+1)*2^level).
template <int Depth = 64, class State>
ISOBIT_HD constexpr fragment<State, Depth> fragment_of(State value, int level, uint64_t k) {
  struct none {
    ISOBIT_HD constexpr State combine(State left, State) const { return left; }
  };
  fragment<State, Depth> f(level >= 0 && level < 64 ? k << level : 0);
  f.append(none{}, value, level);
  return f;
}

//! True where `right` starts where `left` ends.
template <class State, int Depth>
ISOBIT_HD constexpr bool adjacent(fragment<State, Depth> const& left, fragment<State, Depth> const& right) {
  return left.last() == right.first();
}

//! The fragment over both ranges. Associative. Precondition (checked, see `fragment`): adjacent(left, right).
ISOBIT_CALLS_USER_CODE
template <class Acc, class State, int Depth>
ISOBIT_HD constexpr fragment<State, Depth> merge(Acc const& acc, fragment<State, Depth> left,
                                                 fragment<State, Depth> const& right) {
  left.append(acc, right);
  return left;
}

} // namespace isobit::inline bits1
