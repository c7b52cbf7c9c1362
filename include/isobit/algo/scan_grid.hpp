// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scan by all blocks of a launch, in one pass over the data.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/algo/scan_chunk.hpp>

namespace isobit::inline bits1 {

//! All blocks of the launch, for scans: `inclusive_scan(scan_grid(block, workspace), n, load, store, ...)`, where
//! `workspace` is `scan_workspace<State>::at(memory, n, threads of a block)`. Blocks take the chunks of the array in the
//! order of their arrival, read each once and write it once. Any number of blocks, of any width, gives the same bits;
//! blocks need not be on the machine at the same time. One scan a launch; fewer than 2^32 chunks.
template <class Block> class scan_grid {
public:
  using state = typename Block::state;

  ISOBIT_HD scan_grid(Block const& block, scan_workspace<state> const& workspace)
      : block_(block), workspace_(workspace) {}

  ISOBIT_HD Block const& block() const { return block_; }
  ISOBIT_HD scan_workspace<state> const& workspace() const { return workspace_; }

private:
  Block block_;
  scan_workspace<state> workspace_;
};

namespace detail {

// The next chunk that no block has taken. Between two calls every thread passes a barrier.
template <class Block> ISOBIT_HD uint32_t take_ticket(Block const& b, uint32_t* ticket) {
  auto& flag = b.memory().flag;
  if (b.thread_rank() == 0) flag = machine::arrive(ticket, ~uint32_t(0));
  b.sync();
  return flag;
}

template <class Block, class Form, class Load, class Store, class Acc>
ISOBIT_HD void scan_elements(scan_grid<Block> const& g, uint64_t n, Form const& form, Load const& load,
                             Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  auto const& b = g.block();
  check_scan_storage<Acc, typename Block::state>();
  auto const& nodes = g.workspace().nodes;
  uint64_t const chunk = chunk_shape<Load, state>(b.size()).chunk, chunks = n / chunk + (n % chunk != 0);
  auto const mine = published_nodes<state>{nodes.words, nodes.left, nodes.right, chunks};
  do {
    uint64_t const k = take_ticket(b, g.workspace().ticket);
    if (k >= chunks) return;
    scan_chunk_of(b, mine, k, n, form, load, store, acc);
  } while (machine::grid_blocks() < chunks);
}

} // namespace detail
} // namespace isobit::inline bits1
