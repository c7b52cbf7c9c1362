// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scan by one thread, by a tile and by a block, each in rounds: any length, any width.
#pragma once

#include <isobit/algo/fold_block.hpp>
#include <isobit/algo/scan_row.hpp>

namespace isobit::inline bits1::detail {

ISOBIT_CALLS_USER_CODE
template <class Form, class Load, class Store, class Acc>
ISOBIT_HD constexpr void scan_elements(thread, uint64_t n, Form const& form, Load const& load, Store const& store,
                                       Acc const& acc) {
  using state = typename Acc::state;
  counter<state> pending;
  auto const with_initial = [&](state const& s) {
    if constexpr (Form::has_initial)
      return acc.combine(form.initial.state, s);
    else
      return s;
  };
  for (uint64_t i = 0; i < n; ++i) {
    state const leaf = acc.lift(load(i)); // before its place is written
    if constexpr (Form::exclusive) {
      if (i > 0)
        store(i, acc.finish(with_initial(pending.fold(acc))));
      else if constexpr (Form::has_initial)
        store(i, acc.finish(form.initial.state));
      else
        store(i, acc.empty());
      pending.push(acc, leaf);
    } else {
      pending.push(acc, leaf);
      store(i, acc.finish(with_initial(pending.fold(acc))));
    }
  }
}

ISOBIT_CALLS_USER_CODE
template <int P, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_elements(tile<P> const& t, uint64_t n, Form const& form, Load const& load, Store const& store,
                             Acc const& acc) {
  using state = typename Acc::state;
  constexpr int V = scan_width<Load, state>(), row = P * V;
  counter<state> pending; // in rows
  for (uint64_t i = 0; i < n; i += row) {
    int const count = row_count(i, n, row), mine = lane_count<V>(count, t.thread_rank());
    uint64_t const at = i + t.thread_rank() * V;
    state s[V] = {};
    load_lane<V>(load, at, mine, acc, s);
    state const node = scan_row<V>(t, acc, s, count);
    auto const before = prepend<V>(pending, form, acc, s, mine);
    store_row<V, Form>(t, store, at, mine, acc, s, before);
    pending.push(acc, node);
  }
}

// Workers (tiles of P lanes, or single threads) take a row each; their nodes meet in shared memory, and every worker
// counts them up to its own row.
ISOBIT_CALLS_USER_CODE
template <int P, int N, class State, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_rounds(block<N, State> const& b, uint32_t worker, uint32_t workers, uint64_t n, Form const& form,
                           Load const& load, Store const& store, Acc const& acc) {
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
        auto const before = prepend<V>(pending, form, acc, s, mine);
        store_row<V, Form>(t, store, at, mine, acc, s, before);
        if (last_round) break;
      }
      if (uint64_t(w) * row < n - base) pending.push(acc, *memory.slot(w));
    }
    b.sync();
  }
}

template <class Acc, class State> ISOBIT_HD constexpr void check_scan_storage() {
  static_assert(stl::same_as<State, typename Acc::state>,
                "isobit: the block's storage must hold the accumulator's states: declare it as "
                "block<N>::storage<T> with T the accumulator, or the element type for a plain sum");
}

template <int N, class State, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_elements(block<N, State> const& b, uint64_t n, Form const& form, Load const& load,
                             Store const& store, Acc const& acc) {
  check_scan_storage<Acc, State>();
  uint32_t const rank = b.thread_rank(), warps = b.size() / 32;
  if (warps == 0)
    scan_rounds<1>(b, rank, b.size(), n, form, load, store, acc);
  else
    scan_rounds<32>(b, rank / 32, warps, n, form, load, store, acc);
}

} // namespace isobit::inline bits1::detail
