// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The orders' definition as code. Slow and plain on purpose: everything faster is tested against it.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/order/level.hpp>
#include <isobit/order/order.hpp>

namespace isobit::inline bits1 {

namespace detail {

//! node(level, k) over [0, n). Precondition: it covers something, k * 2^level < n.
ISOBIT_CALLS_USER_CODE
template <class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state tree_node(int level, uint64_t k, uint64_t n, Leaf const& leaf, Acc const& acc) {
  if (level == 0) return leaf(k);
  auto const left = tree_node(level - 1, 2 * k, n, leaf, acc);
  if (((2 * k + 1) << (level - 1)) >= n) return left; // the right child is absent
  return acc.combine(left, tree_node(level - 1, 2 * k + 1, n, leaf, acc));
}

template <class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state interpret(tree, uint64_t n, Leaf const& leaf, Acc const& acc) {
  return tree_node(root_level(n), 0, n, leaf, acc);
}

// Function objects with names: nvcc lets no lambda of a host-device function call a device-only `load`.
template <class Leaf> struct lane_leaf { // the elements of lane j
  Leaf const& leaf;
  uint64_t lanes, j;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr auto operator()(uint64_t row) const { return leaf(row * lanes + j); }
};
template <class Leaf, class Acc> struct lane_root { // the result of lane j
  Leaf const& leaf;
  Acc const& acc;
  uint64_t lanes, n;
  ISOBIT_HD constexpr auto operator()(uint64_t j) const {
    uint64_t const rows = (n - j - 1) / lanes + 1;
    return interpret(tree{}, rows, lane_leaf<Leaf>{leaf, lanes, j}, acc);
  }
};

template <uint64_t L, class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state interpret(lanes<L>, uint64_t n, Leaf const& leaf, Acc const& acc) {
  return interpret(tree{}, n < L ? n : L, lane_root<Leaf, Acc>{leaf, acc, L, n}, acc);
}

ISOBIT_CALLS_USER_CODE
template <class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state interpret(sequential, uint64_t n, Leaf const& leaf, Acc const& acc) {
  auto sum = leaf(0);
  for (uint64_t i = 1; i < n; ++i) sum = acc.combine(sum, leaf(i));
  return sum;
}

template <class Load, class Acc> struct lifted {
  Load const& load;
  Acc const& acc;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr auto operator()(uint64_t i) const { return acc.lift(load(i)); }
};

} // namespace detail

//! The state of `Order`'s expression over the elements load(0) ... load(n - 1). `load` is called once for each index.
//! Preconditions: 1 <= n <= 2^63. Errors: none. Guarantee: this is the definition that the other levels refer to.
//! It does not guard the thread's floating-point environment (arith/env.hpp), as host entry points do.
//! Cost: n - 1 combines, one thread, recursion of depth log2 n; not for speed. On a device the recursion needs about
//! 100 bytes of stack a level (cudaLimitStackSize, by default 1024 bytes).
template <is_order Order, class Load, accumulator Acc>
ISOBIT_HD constexpr typename Acc::state interpret(uint64_t n, Load const& load, Acc const& acc) {
  return detail::interpret(Order{}, n, detail::lifted<Load, Acc>{load, acc}, acc);
}

} // namespace isobit::inline bits1
