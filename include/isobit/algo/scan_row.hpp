// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The parts of a scan that a CPU's thread and a GPU's share: the prefixes within a few neighbouring elements, and the
//! results as an array.
#pragma once

#include <isobit/algo/fold_tile.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/algo/scan_form.hpp>
#include <isobit/order/counter.hpp>

namespace isobit::inline bits1::detail {

// s[j] = the prefix over s[0..j], for a lane's V neighbouring nodes of which the first `count` exist.
ISOBIT_CALLS_USER_CODE
template <int V, class Acc, class State> ISOBIT_HD constexpr void scan_array(Acc const& acc, State* s, int count) {
  ISOBIT_UNROLL
  for (int step = 1; step < V; step *= 2) {
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j)
      if ((j & step) != 0 && j < count) s[j] = acc.combine(s[(j & ~(2 * step - 1)) | (step - 1)], s[j]);
  }
}

// A node to the left of each of s[0..count), and of what comes before them.
ISOBIT_CALLS_USER_CODE
template <int V, class Acc, class State, class Before>
ISOBIT_HD void prepend_node(Acc const& acc, State const& node, State* s, int count, Before& before) {
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j)
    if (j < count) s[j] = acc.combine(node, s[j]);
  before.prepend(acc, node);
}

// The initial value, if there is one, to the left of all that.
ISOBIT_CALLS_USER_CODE
template <int V, class Form, class Acc, class State, class Before>
ISOBIT_HD void prepend_initial(Form const& form, Acc const& acc, State* s, int count, Before& before) {
  if constexpr (Form::has_initial) prepend_node<V>(acc, form.initial.state, s, count, before);
}

// The nodes that wait in `pending`, the nearest first, and the initial value. `before` ends as the fold of them alone.
ISOBIT_CALLS_USER_CODE
template <int V, class Form, class Acc, class State>
ISOBIT_HD before_first<Form, State> prepend(counter<State> const& pending, Form const& form, Acc const& acc, State* s,
                                            int count) {
  before_first<Form, State> before;
  pending.for_each_from_right([&](State const& node) { prepend_node<V>(acc, node, s, count, before); });
  prepend_initial<V>(form, acc, s, count, before);
  return before;
}

// How many of a lane's V elements exist, of `count` in the row.
template <int V> ISOBIT_HD constexpr int lane_count(int count, uint32_t lane) {
  int const mine = count - static_cast<int>(lane) * V;
  return mine < 0 ? 0 : mine < V ? mine : V;
}

// Loads a lane's elements as states.
ISOBIT_CALLS_USER_CODE
template <int V, class Load, class Acc>
ISOBIT_HD void load_lane(Load const& load, uint64_t i, int count, Acc const& acc, typename Acc::state* s) {
  if constexpr (vector_load<Load>) {
    if (count == V) {
      stl::remove_cvref_t<decltype(load(i))> x[V];
      load.get(i, x);
      ISOBIT_UNROLL
      for (int j = 0; j < V; ++j) s[j] = acc.lift(x[j]);
      return;
    }
  }
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j)
    if (j < count) s[j] = acc.lift(load(i + static_cast<uint64_t>(j)));
}

// Stores a lane's results, of which `get(j)` is the one for its element j.
ISOBIT_CALLS_USER_CODE
template <int V, class Result, class Store, class Get>
ISOBIT_HD void put_lane(Store const& store, uint64_t i, int count, Get const& get) {
  if constexpr (requires(Result const* r) { store.put(i, r); }) {
    if (count == V && V % Store::width == 0) {
      Result r[V];
      ISOBIT_UNROLL
      for (int j = 0; j < V; ++j) r[j] = get(j);
      ISOBIT_UNROLL
      for (int j = 0; j < V; j += Store::width) store.put(i + static_cast<uint64_t>(j), r + j);
      return;
    }
  }
  ISOBIT_UNROLL
  for (int j = 0; j < V; ++j)
    if (j < count) store(i + static_cast<uint64_t>(j), get(j));
}

// Stores the results of one row: s[0..count) are this lane's prefixes over everything, `before` the one before the row.
ISOBIT_CALLS_USER_CODE
template <int V, class Form, int P, class Store, class Acc, class State>
ISOBIT_HD void store_row(tile<P> const& t, Store const& store, uint64_t i, int count, Acc const& acc, State const* s,
                         [[maybe_unused]] before_first<Form, State> const& before) {
  using result = typename Acc::result;
  if constexpr (Form::exclusive) {
    uint32_t lane = 0;
    State left{};
    if constexpr (P > 1) {
      lane = t.thread_rank();
      left = t.shuffle(s[V - 1], (lane + P - 1) % P); // full, wherever it is used
    }
    put_lane<V, result>(store, i, count, [&](int j) -> result {
      if (j > 0) return acc.finish(s[j - 1 < 0 ? 0 : j - 1]);
      if (lane == 0) return before.result(acc);
      return acc.finish(left);
    });
  } else {
    put_lane<V, result>(store, i, count, [&](int j) { return acc.finish(s[j]); });
  }
}

// One row of P*V elements of which `count` >= 1 exist: s becomes the prefixes within the row, in each lane its V.
// Returns the last of them, the row's node, to every lane.
ISOBIT_CALLS_USER_CODE
template <int V, int P, class Acc, class State>
ISOBIT_HD State scan_row(tile<P> const& t, Acc const& acc, State* s, int count) {
  uint32_t const lane = t.thread_rank();
  int const mine = lane_count<V>(count, lane);
  scan_array<V>(acc, s, mine);
  ISOBIT_UNROLL
  for (uint32_t distance = 1; distance < P; distance *= 2) {
    uint32_t const from = (lane & ~(2 * distance - 1)) | (distance - 1);
    State const left = t.shuffle(s[V - 1], from); // full, wherever it is used
    if ((lane & distance) != 0) {
      ISOBIT_UNROLL
      for (int j = 0; j < V; ++j)
        if (j < mine) s[j] = acc.combine(left, s[j]);
    }
  }
  State last = s[0];
  ISOBIT_UNROLL
  for (int j = 1; j < V; ++j)
    if (j < mine) last = s[j];
  return t.shuffle(last, static_cast<uint32_t>((count - 1) / V));
}

template <class Load, class State> ISOBIT_HD constexpr int scan_width() {
  return sizeof(State) > 16 ? 1 : lane_width<Load>();
}

ISOBIT_HD constexpr int row_count(uint64_t first, uint64_t n, int row) {
  return first >= n ? 0 : n - first < static_cast<uint64_t>(row) ? static_cast<int>(n - first) : row;
}

// The results as an array, with 16-byte stores.
template <class T> struct aligned_results {
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  T* data;
  ISOBIT_HD void operator()(uint64_t i, T const& x) const { data[i] = x; }
  ISOBIT_HD void put(uint64_t i, T const* x) const {
#if defined(ISOBIT_ON_DEVICE)
    word16 w;
    __builtin_memcpy(&w, x, 16);
    *reinterpret_cast<uint4*>(data + i) = __builtin_bit_cast(uint4, w);
#else
    for (int j = 0; j < width; ++j) data[i + static_cast<uint64_t>(j)] = x[j];
#endif
  }
};

//! The results as an array.
template <class T> struct results {
  static constexpr bool has_vectors = sizeof(T) <= 8 && 16 % sizeof(T) == 0;
  T* data;
  ISOBIT_HD void operator()(uint64_t i, T const& x) const { data[i] = x; }
  ISOBIT_HD bool is_aligned() const { return reinterpret_cast<stl::uintptr_t>(data) % 16 == 0; }
  ISOBIT_HD aligned_results<T> vectors() const { return {data}; }
};

//! The results as an array of a narrower floating-point type, each rounded once.
template <small_float T> struct results<T> {
  static constexpr bool has_vectors = false;
  T* data;
  template <ieee_float R> ISOBIT_HD void operator()(uint64_t i, R x) const { data[i] = encode<T>(x); }
};

} // namespace isobit::inline bits1::detail
