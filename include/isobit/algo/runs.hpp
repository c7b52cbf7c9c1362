// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Runs of equal neighbouring keys as segments: where each run begins.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/algo/segmented_reduce.hpp>

namespace isobit::inline bits1 {

//! Keys are cut into chunks of this many; each has one counter in the workspace of `find_runs`.
inline constexpr uint64_t runs_chunk = 2048;
//! Bytes of that workspace: no initialisation needed.
ISOBIT_HD constexpr uint64_t runs_workspace_bytes(uint64_t n) { return (n / runs_chunk + 1) * sizeof(uint64_t); }

namespace detail {

// Whether a run begins with key i.
template <class Key> ISOBIT_HD bool begins_run(Key const* keys, uint64_t i) { return i == 0 || !(keys[i] == keys[i - 1]); }

template <class Key> struct run_heads {
  Key const* keys;
  uint64_t offset;
  ISOBIT_HD uint64_t operator()(uint64_t i) const { return begins_run(keys, offset + i) ? 1 : 0; }
};

// counts[c] = the runs that begin in chunk c; chunks c = rank, rank + blocks, ...
template <class Block, class Key>
ISOBIT_HD void count_runs(Block const& b, uint64_t rank, uint64_t blocks, Key const* keys, uint64_t n, uint64_t* counts) {
  for (uint64_t c = rank; c * runs_chunk < n; c += blocks) {
    uint64_t const first = c * runs_chunk, length = n - first < runs_chunk ? n - first : runs_chunk;
    uint64_t const count = reduce(b, length, run_heads<Key>{keys, first});
    if (b.thread_rank() == 0) counts[c] = count;
  }
}

// offsets[r] = where run r begins, for the runs of the chunks c = rank, ...; `before[c]` runs begin up to and in chunk c.
template <class Block, class Key, class Offset>
ISOBIT_HD void write_runs(Block const& b, uint64_t rank, uint64_t blocks, Key const* keys, uint64_t n,
                          uint64_t const* before, Offset* offsets) {
  for (uint64_t c = rank; c * runs_chunk < n; c += blocks) {
    uint64_t const first = c * runs_chunk, length = n - first < runs_chunk ? n - first : runs_chunk;
    uint64_t const earlier = c == 0 ? 0 : before[c - 1];
    inclusive_scan(b, length, run_heads<Key>{keys, first}, [=](uint64_t i, uint64_t heads) {
      if (begins_run(keys, first + i)) offsets[earlier + heads - 1] = static_cast<Offset>(first + i);
    });
  }
}

} // namespace detail

#if !defined(__CUDACC_RTC__)
//! Writes where each run of equal neighbouring keys begins, and n after the last: the offsets of a `csr` layout. Returns the
//! number of runs. `offsets` has room for one more entry than there are runs (n + 1 always suffice). Keys need `==`.
template <is_host Host, class Key, stl::integral Offset>
uint64_t find_runs(Host const&, Key const* keys, uint64_t n, Offset* offsets) {
  if (keys == nullptr && n > 0) throw invalid_argument("find_runs", "keys", "non-null when n > 0");
  if (offsets == nullptr) throw invalid_argument("find_runs", "offsets", "non-null");
  uint64_t runs = 0;
  for (uint64_t i = 0; i < n; ++i)
    if (detail::begins_run(keys, i)) offsets[runs++] = static_cast<Offset>(i);
  offsets[runs] = static_cast<Offset>(n);
  return runs;
}
#endif

//! The same by one block in a kernel. `offsets` and `*runs` are complete for the block when it returns.
//! `b`: a block over states of uint64_t. `workspace`: `runs_workspace_bytes(n)`, shared or global memory.
template <int N, class Key, stl::integral Offset>
ISOBIT_HD void find_runs(block<N, uint64_t> const& b, Key const* keys, uint64_t n, uint64_t* workspace, Offset* offsets,
                         uint64_t* runs) {
  detail::count_runs(b, 0, 1, keys, n, workspace);
  b.sync();
  uint64_t const chunks = (n + runs_chunk - 1) / runs_chunk;
  inclusive_scan(b, workspace, chunks, workspace);
  b.sync();
  detail::write_runs(b, 0, 1, keys, n, workspace, offsets);
  if (b.thread_rank() == 0) {
    uint64_t const count = chunks == 0 ? 0 : workspace[chunks - 1];
    offsets[count] = static_cast<Offset>(n);
    *runs = count;
  }
  b.sync();
}

} // namespace isobit::inline bits1
