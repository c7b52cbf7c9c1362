// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements, evaluated by a tile of P lanes.
//!
//! A lane reads V neighbouring elements (one 16-byte access where the load allows it) and folds them. P lanes make a
//! row of P*V elements. R rows at a time are folded across the lanes by an exchange of halves: in step s a lane gives
//! away half of its rows and receives, for the other half, what the lane 2^s away has. R - 1 shuffles fold R rows over
//! R lanes, where a butterfly for each row would take R * log2 R.
#pragma once

#include <isobit/algo/fold_thread.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/bits/integer.hpp>
#include <isobit/group/tile.hpp>

namespace isobit::inline bits1 {

namespace detail {

template <class Load>
concept vector_load = requires { Load::width; };
template <class Load>
concept has_vector_form = requires(Load const l) {
  l.is_aligned();
  l.vectors();
} && Load::has_vectors;

//! Neighbouring elements that a lane reads at a time.
template <class Load> ISOBIT_HD constexpr int lane_width() {
  if constexpr (vector_load<Load>)
    return Load::width;
  else
    return 4;
}

// The node over elements [i, i + V).
ISOBIT_CALLS_USER_CODE
template <int V, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_lane(Load const& load, uint64_t i, Acc const& acc) {
  typename Acc::state s[V];
  if constexpr (vector_load<Load>) {
    stl::remove_cvref_t<decltype(load(i))> x[V];
    load.get(i, x);
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) s[j] = acc.lift(x[j]);
  } else {
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j) s[j] = acc.lift(load(i + j));
  }
  fold_array<V>(acc, s);
  return s[0];
}

// The node over elements [i, i + count), 1 <= count <= V.
ISOBIT_CALLS_USER_CODE
template <int V, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_partial_lane(Load const& load, uint64_t i, int count, Acc const& acc) {
  typename Acc::state s[V];
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j)
    if (j < count) s[j] = acc.lift(load(i + j));
  fold_array<V>(acc, s, count);
  return s[0];
}

// One step of a butterfly: this lane's node and its partner's, lower lane left.
ISOBIT_CALLS_USER_CODE
template <int P, class Acc, class State>
ISOBIT_HD State combine_across(tile<P> const& t, Acc const& acc, State const& mine, uint32_t lane_mask) {
  State const other = t.shuffle_xor(mine, lane_mask);
  bool const upper = (t.thread_rank() & lane_mask) != 0;
  return acc.combine(upper ? other : mine, upper ? mine : other);
}

// R full rows from element i: every lane gets the node over all of them.
ISOBIT_CALLS_USER_CODE
template <int V, int R, int P, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_rows(tile<P> const& t, Load const& load, uint64_t i, Acc const& acc) {
  using state = typename Acc::state;
  uint32_t const lane = t.thread_rank();
  state row[R];
  ISOBIT_UNROLL
  for (int r = 0; r < R; ++r) row[r] = fold_lane<V>(load, i + (uint64_t(r) * P + lane) * V, acc);

  // Rows over the low lane bits, by exchange of halves: a lane with bit s set keeps the upper half of its rows.
  ISOBIT_UNROLL
  for (int half = R / 2, distance = 1; half >= 1; half /= 2, distance *= 2) {
    bool const upper = (lane & static_cast<uint32_t>(distance)) != 0;
    ISOBIT_UNROLL
    for (int r = 0; r < half; ++r) {
      state const kept = upper ? row[r + half] : row[r];
      state const given = upper ? row[r] : row[r + half];
      state const received = t.shuffle_xor(given, static_cast<uint32_t>(distance));
      row[r] = acc.combine(upper ? received : kept, upper ? kept : received);
    }
  }
  // One row is left to each lane: over the high lane bits ...
  ISOBIT_UNROLL
  for (int distance = R; distance < P; distance *= 2)
    row[0] = combine_across(t, acc, row[0], static_cast<uint32_t>(distance));
  // ... and then the rows with each other. Row bit b lies at lane bit log2(R) - 1 - b.
  ISOBIT_UNROLL
  for (int distance = R / 2; distance >= 1; distance /= 2)
    row[0] = combine_across(t, acc, row[0], static_cast<uint32_t>(distance));
  return row[0];
}

// A row that ends after `count` elements, 1 <= count <= P*V: lanes without elements are skipped.
ISOBIT_CALLS_USER_CODE
template <int V, int P, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_partial_row(tile<P> const& t, Load const& load, uint64_t i, int count,
                                               Acc const& acc) {
  using state = typename Acc::state;
  int const lane = static_cast<int>(t.thread_rank());
  int const mine = count - lane * V;
  state s{};
  if (mine > 0) s = fold_partial_lane<V>(load, i + uint64_t(lane) * V, mine < V ? mine : V, acc);
  ISOBIT_UNROLL
  for (int distance = 1; distance < P; distance *= 2) {
    state const other = t.shuffle_xor(s, static_cast<uint32_t>(distance));
    bool const upper = (lane & distance) != 0;
    int const right_lane = (lane | distance) & ~(distance - 1); // where the right-hand node begins
    if (right_lane * V < count)
      s = acc.combine(upper ? other : s, upper ? s : other);
    else if (upper)
      s = other;
  }
  return s;
}

// Tiles of R rows, then what is left in halves of that, then the ragged row.
template <int V, int R, int P, class Load, class Acc, class Counter>
ISOBIT_HD void push_rows(tile<P> const& t, Load const& load, uint64_t& i, uint64_t n, Acc const& acc, Counter& pending) {
  constexpr uint64_t elements = uint64_t(R) * P * V;
  for (; n - i >= elements; i += elements) pending.push(acc, fold_rows<V, R>(t, load, i, acc), bit_width(R) - 1);
  if constexpr (R > 1) push_rows<V, R / 2>(t, load, i, n, acc, pending);
}

template <int P, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_tile(tile<P> const& t, uint64_t n, Load const& load, Acc const& acc) {
  using state = typename Acc::state;
  constexpr int V = lane_width<Load>();
  constexpr int R = sizeof(state) > 16 ? 1 : P < 8 ? P : 8;
  counter<state> pending; // in units of one row
  uint64_t i = 0;
  push_rows<V, R>(t, load, i, n, acc, pending);
  if (i < n) pending.push(acc, fold_partial_row<V>(t, load, i, static_cast<int>(n - i), acc));
  return pending.fold(acc);
}

} // namespace detail

//! The tree over `load(0) .. load(n - 1)`, n >= 1, by all lanes of a tile together; every lane receives the same bits.
//! All lanes pass the same arguments.
template <int P, class Load, accumulator A>
ISOBIT_HD typename A::state fold(tile<P> const& t, uint64_t n, Load const& load, A const& acc) {
  if constexpr (detail::has_vector_form<Load>)
    if (load.is_aligned()) return detail::fold_tile(t, n, load.vectors(), acc);
  return detail::fold_tile(t, n, load, acc);
}

} // namespace isobit::inline bits1
