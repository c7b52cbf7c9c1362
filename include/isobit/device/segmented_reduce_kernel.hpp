// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::segmented_reduce` and `device::find_runs`. The same source runs on a GPU and, through
//! `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/runs.hpp>
#include <isobit/algo/segmented_reduce.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int segment_block = 256;

//! All segments of the layout, by any grid of blocks of at most `segment_block` threads. Does nothing when `report` is
//! given and counts an error.
template <class Layout, class Load, class Store, class Acc>
ISOBIT_KERNEL void segmented_reduce_kernel(Layout layout, Load load, Store store,
                                           segment_workspace<typename Acc::state> workspace, Acc acc,
                                           index_report const* report) {
  ISOBIT_SHARED segment_storage<segment_block, Acc> memory;
  if (report != nullptr && report->count != 0) return;
  segmented_reduce(memory, workspace, layout, load, store, acc);
}

//! One block: how many of the offsets fall, or lie beyond `n`, and the first that does.
template <class Offset>
ISOBIT_KERNEL void check_offsets_kernel(Offset const* offsets, uint64_t segments, uint64_t n, index_report* report) {
  ISOBIT_SHARED block_storage<segment_block, index_report> memory;
  auto const b = block(memory);
  auto const wrong = [=](uint64_t s) {
    bool falls = s > 0 && offsets[s] < offsets[s - 1];
    if constexpr (stl::is_signed_v<Offset>) falls = falls || offsets[s] < 0;
    bool const bad = falls || static_cast<uint64_t>(offsets[s]) > n;
    return index_report{bad ? 1u : 0u, bad ? s : ~uint64_t{0}};
  };
  auto const join = [](index_report a, index_report const& c) {
    return index_report{a.count + c.count, a.first < c.first ? a.first : c.first};
  };
  auto const found = reduce(b, segments + 1, wrong, join);
  if (b.thread_rank() == 0) *report = found;
}

//! Phase 1 of `find_runs`: counts.
template <class Key> ISOBIT_KERNEL void count_runs_kernel(Key const* keys, uint64_t n, uint64_t* counts) {
  ISOBIT_SHARED block_storage<segment_block, uint64_t> memory;
  isobit::detail::count_runs(block(memory), machine::block_rank(), machine::grid_blocks(), keys, n, counts);
}
//! Phase 2, one block: sums of the counts, and the last offset.
template <class Offset>
ISOBIT_KERNEL void scan_runs_kernel(uint64_t n, uint64_t* counts, Offset* offsets, uint64_t* runs) {
  ISOBIT_SHARED block_storage<segment_block, uint64_t> memory;
  auto const b = block(memory);
  uint64_t const chunks = (n + runs_chunk - 1) / runs_chunk;
  inclusive_scan(b, counts, chunks, counts);
  b.sync();
  if (b.thread_rank() == 0) {
    uint64_t const count = chunks == 0 ? 0 : counts[chunks - 1];
    offsets[count] = static_cast<Offset>(n);
    *runs = count;
  }
}
//! Phase 3: the offsets.
template <class Key, class Offset>
ISOBIT_KERNEL void write_runs_kernel(Key const* keys, uint64_t n, uint64_t const* before, Offset* offsets) {
  ISOBIT_SHARED block_storage<segment_block, uint64_t> memory;
  isobit::detail::write_runs(block(memory), machine::block_rank(), machine::grid_blocks(), keys, n, before, offsets);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
