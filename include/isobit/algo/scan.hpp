// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `inclusive_scan`: every prefix of n elements has the bits of `reduce` over that prefix.
//!
//! The prefix that ends with element i is the right-nested combination of the maximal aligned nodes of [0, i]. Within a
//! row of 2^k elements they are found in k steps (Sklansky, 1960): in step s the upper half of each aligned group of
//! 2^(s+1) elements gets the last prefix of the lower half on its left. Then the nodes before the row go to the left of
//! each, the nearest first.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/algo/scan_row.hpp>
#if !defined(__CUDACC_RTC__)
#include <isobit/algo/scan_host.hpp>
#endif

namespace isobit::inline bits1 {

namespace detail {

ISOBIT_CALLS_USER_CODE
template <class Load, class Store, class Acc>
ISOBIT_HD constexpr void scan_elements(thread, uint64_t n, Load const& load, Store const& store, Acc const& acc) {
  counter<typename Acc::state> pending;
  for (uint64_t i = 0; i < n; ++i) {
    pending.push(acc, acc.lift(load(i)));
    store(i, acc.finish(pending.fold(acc)));
  }
}

ISOBIT_CALLS_USER_CODE
template <int P, class Load, class Store, class Acc>
ISOBIT_HD void scan_elements(tile<P> const& t, uint64_t n, Load const& load, Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  constexpr int V = scan_width<Load, state>(), row = P * V;
  counter<state> pending; // in rows
  for (uint64_t i = 0; i < n; i += row) {
    int const count = row_count(i, n, row), mine = lane_count<V>(count, t.thread_rank());
    uint64_t const at = i + t.thread_rank() * V;
    state s[V] = {};
    load_lane<V>(load, at, mine, acc, s);
    state const node = scan_row<V>(t, acc, s, count);
    prepend<V>(pending, acc, s, mine);
    store_lane<V>(store, at, mine, acc, s);
    pending.push(acc, node);
  }
}

// Workers (tiles of P lanes, or single threads) take a row each; their nodes meet in shared memory, and every worker
// counts them up to its own row.
ISOBIT_CALLS_USER_CODE
template <int P, int N, class State, class Load, class Store, class Acc>
ISOBIT_HD void scan_rounds(block<N, State> const& b, uint32_t worker, uint32_t workers, uint64_t n, Load const& load,
                           Store const& store, Acc const& acc) {
  constexpr int V = scan_width<Load, State>(), row = P * V;
  tile<P> const t;
  auto& memory = b.memory();
  counter<State> pending; // in rows
  bool const works = worker < workers;
  for (uint64_t base = 0; base < n; base += uint64_t(workers) * row) {
    uint64_t const first = base + uint64_t(worker) * row, at = first + t.thread_rank() * V;
    int const count = works ? row_count(first, n, row) : 0, mine = lane_count<V>(count, t.thread_rank());
    State s[V] = {};
    if (count > 0) {
      load_lane<V>(load, at, mine, acc, s);
      State const node = scan_row<V>(t, acc, s, count);
      if (t.thread_rank() == 0) *memory.slot(worker) = node;
    }
    b.sync();
    bool const last_round = n - base <= uint64_t(workers) * row;
    for (uint32_t w = 0; works && w < workers; ++w) {
      if (w == worker) {
        prepend<V>(pending, acc, s, mine);
        store_lane<V>(store, at, mine, acc, s);
        if (last_round) break;
      }
      if (uint64_t(w) * row < n - base) pending.push(acc, *memory.slot(w));
    }
    b.sync();
  }
}

template <int N, class State, class Load, class Store, class Acc>
ISOBIT_HD void scan_elements(block<N, State> const& b, uint64_t n, Load const& load, Store const& store,
                             Acc const& acc) {
  static_assert(stl::same_as<State, typename Acc::state>,
                "isobit: the block's storage must hold the accumulator's states: declare it as "
                "block<N>::storage<T> with T the accumulator, or the element type for a plain sum");
  uint32_t const rank = b.thread_rank(), warps = b.size() / 32;
  if (warps == 0)
    scan_rounds<1>(b, rank, b.size(), n, load, store, acc);
  else
    scan_rounds<32>(b, rank / 32, warps, n, load, store, acc);
}

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

// Chooses 16-byte accesses where both arrays allow them. (A host has its own way.)
ISOBIT_CALLS_USER_CODE
template <class Group, class Load, class Store, class Acc>
ISOBIT_HD void scan_any(Group const& g, uint64_t n, Load const& load, Store const& store, Acc const& acc) {
  if constexpr (requires { g.sync(); } && !stl::same_as<Group, thread> && has_vector_form<Load> &&
                has_vector_form<Store>) {
    if (load.is_aligned() && store.is_aligned()) return scan_elements(g, n, load.vectors(), store.vectors(), acc);
  }
  scan_elements(g, n, load, store, acc);
}

} // namespace detail

//! Calls `store(i, r)` for every i in [0, n) with r = the accumulator's result over `load(0), ..., load(i)` in the order
//! `tree`: the bits of `reduce(g, i + 1, load, op)`.
//!
//! - `g`: `thread`, `tile<P>`, `block` or `host`. All threads of the group pass the same arguments; they share the work.
//!   What they stored is visible to the group after its next barrier (`g.sync()`).
//! - `n`: how many elements; any integer type. `load` and `store` are called with indices of that type, once each, from
//!   any thread; `store(i, .)` may overwrite what `load(i)` read.
//! - `op`: an accumulator or a binary operator over the element type, as in `reduce`; its `finish` runs once a prefix.
//!
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read, one write; about log2(n) / 2
//! combinations an element. A block adds two barriers a round, and one combination for each warp of the block and round.
ISOBIT_CALLS_USER_CODE
template <class Group, stl::integral Index, class Load, class Store, class Op = detail::plain_sum>
ISOBIT_HD void inclusive_scan(Group const& g, Index n, Load const& load, Store const& store, Op const& op = {}) {
  static_assert(
      requires { load(n); }, "isobit: inclusive_scan needs a load: something to call with an index");
  auto const elements = detail::as_load<Index>(load);
  using element = detail::loaded<decltype(elements)>;
  static_assert(detail::folds<Op, element>,
                "isobit: inclusive_scan needs an accumulator, or a binary operator over the element type");
  auto const acc = detail::as_accumulator<element>(op);
  detail::scan_any(g, static_cast<uint64_t>(n), elements, detail::as_store<Index>(store), acc);
}

//! The same for arrays: out[i] = the result over x[0 .. i], for i < n. `out` has the accumulator's result type, or, for
//! a plain sum, a floating-point type of 16 or 8 bits, into which each sum is rounded once. `out` may be `x` itself (if
//! the types are the same) but must not overlap it otherwise.
//! A `host` group checks: null pointers with n > 0, n < 0, alignment and overlap throw `invalid_argument` before
//! anything is written.
template <class Group, class T, stl::integral Index, class Out, class Op = detail::plain_sum>
ISOBIT_HD void inclusive_scan(Group const& g, T const* x, Index n, Out* out, Op const& op = {}) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    if constexpr (stl::is_signed_v<Index>)
      if (n < 0) throw invalid_argument("inclusive_scan", "n", "0 or more");
    detail::check_scan_arrays("inclusive_scan", x, static_cast<uint64_t>(n), out);
  }
#endif
  using acc = decltype(detail::as_accumulator<element_value<T>>(op));
  static_assert(stl::same_as<Out, typename acc::result> ||
                    (small_float<Out> && stl::same_as<typename acc::state, typename acc::result>),
                "isobit: a scan writes the accumulator's result type, or a narrower float from a plain sum");
  inclusive_scan(g, n, contiguous<T>{x}, detail::results<Out>{out}, op);
}

} // namespace isobit::inline bits1
