// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `inclusive_scan` and `exclusive_scan`: every prefix of n elements has the bits of `reduce` over that prefix.
//!
//! The prefix that ends with element i is the right-nested combination of the maximal aligned nodes of [0, i]. Within a
//! row of 2^k elements they are found in k steps (Sklansky, 1960): in step s the upper half of each aligned group of
//! 2^(s+1) elements gets the last prefix of the lower half on its left. Then the nodes before the row go to the left of
//! each, the nearest first, and an initial value to the left of them all.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/algo/scan_group.hpp>
#if !defined(__CUDACC_RTC__)
#include <isobit/algo/scan_host.hpp>
#endif

namespace isobit::inline bits1 {

namespace detail {

template <class Index, class Store> struct indexed_store {
  Store store;
  ISOBIT_CALLS_USER_CODE
  template <class T> ISOBIT_HD constexpr void operator()(uint64_t i, T const& x) const {
    store(static_cast<Index>(i), x);
  }
};
template <class Index, class Store> ISOBIT_HD constexpr indexed_store<Index, Store> as_store(Store const& s) {
  return {s};
}
template <class Index, class T> ISOBIT_HD constexpr results<T> as_store(results<T> const& s) { return s; }

// A group of a kernel, of more than one thread.
template <class Group>
concept takes_vectors = requires(Group const g) { g.sync(); } || requires(Group const g) { g.block(); };
// Chooses 16-byte accesses where both arrays allow them. (A host has its own way.)
ISOBIT_CALLS_USER_CODE
template <class Group, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_any(Group const& g, uint64_t n, Form const& form, Load const& load, Store const& store,
                        Acc const& acc) {
  if constexpr (takes_vectors<Group> && !stl::same_as<Group, thread> && has_vector_form<Load> &&
                has_vector_form<Store>) {
    if (load.is_aligned() && store.is_aligned())
      return scan_elements(g, n, form, load.vectors(), store.vectors(), acc);
  }
  scan_elements(g, n, form, load, store, acc);
}

// The bodies of both scans: calls with callables, and with arrays.
ISOBIT_CALLS_USER_CODE
template <bool Exclusive, class Group, class Index, class Load, class Store, class Op, class Initial>
ISOBIT_HD void scan_calls(Group const& g, Index n, Load const& load, Store const& store, Op const& op,
                          Initial const& initial) {
  static_assert(
      requires { load(n); }, "isobit: a scan needs a load: something to call with an index");
  auto const elements = as_load<Index>(load);
  using element = loaded<decltype(elements)>;
  static_assert(folds<Op, element>, "isobit: a scan needs an accumulator, or a binary operator over the element type");
  auto const acc = as_accumulator<element>(op);
  static_assert(initial_for<Initial, stl::remove_const_t<decltype(acc)>>,
                "isobit: the initial value of a scan is an element, or a state of the accumulator");
  scan_any(g, static_cast<uint64_t>(n), make_form<Exclusive>(acc, initial), elements, as_store<Index>(store), acc);
}

template <class T, class Out, class Op> ISOBIT_HD constexpr void check_scan_types() {
  using acc = decltype(as_accumulator<element_value<T>>(stl::declval<Op const&>()));
  static_assert(stl::same_as<Out, typename acc::result> ||
                    (small_float<Out> && stl::same_as<typename acc::state, typename acc::result>),
                "isobit: a scan writes the accumulator's result type, or a narrower float from a plain sum");
}

template <bool Exclusive, class Group, class T, class Index, class Out, class Op, class Initial>
ISOBIT_HD void scan_arrays(Group const& g, T const* x, Index n, Out* out, Op const& op, Initial const& initial) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    constexpr char const* name = Exclusive ? "exclusive_scan" : "inclusive_scan";
    if constexpr (stl::is_signed_v<Index>)
      if (n < 0) throw invalid_argument(name, "n", "0 or more");
    check_scan_arrays(name, x, static_cast<uint64_t>(n), out);
  }
#endif
  check_scan_types<T, Out, Op>();
  scan_calls<Exclusive>(g, n, contiguous<T>{x}, results<Out>{out}, op, initial);
}

} // namespace detail

//! Calls `store(i, r)` for every i in [0, n) with r = the accumulator's result over `load(0), ..., load(i)` in the order
//! `tree`: the bits of `reduce(g, i + 1, load, op)`.
//!
//! - `g`: `thread`, `tile<P>`, `block`, `scan_grid` (algo/scan_grid.hpp) or `host`. All threads of the group pass the
//!   same arguments; they share the work. What they stored is visible to the group after its next barrier (`g.sync()`);
//!   to other blocks after the launch.
//! - `n`: how many elements; any integer type. `load` and `store` are called with indices of that type, once each, from
//!   any thread; `store(i, .)` may overwrite what `load(i)` read.
//! - `op`: an accumulator or a binary operator over the element type, as in `reduce`; its `finish` runs once a prefix.
//! - `initial`: where it is given, the left operand of every prefix: r = finish(initial ⊕ prefix). A value like the
//!   elements is lifted as they are; a state of the accumulator is taken as it is. The elements' nodes stay where they
//!   are: a prefix has the bits of combining `initial` with the state of the scan without it.
//!
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read, one write; about log2(n) / 2
//! combinations an element. A block adds two barriers a round, and one combination for each warp of the block and round.
ISOBIT_CALLS_USER_CODE
template <class Group, stl::integral Index, class Load, class Store, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void inclusive_scan(Group const& g, Index n, Load const& load, Store const& store, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_calls<false>(g, n, load, store, op, initial);
}

//! The same for arrays: out[i] = the result over x[0 .. i], for i < n. `out` has the accumulator's result type, or, for
//! a plain sum, a floating-point type of 16 or 8 bits, into which each sum is rounded once. `out` may be `x` itself (if
//! the types are the same) but must not overlap it otherwise.
//! A `host` group checks: null pointers with n > 0, n < 0, alignment and overlap throw `invalid_argument` before
//! anything is written.
template <class Group, class T, stl::integral Index, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void inclusive_scan(Group const& g, T const* x, Index n, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_arrays<false>(g, x, n, out, op, initial);
}

//! As `inclusive_scan`, with the elements before i: r = the result over `load(0), ..., load(i - 1)`, the bits of
//! `reduce(g, i, load, op)`, after `initial` where it is given. The first result is that of `initial` alone, and without
//! one the accumulator's `empty()`. Element n - 1 may be read or not.
ISOBIT_CALLS_USER_CODE
template <class Group, stl::integral Index, class Load, class Store, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void exclusive_scan(Group const& g, Index n, Load const& load, Store const& store, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_calls<true>(g, n, load, store, op, initial);
}
template <class Group, class T, stl::integral Index, class Out, class Op = detail::plain_sum,
          class Initial = detail::no_initial>
ISOBIT_HD void exclusive_scan(Group const& g, T const* x, Index n, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_arrays<true>(g, x, n, out, op, initial);
}

} // namespace isobit::inline bits1
