// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! How the blocks of a scan tell each other the nodes over their chunks, and the workspace for that.
//!
//! Chunk k needs the nodes that end where it begins: for m = k, then m with its lowest bit cleared, and so on to 0, the
//! node over the 2^c chunks before m, with c the lowest bit of m. (The same nodes as in a Fenwick tree.) Every m is the
//! middle of exactly one node of the tree, so the two children that meet at m share one word: bit 0 says that the left
//! child is there, bit 1 the right one. Who sets the second bit combines both and goes on to the parent. No block waits
//! in order to publish, and a block waits only for chunks with lower numbers, whose blocks have started.
#pragma once

#include <isobit/algo/fold_tile.hpp>
#include <isobit/group/atomic.hpp>
#include <isobit/group/block.hpp>

namespace isobit::inline bits1 {

namespace detail {

ISOBIT_HD constexpr uint64_t lowest_bit(uint64_t m) { return m & (~m + 1); }
// `k` without its `i` lowest set bits.
ISOBIT_HD constexpr uint64_t without_lowest(uint64_t k, uint32_t i) {
  for (; i > 0; --i) k &= k - 1;
  return k;
}
ISOBIT_HD constexpr uint32_t count_bits(uint64_t k) {
  uint32_t count = 0;
  for (; k != 0; k &= k - 1) ++count;
  return count;
}
ISOBIT_HD constexpr uint32_t power_of_two_within(uint32_t n) { return uint32_t(1) << (bit_width(n) - 1); }

//! The nodes over `count` chunks, published as they come.
template <class State> struct published_nodes {
  uint32_t* words; // [count], zero before the launch; all arrays are indexed by m in [1, count)
  State *left, *right;
  uint64_t count;

  // By one thread: the node over chunk k.
  ISOBIT_CALLS_USER_CODE
  template <class Acc> ISOBIT_HD void publish(Acc const& acc, uint64_t k, State node) const {
    for (uint64_t first = k, size = 1;; size *= 2) {
      bool const is_right = (first & size) != 0;
      uint64_t const m = is_right ? first : first + size;
      if (m >= count) return; // nobody comes after it
      if (is_right)
        right[m] = node;
      else
        left[m] = node;
      uint32_t const mine = is_right ? 2 : 1;
      if ((machine::set_bits(words + m, mine) & (3 - mine)) == 0) return;
      if (is_right) {
        node = acc.combine(left[m], node);
        first = m - size;
      } else {
        node = acc.combine(node, right[m]);
      }
    }
  }

  // By the tile of worker 0: the nodes before chunk k into the slots, the nearest first.
  template <int P, class Acc, class Memory>
  ISOBIT_HD void collect(tile<P> const& t, Acc const&, uint64_t k, uint32_t worker, uint32_t, Memory& memory) const {
    if (worker != 0) return;
    uint32_t const nodes = count_bits(k);
    for (uint32_t i = t.thread_rank(); i < nodes; i += P) {
      uint64_t const m = without_lowest(k, i);
      while ((machine::load_acquire(words + m) & 1) == 0) {
      }
      *memory.slot(i) = left[m];
    }
  }
};

//! The nodes over single chunks, all there since an earlier launch; the larger ones are made where they are needed.
template <class State> struct ready_nodes {
  State const* node;

  template <class Acc> ISOBIT_HD void publish(Acc const&, uint64_t, State const&) const {}

  // By all tiles: each takes every `workers`-th node.
  template <int P, class Acc, class Memory>
  ISOBIT_HD void collect(tile<P> const& t, Acc const& acc, uint64_t k, uint32_t worker, uint32_t workers,
                         Memory& memory) const {
    uint32_t const nodes = count_bits(k);
    for (uint32_t i = worker; i < nodes; i += workers) {
      uint64_t const m = without_lowest(k, i), size = lowest_bit(m);
      State const* const first = node + (m - size);
      State const s = fold(t, size, [=](uint64_t j) { return first[j]; }, over_states<Acc>{acc});
      if (t.thread_rank() == 0) *memory.slot(i) = s;
    }
  }
};

// A lane's elements of a chunk: 64 bytes of states, at least one access; one of a large state.
template <class State> ISOBIT_HD constexpr int least_chunk_items() {
  return sizeof(State) > 16 ? 1 : static_cast<int>(power_of_two_within(64 / sizeof(State)));
}
template <class Load, class State> ISOBIT_HD constexpr int chunk_items() {
  constexpr int least = least_chunk_items<State>();
  if constexpr (sizeof(State) > 16)
    return 1;
  else if constexpr (has_vector_form<Load>) { // the same, whether the array is aligned or not
    constexpr int width = decltype(stl::declval<Load const&>().vectors())::width;
    return least > width ? least : width;
  } else {
    return least > lane_width<Load>() ? least : lane_width<Load>();
  }
}

} // namespace detail

//! The workspace of a scan by all blocks of a launch. The first `zero_bytes` bytes must be zero before every launch
//! (cudaMemsetAsync in the same stream, which a graph replays too); the rest needs nothing, and nothing is left for
//! later. `threads`: of a block.
template <class State> struct scan_workspace {
  uint32_t* ticket; //!< the next chunk
  detail::published_nodes<State> nodes;

  //! The most chunks that `n` elements make.
  ISOBIT_HD static constexpr uint64_t chunks(uint64_t n, uint32_t threads) {
    uint64_t const least = uint64_t(detail::least_chunk_items<State>()) * detail::power_of_two_within(threads);
    return n / least + (n % least != 0);
  }
  ISOBIT_HD static constexpr uint64_t zero_bytes(uint64_t n, uint32_t threads) {
    return (header + chunks(n, threads) * 4 + 15) / 16 * 16;
  }
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t n, uint32_t threads) {
    return states(n, threads) + 2 * chunks(n, threads) * sizeof(State);
  }
  //! The workspace that lies at `memory` (aligned to 16 bytes and to State).
  ISOBIT_HD static scan_workspace at(void* memory, uint64_t n, uint32_t threads) {
    auto* const base = static_cast<unsigned char*>(memory);
    uint64_t const count = chunks(n, threads);
    auto* const words = reinterpret_cast<uint32_t*>(base + header);
    auto* const left = reinterpret_cast<State*>(base + states(n, threads));
    return {reinterpret_cast<uint32_t*>(base), {words, left, left + count, count}};
  }

private:
  static constexpr uint64_t header = 16;
  ISOBIT_HD static constexpr uint64_t states(uint64_t n, uint32_t threads) {
    uint64_t const zero = zero_bytes(n, threads);
    return (zero + alignof(State) - 1) / alignof(State) * alignof(State);
  }
};

} // namespace isobit::inline bits1
