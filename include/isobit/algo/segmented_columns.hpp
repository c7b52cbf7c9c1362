// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Segments of rows, reduced column by column: the gradient of a bias (one segment), of an embedding (a segment for each
//! word), of grouped weights. Column c of segment s is the tree over rows 0, 1, ... of the segment.
#pragma once

#include <isobit/algo/segmented_reduce.hpp>

namespace isobit::inline bits1 {

//! The workspace of `reduce_columns` over all blocks: as `segment_workspace`, with partial results for every column and
//! counters for every strip of columns. The first `zeroed_bytes` are 0 before the first use and after every launch.
template <class State> struct column_workspace {
  uint32_t* arrivals; //!< [units][strips]
  State* partials;    //!< [2 * units][columns]
  int level;
  uint64_t units, columns, strips;

  static constexpr int least_level = 6;
  static constexpr uint64_t most_units = 32768, strip = 256;

  ISOBIT_HD static constexpr int level_for(uint64_t rows, uint64_t segments) {
    int level = least_level;
    while (level < 62 && ((rows + segments) >> level) >= most_units) ++level;
    return level;
  }
  //! Bytes for at most so many rows (in all segments), segments and columns.
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t rows, uint64_t segments, uint64_t columns) {
    return bytes(rows, segments, columns, level_for(rows, segments));
  }
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t rows, uint64_t segments, uint64_t columns, int level) {
    uint64_t const units = ceil_shift(rows + segments, level);
    return zeroed(units, columns) + 2 * units * columns * sizeof(State);
  }
  ISOBIT_HD static constexpr uint64_t zeroed_bytes(uint64_t rows, uint64_t segments, uint64_t columns) {
    return zeroed(ceil_shift(rows + segments, level_for(rows, segments)), columns);
  }
  ISOBIT_HD static column_workspace at(void* memory, uint64_t rows, uint64_t segments, uint64_t columns) {
    return at(memory, rows, segments, columns, level_for(rows, segments));
  }
  ISOBIT_HD static column_workspace at(void* memory, uint64_t rows, uint64_t segments, uint64_t columns, int level) {
    uint64_t const units = ceil_shift(rows + segments, level);
    auto* const base = static_cast<unsigned char*>(memory);
    return {reinterpret_cast<uint32_t*>(base),
            reinterpret_cast<State*>(base + zeroed(units, columns)),
            level,
            units,
            columns,
            strips_of(columns)};
  }

private:
  ISOBIT_HD static constexpr uint64_t strips_of(uint64_t columns) { return (columns + strip - 1) / strip; }
  ISOBIT_HD static constexpr uint64_t zeroed(uint64_t units, uint64_t columns) {
    constexpr uint64_t align = alignof(State) > 16 ? alignof(State) : 16;
    return (units * strips_of(columns) * sizeof(uint32_t) + align - 1) / align * align;
  }
};

namespace detail {

// Gives the result of column c of segment s away; a store may ask for the state, to go on with it.
ISOBIT_CALLS_USER_CODE
template <class Store, class Acc, class State>
ISOBIT_HD void store_column(Store const& store, uint64_t s, uint64_t c, Acc const& acc, State const& state) {
  if constexpr (requires { store.from_state(s, c, acc, state); })
    store.from_state(s, c, acc, state);
  else
    store(s, c, acc.finish(state));
}

// One column of rows first, first + 1, ... as a load.
template <class Load> struct column_of {
  static constexpr int width_hint = 1;
  Load const& load;
  uint64_t first, column;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t i) const { return decode_element(load(first + i, column)); }
};

template <class Layout, class Load, class Store, class Acc> struct column_block {
  using state = typename Acc::state;
  column_workspace<state> const& workspace;
  Layout const& layout;
  Load const& load;
  Store const& store;
  Acc const& acc;
  uint32_t* flag; // shared

  ISOBIT_HD uint64_t unit_length() const { return uint64_t(1) << workspace.level; }

  ISOBIT_HD void whole(uint64_t s, uint64_t c) const {
    uint64_t const n = layout.length(s);
    if (n > unit_length()) return;
    if (n == 0) {
      if constexpr (!skips_empty<Store>) store(s, c, acc.empty());
      return;
    }
    store_column(store, s, c, acc, fold(thread{}, n, column_of<Load>{load, layout.first(s), c}, acc));
  }

  // Node k of the columns of one strip of a segment that is longer than a unit; the last block to do one folds them.
  ISOBIT_HD void long_node(uint64_t s, uint64_t k, uint64_t strip) const {
    uint64_t const n = layout.length(s), first = k << workspace.level, rest = n - first;
    uint64_t const start = position_of(layout, s) >> workspace.level, nodes = ceil_shift(n, workspace.level);
    uint64_t const begin = strip * workspace.strip, columns = workspace.columns;
    uint64_t const end = columns - begin < workspace.strip ? columns : begin + workspace.strip;
    uint32_t const rank = machine::thread_rank(), threads = machine::block_threads();
    state* const partials = workspace.partials;
    for (uint64_t c = begin + rank; c < end; c += threads)
      partials[(2 * (start + k) + (k == 0 ? 1 : 0)) * columns + c] =
          fold(thread{}, rest < unit_length() ? rest : unit_length(), column_of<Load>{load, layout.first(s) + first, c},
               acc);
    machine::sync_block();
    if (rank == 0) {
      auto const last = static_cast<uint32_t>(nodes - 1);
      *flag = machine::arrive(workspace.arrivals + start * workspace.strips + strip, last) == last ? 1u : 0u;
    }
    machine::sync_block();
    bool const is_last = *flag != 0;
    machine::sync_block();
    if (!is_last) return;
    for (uint64_t c = begin + rank; c < end; c += threads) {
      auto const node_of = [=](uint64_t i) { return partials[(2 * (start + i) + (i == 0 ? 1 : 0)) * columns + c]; };
      store_column(store, s, c, acc, fold(thread{}, nodes, node_of, over_states<Acc>{acc}));
    }
  }

  ISOBIT_HD void unit(uint64_t u, uint64_t strip) const {
    uint64_t const s0 = segment_at(thread{}, layout, u << workspace.level);
    uint64_t const s1 = segment_at(thread{}, layout, (u + 1) << workspace.level);
    if (s0 > 0) {
      uint64_t const before = s0 - 1, n = layout.length(before);
      uint64_t const k = u - (position_of(layout, before) >> workspace.level);
      if (n > unit_length() && k < ceil_shift(n, workspace.level)) long_node(before, k, strip);
    }
    if (s0 == s1) return;
    uint64_t const begin = strip * workspace.strip, rest = workspace.columns - begin;
    uint64_t const width = rest < workspace.strip ? rest : workspace.strip;
    for (uint64_t i = machine::thread_rank(); i < (s1 - s0) * width; i += machine::block_threads())
      whole(s0 + i / width, begin + i % width);
    if (layout.length(s1 - 1) > unit_length()) long_node(s1 - 1, 0, strip);
  }
};

template <class Load>
using column_element =
    stl::remove_cvref_t<decltype(decode_element(stl::declval<Load const&>()(uint64_t{}, uint64_t{})))>;

} // namespace detail

//! For each segment s of `layout`, whose elements are rows, and each column c < workspace.columns: `store(s, c, r)` with r =
//! the result over `load(i, c)` for the rows i of the segment; an empty segment stores `op.empty()`. By all blocks of a
//! launch; any grid, any block width. Long segments are shared by many blocks.
//! `flag`: one word of shared memory. Threads of a warp read neighbouring columns.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Cost: one read of the elements.
ISOBIT_CALLS_USER_CODE
template <class State, segment_layout Layout, class Load, class Store, class Op = detail::plain_sum>
ISOBIT_HD void reduce_columns(uint32_t* flag, column_workspace<State> const& workspace, Layout const& layout,
                              Load const& load, Store const& store, Op const& op = {}) {
  auto const acc = detail::as_accumulator<detail::column_element<Load>>(op);
  using acc_type = stl::remove_const_t<decltype(acc)>;
  static_assert(stl::same_as<State, typename acc_type::state>,
                "isobit: the workspace must hold the accumulator's states");
  uint64_t const segments = layout.segments();
  if (segments == 0) return;
  machine::shared_memory(flag, sizeof *flag);
  detail::column_block<Layout, Load, Store, acc_type> const all{workspace, layout, load, store, acc, flag};
  uint64_t const units = ceil_shift(layout.before(segments) + segments, workspace.level);
  if (units > workspace.units) return;
  for (uint64_t w = machine::block_rank(); w < units * workspace.strips; w += machine::grid_blocks())
    all.unit(w / workspace.strips, w % workspace.strips);
}

#if !defined(__CUDACC_RTC__)
//! The same on a host, for `columns` columns.
template <is_host Host, segment_layout Layout, class Load, class Store, class Op = detail::plain_sum>
void reduce_columns(Host const&, Layout const& layout, uint64_t columns, Load const& load, Store const& store,
                    Op const& op = {}) {
  auto const acc = detail::as_accumulator<detail::column_element<Load>>(op);
  with_default_environment([&] {
    for (uint64_t s = 0; s < layout.segments(); ++s) {
      uint64_t const n = layout.length(s);
      for (uint64_t c = 0; c < columns; ++c) {
        if (n > 0) {
          detail::column_of<Load> const rows{load, layout.first(s), c};
          detail::store_column(store, s, c, acc, detail::fold_range(uint64_t{0}, n, rows, acc));
        } else if constexpr (!detail::skips_empty<Store>) {
          store(s, c, acc.empty());
        }
      }
    }
    return 0;
  });
}
#endif

} // namespace isobit::inline bits1
