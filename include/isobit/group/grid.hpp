// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! All blocks of one launch, working together through a workspace in global memory: partial results by index, and a
//! counter that tells the last block to arrive. No second launch, no cooperative launch, no waiting.
#pragma once

#include <isobit/bits/integer.hpp>
#include <isobit/group/block.hpp>

namespace isobit::inline bits1 {

//! The workspace of a grid. `arrivals` must be 0 before the first launch that uses it; every launch leaves it 0 again.
//! One workspace serves launches that follow each other on one stream; launches that overlap need one each.
template <class State> struct grid_workspace {
  uint32_t* arrivals; //!< one counter
  State* partials;    //!< `partials_for(n)` entries; need no initialisation

  static constexpr size_t header_bytes = 16;

  //! The workspace that lies at `memory` (aligned to 16 bytes and to State).
  ISOBIT_HD static grid_workspace at(void* memory) {
    auto* const base = static_cast<unsigned char*>(memory);
    return {reinterpret_cast<uint32_t*>(base), reinterpret_cast<State*>(base + offset())};
  }
  //! Bytes that a workspace for `n` elements takes.
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t n) { return offset() + partials_for(n) * sizeof(State); }

  //! log2 of the elements behind one partial result: the tree is cut into aligned nodes of this size. It depends on
  //! `n` only, and never changes the result.
  ISOBIT_HD static constexpr int chunk_level(uint64_t n) {
    int level = 13;
    while (level < 63 && (n >> level) > max_partials - 1) ++level;
    return level;
  }
  ISOBIT_HD static constexpr uint64_t partials_for(uint64_t n) {
    return ceil_shift(n, chunk_level(n));
  }
  static constexpr uint64_t max_partials = 16384;

private:
  ISOBIT_HD static constexpr size_t offset() {
    return header_bytes > alignof(State) ? header_bytes : alignof(State);
  }
};

//! All blocks of the launch. One-dimensional work is dealt to the blocks by their rank; any number of blocks will do.
template <class Block> class grid {
public:
  using state = typename Block::state;

  ISOBIT_HD grid(Block const& block, grid_workspace<state> const& workspace) : block_(block), workspace_(workspace) {}

  ISOBIT_HD Block const& block() const { return block_; }
  ISOBIT_HD grid_workspace<state> const& workspace() const { return workspace_; }
  ISOBIT_HD static uint64_t block_rank() { return machine::block_rank(); }
  ISOBIT_HD static uint64_t blocks() { return machine::grid_blocks(); }

private:
  Block block_;
  grid_workspace<state> workspace_;
};

} // namespace isobit::inline bits1
