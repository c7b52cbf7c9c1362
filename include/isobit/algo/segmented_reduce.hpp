// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `segmented_reduce`: one value for each of many segments. Each segment has a tree of its own that begins at its own
//! start, so its bits depend on its own elements and on nothing else.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/algo/scan_row.hpp>
#include <isobit/algo/segments.hpp>
#if !defined(__CUDACC_RTC__)
#include <isobit/algo/segmented_reduce_host.hpp>
#endif

namespace isobit::inline bits1 {

//! Shared memory of a block of at most `N` threads for `segmented_reduce` over all blocks of a launch. `T`: the
//! accumulator, or the element type for a plain sum.
template <int N, class T> struct segment_storage {
  static constexpr uint32_t most_listed = 64;
  typename block<N>::template storage<T> fold;
  uint32_t listed;
  uint64_t list[most_listed]; //!< segments of this unit that are too long for a few lanes
};

namespace detail {

// 32-bit addition to shared memory.
ISOBIT_HD inline uint32_t add_shared(uint32_t* p, uint32_t value,
                                     [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  return atomicAdd(p, value);
#elif !defined(__CUDACC_RTC__)
  return static_cast<uint32_t>(machine::here().atomic(atomic_op::add, p, 4, value, 0, memory_order::relaxed, where));
#else
  return 0;
#endif
}

template <class Store>
concept skips_empty = requires {
  requires Store::skips_empty;
};

ISOBIT_CALLS_USER_CODE
template <class Store, class Acc> ISOBIT_HD void store_empty(Store const& store, uint64_t s, Acc const& acc) {
  if constexpr (!skips_empty<Store>) store(s, acc.empty());
}

// Gives a result away; a store may ask for the state, to go on with it. Column 0 where there are no columns.
ISOBIT_CALLS_USER_CODE
template <class Store, class Acc, class State>
ISOBIT_HD void store_state(Store const& store, uint64_t s, Acc const& acc, State const& state) {
  if constexpr (requires { store.from_state(s, uint64_t{0}, acc, state); })
    store.from_state(s, uint64_t{0}, acc, state);
  else
    store(s, acc.finish(state));
}

// Segment `s` as a whole, by one group.
ISOBIT_CALLS_USER_CODE
template <class Group, class Layout, class Load, class Store, class Acc>
ISOBIT_HD void reduce_segment(Group const& g, uint64_t s, Layout const& layout, Load const& load, Store const& store,
                              Acc const& acc) {
  uint64_t const n = layout.length(s);
  if (n == 0) {
    if (g.thread_rank() == 0) store_empty(store, s, acc);
    return;
  }
  auto const state = fold(g, n, shift(load, layout.first(s)), acc);
  if (g.thread_rank() == 0) store_state(store, s, acc, state);
}

// The threads of a block that share the segments of a unit out among them.
template <int N, class T, class Layout, class Load, class Store, class Acc> struct segment_block {
  using state = typename Acc::state;
  segment_storage<N, T>& memory;
  block<N, state> b;
  segment_workspace<state> const& workspace;
  Layout const& layout;
  Load const& load;
  Store const& store;
  Acc const& acc;

  ISOBIT_HD uint64_t unit_length() const { return uint64_t(1) << workspace.level; }

  // The segments that begin in positions [begin, end) are [s[0], s[1]).
  ISOBIT_HD void find(uint64_t begin, uint64_t end, uint64_t* s) const {
    if (b.thread_rank() / 32 < b.size() / 32) {
      s[0] = segment_at(tile<32>{}, layout, begin);
      s[1] = segment_at(tile<32>{}, layout, end);
    } else {
      s[0] = segment_at(thread{}, layout, begin);
      s[1] = segment_at(thread{}, layout, end);
    }
  }

  // `node` is node k of a segment that is longer than a unit; the last block to have one folds them all.
  ISOBIT_HD void add_node(uint64_t s, uint64_t k, state const& node) const {
    state* const partials = workspace.partials;
    uint64_t const start = position_of(layout, s) >> workspace.level,
                   nodes = ceil_shift(layout.length(s), workspace.level);
    if (b.thread_rank() == 0) {
      partials[2 * (start + k) + (k == 0 ? 1 : 0)] = node;
      auto const last = static_cast<uint32_t>(nodes - 1);
      memory.fold.flag = machine::arrive(workspace.arrivals + start, last) == last ? 1u : 0u;
    }
    b.sync();
    bool const is_last = memory.fold.flag != 0;
    b.sync();
    if (!is_last) return;
    auto const node_of = [=](uint64_t i) { return partials[2 * (start + i) + (i == 0 ? 1 : 0)]; };
    state const root = fold(b, nodes, node_of, over_states<Acc>{acc});
    if (b.thread_rank() == 0) store_state(store, s, acc, root);
  }

  // Lists `s` for a larger group; false if the list is full.
  template <class Group> ISOBIT_HD bool put_off(Group const& g, uint64_t s) const {
    uint32_t place = 0;
    if (g.thread_rank() == 0) {
      place = add_shared(&memory.listed, 1);
      if (place < memory.most_listed) memory.list[place] = s;
    }
    if constexpr (!stl::same_as<Group, thread>) place = g.shuffle(place, 0);
    return place < memory.most_listed;
  }
  ISOBIT_HD uint32_t listed() const { return memory.listed < memory.most_listed ? memory.listed : memory.most_listed; }

  static constexpr uint64_t most_for_thread = 64, most_for_warp = 2048;

  // Segments [s0, s1) a thread each in turn; longer ones are put off.
  ISOBIT_HD void by_thread(uint32_t worker, uint32_t workers, uint64_t s0, uint64_t s1) const {
    for (uint64_t s = s0 + worker; s < s1; s += workers) {
      uint64_t const n = layout.length(s);
      if (n > unit_length() || (n > most_for_thread && put_off(thread{}, s))) continue;
      reduce_segment(thread{}, s, layout, load, store, acc);
    }
  }
  // Segments [s0, s1), or those listed if s0 == s1, a warp each in turn; longer ones are put off, or left on the list.
  ISOBIT_HD void by_warp(uint32_t worker, uint32_t workers, uint64_t s0, uint64_t s1) const {
    bool const from_list = s0 == s1;
    uint64_t const count = from_list ? listed() : s1 - s0;
    tile<32> const t;
    for (uint64_t i = worker; i < count; i += workers) {
      uint64_t const s = from_list ? memory.list[i] : s0 + i, n = layout.length(s);
      if (n > unit_length() || (n > most_for_warp && (from_list || put_off(t, s)))) continue;
      reduce_segment(t, s, layout, load, store, acc);
    }
  }
  // What is left, by the block together: first a node of the segment that covers the start of unit u, if there is one,
  // then what is listed and long, then node 0 of the last segment, if that is longer than a unit.
  ISOBIT_HD void by_block(uint64_t u, uint64_t s0, uint64_t s1) const {
    uint32_t const count = listed(), warps = b.size() / 32;
#if defined(ISOBIT_ON_DEVICE)
#pragma unroll 1
#endif
    for (uint32_t i = 0; i < count + 2; ++i) {
      bool const covers = i == 0, begins = i == count + 1;
      if ((covers && s0 == 0) || (begins && s0 == s1)) continue;
      uint64_t const s = covers ? s0 - 1 : begins ? s1 - 1 : memory.list[i - 1], n = layout.length(s);
      uint64_t const k = covers ? u - (position_of(layout, s) >> workspace.level) : 0;
      bool const is_long = covers || begins;
      if (is_long ? n <= unit_length() || k >= ceil_shift(n, workspace.level) : warps != 0 && n <= most_for_warp)
        continue;
      uint64_t const first = k << workspace.level, rest = n - first;
      state const node =
          fold(b, is_long && rest > unit_length() ? unit_length() : rest, shift(load, layout.first(s) + first), acc);
      if (is_long)
        add_node(s, k, node);
      else if (b.thread_rank() == 0)
        store_state(store, s, acc, node);
    }
  }

  ISOBIT_HD void unit(uint64_t u) const {
    uint32_t const rank = b.thread_rank(), warps = b.size() / 32;
    if (rank == 0) memory.listed = 0;
    uint64_t s[2];
    find(u << workspace.level, (u + 1) << workspace.level, s);
    b.sync();
    uint64_t const count = s[1] - s[0];
    bool const many = warps == 0 || count > unit_length() / 32; // less than 32 elements each, or no warp
    if (many) {
      by_thread(rank, b.size(), s[0], s[1]);
      b.sync();
    }
    if (rank / 32 < warps && count != 0) by_warp(rank / 32, warps, many ? 0 : s[0], many ? 0 : s[1]);
    b.sync();
    by_block(u, s[0], s[1]);
    b.sync();
  }
};

} // namespace detail

//! For each segment s of `layout`: `store(s, r)` with r = the accumulator's result over the segment's elements, the bits
//! of `reduce` over them alone. An empty segment stores `op.empty()`. By one group, all segments in turn.
//!
//! - `g`: `thread`, `tile<P>`, `block` or `host`. All threads of the group pass the same arguments; one of them stores.
//! - `load(i)`: element i of the whole array, called with uint64_t; elements outside of all segments are not touched.
//! - `op`: as in `reduce`.
//!
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read of the elements.
ISOBIT_CALLS_USER_CODE
template <class Group, segment_layout Layout, class Load, class Store, class Op = detail::plain_sum>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD void segmented_reduce(Group const& g, Layout const& layout, Load const& load, Store const& store,
                                Op const& op = {}) {
  if constexpr (detail::can_reduce<tree, uint64_t, Load, Op>()) {
    auto const elements = detail::as_load<uint64_t>(load);
    auto const acc = detail::as_accumulator<detail::loaded<decltype(elements)>>(op);
    uint64_t const segments = layout.segments();
    for (uint64_t s = 0; s < segments; ++s) detail::reduce_segment(g, s, layout, elements, store, acc);
  }
}

//! The same by all blocks of a launch, with equal work for each from one segment of any length to millions of empty
//! ones: a segment longer than a unit is shared by many blocks (the nodes of its own tree), shorter ones share a block, a
//! warp, or have a thread each. Any grid of blocks of at most N threads gives the same bits. All threads of all blocks pass
//! the same arguments.
//! `memory`: shared; `workspace`: see there; it must be made for at least as many elements and segments.
ISOBIT_CALLS_USER_CODE
template <int N, class T, class State, segment_layout Layout, class Load, class Store, class Op = detail::plain_sum>
ISOBIT_HD void segmented_reduce(segment_storage<N, T>& memory, segment_workspace<State> const& workspace,
                                Layout const& layout, Load const& load, Store const& store, Op const& op = {}) {
  if constexpr (detail::can_reduce<tree, uint64_t, Load, Op>()) {
    auto const elements = detail::as_load<uint64_t>(load);
    auto const acc = detail::as_accumulator<detail::loaded<decltype(elements)>>(op);
    using acc_type = stl::remove_const_t<decltype(acc)>;
    machine::shared_memory(&memory, sizeof memory);
    detail::segment_block<N, T, Layout, decltype(elements), Store, acc_type> const all{
        memory, block<N, State>(memory.fold), workspace, layout, elements, store, acc};
    uint64_t const segments = layout.segments();
    if (segments == 0) return;
    uint64_t const units = ceil_shift(layout.before(segments) + segments, workspace.level);
    for (uint64_t u = machine::block_rank(); u < units && units <= workspace.units; u += machine::grid_blocks())
      all.unit(u);
  }
}

} // namespace isobit::inline bits1
