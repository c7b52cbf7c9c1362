// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements, evaluated by a tile of P lanes.
//!
//! A lane reads V neighbouring elements (one 16-byte access where the load allows it) and folds them. P lanes make a
//! row of P*V elements. R = 4 rows at a time are folded across the lanes by an exchange of halves: in step s a lane gives
//! away half of its rows and receives, for the other half, what the lane 2^s away has. R - 1 shuffles fold R rows over
//! R lanes, where a butterfly for each row would take R * log2 R. Four rows keep 64 bytes a lane in flight and the code
//! short; eight took 3.9 instead of about 5 instructions an element, both far below what memory allows (about 31).
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

// Neighbouring elements that a lane reads at a time: 16 bytes of an array, 4 calls of a load, or what the load says (a
// load whose every call is a loop says `width_hint = 1`, so that it is not unrolled into a lane's and row's copies).
template <class Load> ISOBIT_HD constexpr int lane_width() {
  if constexpr (vector_load<Load>)
    return Load::width;
  else if constexpr (requires { Load::width_hint; })
    return Load::width_hint;
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
  s[0] = acc.lift(load(i));
  ISOBIT_UNROLL
  for (int j = 1; j < V; ++j)
    if (j < count) s[j] = acc.lift(load(i + j));
  fold_array<V>(acc, s, count);
  return s[0];
}

// By value: a conditional over array elements would select an address and force the array into memory.
template <class State> ISOBIT_HD State select(bool first, State a, State b) { return first ? a : b; }

// Combines this lane's node with another lane's; the lower lane is the left operand. An accumulator may say that its
// operands commute, bit for bit up to the payload of a NaN, with `static constexpr bool commutative = true`.
ISOBIT_CALLS_USER_CODE
template <class Acc, class State>
ISOBIT_HD State combine_lanes(Acc const& acc, bool mine_is_right, State mine, State other) {
  if constexpr (requires { requires Acc::commutative; })
    return acc.combine(mine, other);
  else
    return acc.combine(select(mine_is_right, other, mine), select(mine_is_right, mine, other));
}

// One step of a butterfly over the lane bit `distance`.
template <int P, class Acc, class State>
ISOBIT_HD State combine_across(tile<P> const& t, Acc const& acc, State mine, uint32_t distance) {
  State const other = t.shuffle_xor(mine, distance);
  return combine_lanes(acc, (t.thread_rank() & distance) != 0, mine, other);
}

// Folds rows over the low lane bits by an exchange of halves: of 2 * Half rows, a lane whose bit `distance` is set
// keeps the upper half. Leaves one row to each lane, in row[0].
template <int Half, int P, class Acc, class State>
ISOBIT_HD void exchange_rows(tile<P> const& t, Acc const& acc, State* row, uint32_t distance) {
  if constexpr (Half >= 1) {
    bool const upper = (t.thread_rank() & distance) != 0;
    ISOBIT_UNROLL
    for (int r = 0; r < Half; ++r) {
      State const kept = select(upper, row[r + Half], row[r]);
      State const given = select(upper, row[r], row[r + Half]);
      row[r] = combine_lanes(acc, upper, kept, t.shuffle_xor(given, distance));
    }
    exchange_rows<Half / 2>(t, acc, row, 2 * distance);
  }
}

// R full rows from element i: every lane gets the node over all of them.
template <int V, int R, int P, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_rows(tile<P> const& t, Load const& load, uint64_t i, Acc const& acc) {
  using state = typename Acc::state;
  uint32_t const lane = t.thread_rank();
  state row[R];
  ISOBIT_UNROLL
  for (int r = 0; r < R; ++r) row[r] = fold_lane<V>(load, i + (uint64_t(r) * P + lane) * V, acc);
  exchange_rows<R / 2>(t, acc, row, 1);
  // One row is left to each lane: over the high lane bits ...
  state node = row[0];
  ISOBIT_UNROLL
  for (uint32_t distance = R; distance < P; distance *= 2) node = combine_across(t, acc, node, distance);
  // ... and then the rows with each other. Row bit b lies at lane bit log2(R) - 1 - b.
  ISOBIT_UNROLL
  for (uint32_t distance = R / 2; distance >= 1; distance /= 2) node = combine_across(t, acc, node, distance);
  return node;
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
      s = combine_lanes(acc, upper, s, other);
    else if (upper)
      s = other;
  }
  return s;
}

// Any order: a lane deposits every element that it reads into one state, and the lanes are combined once.
ISOBIT_CALLS_USER_CODE
template <int P, class Load, class Acc>
ISOBIT_HD typename Acc::state deposit_tile(tile<P> const& t, uint64_t n, Load const& load, Acc const& acc) {
  using state = typename Acc::state;
  constexpr int V = lane_width<Load>();
  uint64_t const row = uint64_t(P) * V;
  state s{};
  for (uint64_t i = uint64_t(t.thread_rank()) * V; i < n; i += row) {
    if constexpr (vector_load<Load>)
      if (n - i >= V) {
        stl::remove_cvref_t<decltype(load(i))> x[V];
        load.get(i, x);
        for (int j = 0; j < V; ++j) acc.deposit(s, x[j]);
        continue;
      }
    uint64_t const end = n - i < V ? n : i + V;
    for (uint64_t j = i; j < end; ++j) acc.deposit(s, load(j));
  }
#if defined(ISOBIT_ON_DEVICE)
#pragma unroll 1 // a shuffle of a large state is long
#endif
  for (uint32_t distance = 1; distance < P; distance *= 2) s = acc.combine(s, t.shuffle_xor(s, distance));
  return s;
}

template <int P, class Load, class Acc>
ISOBIT_HD typename Acc::state fold_tile(tile<P> const& t, uint64_t n, Load const& load, Acc const& acc) {
  if constexpr (order_free_accumulator<Acc>) {
    return deposit_tile(t, n, load, acc);
  } else {
    using state = typename Acc::state;
    constexpr int V = lane_width<Load>();
    constexpr int R = V == 1 || sizeof(state) > 16 ? 1 : P < 4 ? P : 4;
    constexpr uint64_t row = uint64_t(P) * V;
    counter<state> pending; // in units of one row
    uint64_t i = 0;
    if constexpr (R > 1)
      for (; n - i >= R * row; i += R * row) pending.push(acc, fold_rows<V, R>(t, load, i, acc), bit_width(R) - 1);
    for (; n - i >= row; i += row) pending.push(acc, fold_rows<V, 1>(t, load, i, acc));
    if (i < n) pending.push(acc, fold_partial_row<V>(t, load, i, static_cast<int>(n - i), acc));
    return pending.fold(acc);
  }
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
