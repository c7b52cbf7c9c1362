// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind the launchers of segmented scans. The same source runs on a GPU and, through `isobit::simt`, on a
//! CPU.
#pragma once

#include <isobit/algo/segmented_scan.hpp>
#include <isobit/algo/segments.hpp>
#include <isobit/device/whole_scan_kernel.hpp>

namespace isobit::inline bits1 {

namespace detail {

// How many chunks segment s makes where it is longer than `longest`; shorter ones go to tiles.
template <class Layout> struct chunks_of_segment {
  Layout layout;
  uint64_t chunk, longest;
  ISOBIT_HD uint64_t operator()(uint64_t s) const {
    uint64_t const length = s < layout.segments() ? layout.length(s) : 0;
    return length <= longest ? 0 : (length - 1) / chunk + 1;
  }
};

// offsets[k] = where segment k begins, from the inclusive counts of heads; after the last one n, and their number.
template <class Heads> struct store_heads {
  Heads heads;
  uint64_t n;
  uint64_t* offsets;
  uint64_t* count;
  ISOBIT_HD void operator()(uint64_t i, uint64_t begun) const {
    if (heads(i)) offsets[begun - 1] = i;
    if (i + 1 == n) {
      offsets[begun] = n;
      *count = begun;
    }
  }
};
template <class Heads> struct count_heads {
  Heads heads;
  ISOBIT_HD uint64_t operator()(uint64_t i) const { return heads(i) ? 1 : 0; }
};

// The first s with counts[s] > k, by one thread or by all alike.
ISOBIT_HD inline uint64_t first_above(uint64_t const* counts, uint64_t n, uint64_t k) {
  uint64_t low = 0;
  while (low < n) {
    uint64_t const middle = low + (n - low) / 2;
    if (counts[middle] > k)
      n = middle;
    else
      low = middle + 1;
  }
  return low;
}

} // namespace detail

namespace device::inline ISOBIT_KERNELS {

//! A block for each segment, in turn: for long segments. Any grid of blocks of at most `Width` threads.
template <int Width, class Load, class Offset, class Store, class Acc>
ISOBIT_KERNEL void segmented_scan_by_block_kernel(Load load, Offset const* offsets, uint64_t segments, Store store,
                                                  Acc acc) {
  ISOBIT_SHARED block_storage<Width, typename Acc::state> memory;
  auto const b = block(memory);
  for (uint64_t s = b.block_rank(); s < segments; s += machine::grid_blocks())
    isobit::detail::scan_segment(b, s, load, offsets, store, acc);
}

//! A tile of `P` lanes for each segment, in turn: for short segments. Any grid, any blocks of at least `P` threads;
//! threads of an incomplete last tile do nothing.
template <int P, class Load, class Offset, class Store, class Acc>
ISOBIT_KERNEL void segmented_scan_by_tile_kernel(Load load, Offset const* offsets, uint64_t segments, Store store,
                                                 Acc acc) {
  tile<P> const t;
  uint64_t const tiles = machine::block_threads() / P;
  if (t.tile_rank() >= tiles) return;
  for (uint64_t s = machine::block_rank() * tiles + t.tile_rank(); s < segments; s += machine::grid_blocks() * tiles)
    isobit::detail::scan_segment(t, s, load, offsets, store, acc);
}

//! The segments of at most `longest` elements, a tile of `P` lanes each, in turn. Grid and blocks as above.
template <int P, class Form, class Layout, class Load, class Store, class Acc>
ISOBIT_KERNEL void short_segments_kernel(Form form, Layout layout, uint64_t longest, Load load, Store store, Acc acc) {
  tile<P> const t;
  uint64_t const tiles = machine::block_threads() / P, segments = layout.segments();
  if (t.tile_rank() >= tiles) return;
  for (uint64_t s = machine::block_rank() * tiles + t.tile_rank(); s < segments; s += machine::grid_blocks() * tiles) {
    uint64_t const first = layout.first(s), length = layout.length(s);
    if (length <= longest) isobit::detail::scan_part(t, first, first + length, form, load, store, acc);
  }
}

//! The other segments, chunk by chunk in one pass: `chunks[s]` are the chunks of the segments up to and with s, of
//! `count` entries. Any grid of blocks of at most `Width` threads. `workspace`: `scan_workspace` for `room` elements, its
//! first bytes zero.
template <int Width, class Form, class Layout, class Load, class Store, class Acc>
ISOBIT_KERNEL void long_segments_kernel(Form form, Layout layout, uint64_t const* chunks, uint64_t count, Load load,
                                        Store store, void* workspace, uint64_t room, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<Width, state> memory;
  auto const b = block(memory);
  auto const all = scan_workspace<state>::at(workspace, room, b.size());
  uint64_t const total = chunks[count - 1];
  while (true) {
    uint64_t const ticket = isobit::detail::take_ticket(b, all.ticket);
    if (ticket >= total) return;
    uint64_t const s = isobit::detail::first_above(chunks, count, ticket), base = s == 0 ? 0 : chunks[s - 1];
    isobit::detail::published_nodes<state> const nodes{all.nodes.words + base, all.nodes.left + base,
                                                       all.nodes.right + base, chunks[s] - base};
    uint64_t const first = layout.first(s);
    isobit::detail::scan_chunk_any(b, nodes, ticket - base, layout.length(s), form, shift(load, first),
                                   isobit::detail::shift_store(store, first), acc);
  }
}

} // namespace device::inline ISOBIT_KERNELS
} // namespace isobit::inline bits1
