// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The prefixes of one chunk of a long array by one block: read once, kept in registers until the nodes before the
//! chunk are there, written once.
//!
//! A worker (a tile of P lanes, or a thread) has R neighbouring rows of P * V elements; a chunk is a power of two of
//! workers.
#pragma once

#include <isobit/algo/fold_block.hpp>
#include <isobit/algo/scan_nodes.hpp>
#include <isobit/algo/scan_row.hpp>

namespace isobit::inline bits1::detail {

// Which of a worker's R * P * V elements exist: all of them, or the first `count`.
template <int V, int R, int P, bool Full> struct worker_rows {
  static constexpr int row = P * V;
  int count;
  uint32_t lane;
  ISOBIT_HD int in_row(int r) const {
    if constexpr (Full) return row;
    int const rest = count - r * row;
    return rest < 0 ? 0 : rest < row ? rest : row;
  }
  ISOBIT_HD int mine(int r) const {
    if constexpr (Full) return V;
    return lane_count<V>(in_row(r), lane);
  }
};

// s becomes the prefixes within the worker's rows. Returns the node over them to every lane.
ISOBIT_CALLS_USER_CODE
template <int V, int R, int P, bool Full, class Acc, class State>
ISOBIT_HD State scan_worker(tile<P> const& t, worker_rows<V, R, P, Full> const& rows, Acc const& acc, State* s) {
  State last[R];
  ISOBIT_UNROLL
  for (int r = 0; r < R; ++r)
    last[r] = Full || rows.in_row(r) > 0 ? scan_row<V>(t, acc, s + r * V, rows.in_row(r)) : State{};
  ISOBIT_UNROLL
  for (int step = 1; step < R; step *= 2) {
    ISOBIT_UNROLL
    for (int r = 0; r < R; ++r) {
      if ((r & step) == 0 || rows.in_row(r) == 0) continue;
      State const left = last[(r & ~(2 * step - 1)) | (step - 1)];
      ISOBIT_UNROLL
      for (int j = 0; j < V; ++j)
        if (j < rows.mine(r)) s[r * V + j] = acc.combine(left, s[r * V + j]);
      last[r] = acc.combine(left, last[r]);
    }
  }
  State node = last[0];
  ISOBIT_UNROLL
  for (int r = 1; r < R; ++r)
    if (rows.in_row(r) > 0) node = last[r];
  return node;
}

ISOBIT_CALLS_USER_CODE
template <int V, int R, int P, bool Full, class Acc, class State, class Before>
ISOBIT_HD void prepend_to_worker(worker_rows<V, R, P, Full> const& rows, Acc const& acc, State const& node, State* s,
                                 Before& before) {
  ISOBIT_UNROLL
  for (int r = 0; r < R; ++r) {
    ISOBIT_UNROLL
    for (int j = 0; j < V; ++j)
      if (j < rows.mine(r)) s[r * V + j] = acc.combine(node, s[r * V + j]);
  }
  before.prepend(acc, node);
}

// The nodes over workers of one chunk. Lane i holds the one that ends after worker i, as many workers long as the
// lowest bit of i + 1 says; single threads look into the slots.
template <int P, class State> struct nodes_of_workers {
  State node{};
  ISOBIT_CALLS_USER_CODE
  template <class Memory, class Acc>
  ISOBIT_HD nodes_of_workers(tile<P> const& t, Memory& memory, uint32_t workers, Acc const& acc) {
    if constexpr (P > 1) {
      uint32_t const lane = t.thread_rank();
      if (lane < workers) node = *memory.slot(lane);
      ISOBIT_UNROLL
      for (uint32_t distance = 1; distance < P; distance *= 2) {
        State const left = t.shuffle(node, (lane + P - distance) % P);
        if (lane < workers && (lane + 1) % (2 * distance) == 0) node = acc.combine(left, node);
      }
    }
  }
  // The node that ends before worker m, m >= 1.
  template <class Memory, class Acc>
  ISOBIT_HD State before(tile<P> const& t, uint32_t m, Memory& memory, Acc const& acc) const {
    if constexpr (P > 1) {
      return t.shuffle(node, m - 1);
    } else {
      auto const size = static_cast<uint32_t>(lowest_bit(m));
      return fold(thread{}, uint64_t(size),
                  [&](uint64_t i) { return *memory.slot(m - size + static_cast<uint32_t>(i)); }, over_states<Acc>{acc});
    }
  }
};

// Chunk k of `nodes`, `count` elements from load(first).
ISOBIT_CALLS_USER_CODE
template <int V, int R, int P, bool Full, int N, class State, class Nodes, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_chunk(block<N, State> const& b, uint32_t worker, uint32_t workers, Nodes const& nodes, uint64_t k,
                          uint64_t first, uint64_t count, Form const& form, Load const& load, Store const& store,
                          Acc const& acc) {
  tile<P> const t;
  constexpr int all = R * P * V;
  auto& memory = b.memory();
  uint64_t const skipped = uint64_t(worker) * all;
  worker_rows<V, R, P, Full> const rows{
      count <= skipped ? 0 : count - skipped < uint64_t(all) ? static_cast<int>(count - skipped) : all, t.thread_rank()};
  bool const works = worker < workers && (Full || rows.count > 0);
  uint64_t const at = first + skipped + rows.lane * V;
  State s[R * V] = {};
  if (works) {
    ISOBIT_UNROLL
    for (int r = 0; r < R; ++r) load_lane<V>(load, at + uint64_t(r) * (P * V), rows.mine(r), acc, s + r * V);
    State const node = scan_worker(t, rows, acc, s);
    if (rows.lane == 0) *memory.slot(worker) = node;
  }
  b.sync();
  before_first<Form, State> before;
  if (works) {
    uint32_t const present = Full ? workers : static_cast<uint32_t>((count - 1) / all) + 1;
    nodes_of_workers<P, State> const neighbours(t, memory, present, acc);
    if ((Full || count == uint64_t(workers) * all) && worker == 0) {
      State const node = neighbours.before(t, workers, memory, acc);
      if (rows.lane == 0) nodes.publish(acc, k, node);
    }
    for (uint32_t m = worker; m != 0; m &= m - 1)
      prepend_to_worker(rows, acc, neighbours.before(t, m, memory, acc), s, before);
  }
  b.sync();
  if (worker < workers) nodes.collect(t, acc, k, worker, workers, memory);
  b.sync();
  if (!works) return;
  uint32_t const waiting = count_bits(k);
  for (uint32_t i = 0; i < waiting; ++i) prepend_to_worker(rows, acc, *memory.slot(i), s, before);
  if constexpr (Form::has_initial) prepend_to_worker(rows, acc, form.initial.state, s, before);
  ISOBIT_UNROLL
  for (int r = 0; r < R; ++r) {
    if constexpr (Form::exclusive)
      if (r > 0) before.set(t.shuffle(s[r * V - 1 < 0 ? 0 : r * V - 1], P - 1));
    store_row<V, Form>(t, store, at + uint64_t(r) * (P * V), rows.mine(r), acc, s + r * V, before);
  }
}

//! How a block of `threads` threads shares a chunk out.
template <class Load, class State> struct chunk_shape {
  static constexpr int items = chunk_items<Load, State>();
  static constexpr int width = scan_width<Load, State>();
  uint32_t workers; //!< tiles of 32 lanes, or threads of a block of fewer
  uint64_t chunk;   //!< elements
  ISOBIT_HD explicit constexpr chunk_shape(uint32_t threads)
      : workers(power_of_two_within(threads < 32 ? threads : threads / 32)),
        chunk(uint64_t(items) * power_of_two_within(threads)) {}
};

// The chunk that begins at `first` of n elements.
ISOBIT_CALLS_USER_CODE
template <int N, class State, class Nodes, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_chunk_of(block<N, State> const& b, Nodes const& nodes, uint64_t k, uint64_t n, Form const& form,
                             Load const& load, Store const& store, Acc const& acc) {
  using shape_type = chunk_shape<Load, State>;
  constexpr int V = shape_type::width, R = shape_type::items / V;
  static_assert(R >= 1);
  shape_type const shape(b.size());
  uint64_t const first = k * shape.chunk, count = n - first < shape.chunk ? n - first : shape.chunk;
  uint32_t const rank = b.thread_rank();
  if (b.size() < 32)
    scan_chunk<V, R, 1, false>(b, rank, shape.workers, nodes, k, first, count, form, load, store, acc);
  else if (count == shape.chunk)
    scan_chunk<V, R, 32, true>(b, rank / 32, shape.workers, nodes, k, first, count, form, load, store, acc);
  else
    scan_chunk<V, R, 32, false>(b, rank / 32, shape.workers, nodes, k, first, count, form, load, store, acc);
}

// With 16-byte accesses where both arrays allow them.
ISOBIT_CALLS_USER_CODE
template <class Block, class Nodes, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_chunk_any(Block const& b, Nodes const& nodes, uint64_t k, uint64_t n, Form const& form,
                              Load const& load, Store const& store, Acc const& acc) {
  if constexpr (has_vector_form<Load> && has_vector_form<Store>)
    if (load.is_aligned() && store.is_aligned())
      return scan_chunk_of(b, nodes, k, n, form, load.vectors(), store.vectors(), acc);
  scan_chunk_of(b, nodes, k, n, form, load, store, acc);
}

} // namespace isobit::inline bits1::detail
