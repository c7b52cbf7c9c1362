// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Stable grouping: which elements have id 0, which id 1, ..., each group in input order. By counting, in four phases
//! that need no atomics: a warp counts a chunk of the ids; the counts of each id are summed over the chunks; then over
//! the ids; a warp places its chunk. Every result is an integer that the ids alone decide.
//!
//! The slot of an element is its rank in its group: the number of earlier elements with the same id.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/algo/segments.hpp>

namespace isobit::inline bits1 {

//! Where a grouping puts its results; each may be null, except `offsets`.
template <stl::integral Index> struct grouping {
  uint64_t* offsets; //!< groups + 1 entries: the elements of group g are order[offsets[g]] .. order[offsets[g + 1] - 1]
  Index* order = nullptr; //!< n entries: element numbers, group by group, each group in input order
  Index* position = nullptr; //!< n entries: where element i stands in `order` (the inverse map), or -1 if dropped
  Index* slot = nullptr;     //!< n entries: how many earlier elements have the same id; -1 where it was dropped
};

//! How the ids are cut into chunks; depends on n and the number of groups only.
struct grouping_chunks {
  uint64_t length, count;
  ISOBIT_HD static constexpr grouping_chunks of(uint64_t n, uint64_t groups) {
    uint64_t const affordable = (uint64_t(1) << 22) / (groups == 0 ? 1 : groups);
    uint64_t const most = affordable < 1 ? 1 : affordable < 4096 ? affordable : 4096;
    uint64_t length = (n + most - 1) / most;
    length = length < 1024 ? 1024 : (length + 31) / 32 * 32;
    return {length, n == 0 ? 0 : (n - 1) / length + 1};
  }
};
//! Bytes of workspace of a grouping by counting: no initialisation.
ISOBIT_HD constexpr uint64_t grouping_workspace_bytes(uint64_t n, uint64_t groups) {
  return (grouping_chunks::of(n, groups).count + 1) * groups * sizeof(uint64_t);
}

//! An id of -1 (of any type) drops its element.
template <stl::integral Id> ISOBIT_HD constexpr bool is_dropped(Id id) { return id == static_cast<Id>(-1); }
//! Whether the id names one of `groups` groups.
template <stl::integral Id> ISOBIT_HD constexpr bool is_group(Id id, uint64_t groups) {
  if constexpr (stl::is_signed_v<Id>)
    if (id < 0) return false;
  return static_cast<uint64_t>(id) < groups && !is_dropped(id);
}

//! Joins the reports of two neighbouring ranges; an accumulator.
struct join_reports {
  using input = index_report;
  using state = index_report;
  using result = index_report;
  static constexpr bool commutative = true;
  ISOBIT_HD constexpr index_report lift(index_report const& r) const { return r; }
  ISOBIT_HD constexpr index_report combine(index_report const& a, index_report const& b) const {
    return {a.count + b.count, a.first < b.first ? a.first : b.first};
  }
  ISOBIT_HD constexpr index_report finish(index_report const& r) const { return r; }
  ISOBIT_HD constexpr index_report empty() const { return {0, ~uint64_t{0}}; }
};
//! The load of one report for each id: wrong are ids that neither drop nor name a group.
template <stl::integral Id> struct wrong_ids {
  Id const* ids;
  uint64_t groups;
  ISOBIT_HD index_report operator()(uint64_t i) const {
    bool const wrong = !is_dropped(ids[i]) && !is_group(ids[i], groups);
    return {wrong ? 1u : 0u, wrong ? i : ~uint64_t{0}};
  }
};

namespace detail {

ISOBIT_HD inline uint32_t count_bits(uint32_t x) {
#if defined(ISOBIT_ON_DEVICE)
  return static_cast<uint32_t>(__popc(x));
#elif !defined(__CUDACC_RTC__)
  return static_cast<uint32_t>(__builtin_popcount(x));
#else
  return 0;
#endif
}

// The lanes of the tile, as bits from its first lane on, that hold the same id as this one; of those in a group.
template <int P> ISOBIT_HD uint32_t lanes_with(tile<P> const& t, uint64_t id, bool valid, int id_bits) {
  if constexpr (P == 1) {
    return valid ? 1u : 0u;
  } else {
    uint32_t same = machine::ballot(t.mask(), valid);
    for (int k = 0; k < id_bits; ++k) {
      bool const one = (id >> k & 1) != 0;
      uint32_t const votes = machine::ballot(t.mask(), one);
      same &= one ? votes : ~votes;
    }
    uint32_t const first = machine::lane() & ~uint32_t(P - 1);
    return valid ? (same & t.mask()) >> first : 0u;
  }
}

// Walks chunk c, P ids at a time: f(i, valid, id, lanes with the same id) in each lane whose i is below n.
template <int P, class Id, class F>
ISOBIT_HD void walk_chunk(tile<P> const& t, Id const* ids, uint64_t n, uint64_t groups, uint64_t first, uint64_t length,
                          F const& f) {
  int const id_bits = bit_width(groups == 0 ? 0 : groups - 1);
  uint64_t const end = n - first < length ? n : first + length;
  for (uint64_t base = first; base < end; base += P) {
    uint64_t const i = base + t.thread_rank();
    bool const here = i < end;
    Id const id = here ? ids[i] : static_cast<Id>(-1);
    bool const valid = is_group(id, groups);
    f(i, here, valid, static_cast<uint64_t>(id), lanes_with(t, static_cast<uint64_t>(id), valid, id_bits));
    t.sync();
  }
}

// Phase 1. counts[c][g] = how many ids of chunk c are g.
template <int P, class Id>
ISOBIT_HD void count_chunks(tile<P> const& t, uint64_t worker, uint64_t workers, Id const* ids, uint64_t n,
                            uint64_t groups, uint64_t* counts) {
  auto const chunks = grouping_chunks::of(n, groups);
  for (uint64_t c = worker; c < chunks.count; c += workers) {
    uint64_t* const mine = counts + c * groups;
    for (uint64_t g = t.thread_rank(); g < groups; g += P) mine[g] = 0;
    t.sync();
    walk_chunk(t, ids, n, groups, c * chunks.length, chunks.length,
               [=](uint64_t, bool, bool valid, uint64_t id, uint32_t same) {
                 bool const leads = valid && (same & ((1u << t.thread_rank()) - 1)) == 0;
                 if (leads) mine[id] += count_bits(same);
               });
  }
}

// Phase 2. counts[c][g] becomes the sum over the earlier chunks; totals[g] the sum over all.
ISOBIT_HD inline void sum_chunks(uint64_t worker, uint64_t workers, uint64_t n, uint64_t groups, uint64_t* counts) {
  uint64_t const chunks = grouping_chunks::of(n, groups).count;
  for (uint64_t g = worker; g < groups; g += workers) {
    uint64_t sum = 0;
    for (uint64_t c = 0; c < chunks; ++c) {
      uint64_t const count = counts[c * groups + g];
      counts[c * groups + g] = sum;
      sum += count;
    }
    counts[chunks * groups + g] = sum;
  }
}

// Phase 3, by one block.
template <int N>
ISOBIT_HD void sum_groups(block<N, uint64_t> const& b, uint64_t n, uint64_t groups, uint64_t const* counts,
                          uint64_t* offsets) {
  if (b.thread_rank() == 0) offsets[0] = 0;
  uint64_t const* const totals = counts + grouping_chunks::of(n, groups).count * groups;
  inclusive_scan(b, totals, groups, offsets + 1);
  b.sync();
}

// Phase 4.
template <int P, class Id, class Index>
ISOBIT_HD void place_chunks(tile<P> const& t, uint64_t worker, uint64_t workers, Id const* ids, uint64_t n,
                            uint64_t groups, uint64_t* counts, grouping<Index> const& out) {
  auto const chunks = grouping_chunks::of(n, groups);
  for (uint64_t c = worker; c < chunks.count; c += workers) {
    uint64_t* const mine = counts + c * groups;
    walk_chunk(t, ids, n, groups, c * chunks.length, chunks.length,
               [=](uint64_t i, bool here, bool valid, uint64_t id, uint32_t same) {
                 uint32_t const earlier = same & ((1u << t.thread_rank()) - 1);
                 uint64_t const slot = valid ? mine[id] + count_bits(earlier) : 0;
                 uint64_t const at = valid ? out.offsets[id] + slot : 0;
                 if (valid && out.order != nullptr) out.order[at] = static_cast<Index>(i);
                 if (here && out.position != nullptr)
                   out.position[i] = valid ? static_cast<Index>(at) : static_cast<Index>(-1);
                 if (here && out.slot != nullptr)
                   out.slot[i] = valid ? static_cast<Index>(slot) : static_cast<Index>(-1);
                 t.sync();
                 if (valid && earlier == 0) mine[id] += count_bits(same);
               });
  }
}

// A phase whose workers are the warps of all blocks; a block narrower than a warp has a worker for each thread.
template <class Phase> ISOBIT_HD void by_warps(uint64_t block_rank, uint64_t blocks, Phase const& phase) {
  uint32_t const rank = machine::thread_rank(), threads = machine::block_threads(), warps = threads / 32;
  if (warps == 0)
    phase(tile<1>{}, block_rank * threads + rank, blocks * threads);
  else if (rank / 32 < warps)
    phase(tile<32>{}, block_rank * warps + rank / 32, blocks * warps);
}

} // namespace detail

//! Groups n ids into `groups` groups, by one block in a kernel: for what fits a block's patience, some ten thousand ids.
//! All threads pass the same arguments; the results are complete for the block when it returns. Ids of -1, and ids that
//! name no group, drop their elements; `wrong_ids` finds the latter.
//! `workspace`: `grouping_workspace_bytes(n, groups)` bytes of shared or global memory.
//! Guarantee: run-to-run, geometry, target. Cost: two reads of the ids, log2(groups) ballots for every 32 of them.
template <int N, stl::integral Id, stl::integral Index>
ISOBIT_HD void group_ids(block<N, uint64_t> const& b, Id const* ids, uint64_t n, uint64_t groups, uint64_t* workspace,
                         grouping<Index> const& out) {
  detail::by_warps(0, 1, [=](auto const& t, uint64_t worker, uint64_t workers) {
    detail::count_chunks(t, worker, workers, ids, n, groups, workspace);
  });
  b.sync();
  detail::sum_chunks(b.thread_rank(), b.size(), n, groups, workspace);
  b.sync();
  detail::sum_groups(b, n, groups, workspace, out.offsets);
  detail::by_warps(0, 1, [=](auto const& t, uint64_t worker, uint64_t workers) {
    detail::place_chunks(t, worker, workers, ids, n, groups, workspace, out);
  });
  b.sync();
}

#if !defined(__CUDACC_RTC__)
//! The same on a host; no workspace. Reports the ids that neither drop nor name a group.
template <is_host Host, stl::integral Id, stl::integral Index>
index_report group_ids(Host const&, Id const* ids, uint64_t n, uint64_t groups, grouping<Index> const& out) {
  if (ids == nullptr && n > 0) throw invalid_argument("group_ids", "ids", "non-null when n > 0");
  if (out.offsets == nullptr) throw invalid_argument("group_ids", "offsets", "non-null");
  if (sizeof(Index) < 8 && n > (uint64_t(1) << (sizeof(Index) * 8 - 1)))
    throw invalid_argument("group_ids", "n", "at most", uint64_t(1) << (sizeof(Index) * 8 - 1), "for this index type");
  index_report report = join_reports{}.empty();
  uint64_t* const offsets = out.offsets;
  for (uint64_t g = 0; g <= groups; ++g) offsets[g] = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (is_group(ids[i], groups)) ++offsets[static_cast<uint64_t>(ids[i]) + 1];
    report = join_reports{}.combine(report, wrong_ids<Id>{ids, groups}(i));
  }
  for (uint64_t g = 0; g < groups; ++g) offsets[g + 1] += offsets[g];
  // offsets[g] walks to the end of its group, and is moved back afterwards: no further memory.
  auto const place = [&](uint64_t i) { return offsets[static_cast<uint64_t>(ids[i])]++; };
  for (uint64_t i = 0; i < n; ++i) {
    bool const valid = is_group(ids[i], groups);
    uint64_t const at = valid ? place(i) : 0;
    if (valid && out.order != nullptr) out.order[at] = static_cast<Index>(i);
    if (out.position != nullptr) out.position[i] = valid ? static_cast<Index>(at) : static_cast<Index>(-1);
    if (out.slot != nullptr) out.slot[i] = valid ? static_cast<Index>(at) : static_cast<Index>(-1);
  }
  for (uint64_t g = groups; g > 0; --g) offsets[g] = offsets[g - 1];
  offsets[0] = 0;
  for (uint64_t i = 0; out.slot != nullptr && i < n; ++i)
    if (is_group(ids[i], groups)) {
      auto const first = offsets[static_cast<uint64_t>(ids[i])];
      out.slot[i] = static_cast<Index>(static_cast<uint64_t>(out.slot[i]) - first);
    }
  return report;
}
#endif

} // namespace isobit::inline bits1
