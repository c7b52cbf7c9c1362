// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::reduce_fragment`: one launch gives the fragment of a range of any length.
#pragma once

#include <isobit/algo/reduce_fragment.hpp>
#include <isobit/device/reduce_kernel.hpp>

namespace isobit::inline bits1::device {

//! How a launch shares out the range [first, last): a ragged head and tail of less than a chunk, whose nodes are small,
//! and the aligned chunks between them, one partial result each. It depends on the range only, and never changes bits.
struct fragment_plan {
  uint64_t first, last;
  int level;                          //!< log2 of a chunk
  uint64_t first_chunk, last_chunk;   //!< the full chunks: indices [first_chunk << level, last_chunk << level)
  bool whole_in_chunk;                //!< no full chunk: the range is all head

  template <class State> ISOBIT_HD static constexpr fragment_plan of(uint64_t first, uint64_t last) {
    int const level = grid_workspace<State>::chunk_level(last - first);
    uint64_t const from = ceil_shift(first, level), to = last >> level;
    if (from >= to) return {first, last, level, 0, 0, true};
    return {first, last, level, from, to, false};
  }
  ISOBIT_HD constexpr uint64_t chunks() const { return last_chunk - first_chunk; }
  ISOBIT_HD constexpr uint64_t head_end() const { return whole_in_chunk ? last : first_chunk << level; }
  ISOBIT_HD constexpr uint64_t tail_begin() const { return whole_in_chunk ? last : last_chunk << level; }
  //! Units of work: the head, the tail, the chunks.
  ISOBIT_HD constexpr uint64_t units() const { return chunks() + 2; }
  //! Partial results: at most 64 nodes of the head, 64 of the tail, one a chunk.
  static constexpr uint64_t ragged = 64;
  ISOBIT_HD constexpr uint64_t partials() const { return 2 * ragged + chunks(); }
};

inline namespace ISOBIT_KERNELS {

// Not in a namespace detail: device::detail would then be two, this one and that of the launchers.
// Folds the nodes of [first, last) one after the other into partials[0], partials[1], ...
template <class Block, class Load, class Acc>
ISOBIT_HD void fold_ragged(Block const& b, uint64_t first, uint64_t last, Load const& load, Acc const& acc,
                           typename Acc::state* partials) {
  for_each_node(first, last, [&](uint64_t start, int level) {
    auto const node = fold(b, uint64_t(1) << level, shift(load, start), acc);
    if (b.thread_rank() == 0) *partials = node;
    ++partials;
  });
}

//! `*out` = the fragment over [plan.first, plan.last) of `load`, which is called with indices of the whole sequence.
//! Any grid of one-dimensional blocks of at most `reduce_block` threads; `workspace` is laid out by `grid_workspace` for
//! `plan.partials()` states.
template <class Load, class Acc, int Depth>
ISOBIT_KERNEL void reduce_fragment_kernel(Load load, fragment_plan plan, fragment<typename Acc::state, Depth>* out,
                                          void* workspace, Acc acc) {
  using state = typename Acc::state;
  ISOBIT_SHARED block_storage<reduce_block, state> memory;
  auto const all = grid(block(memory), grid_workspace<state>::at(workspace));
  auto const& b = all.block();
  state* const head = all.workspace().partials;
  state* const tail = head + fragment_plan::ragged;
  state* const chunks = tail + fragment_plan::ragged;
  for (uint64_t unit = all.block_rank(); unit < plan.units(); unit += all.blocks()) {
    if (unit == 0) {
      fold_ragged(b, plan.first, plan.head_end(), load, acc, head);
    } else if (unit == 1) {
      fold_ragged(b, plan.tail_begin(), plan.last, load, acc, tail);
    } else {
      uint64_t const chunk = plan.first_chunk + (unit - 2);
      auto const node = fold(b, uint64_t(1) << plan.level, shift(load, chunk << plan.level), acc);
      if (b.thread_rank() == 0) chunks[unit - 2] = node;
    }
  }
  if (!isobit::detail::last_to_arrive(all)) return;
  bool const writes = b.thread_rank() == 0;
  if (writes) *out = fragment<state, Depth>(plan.first);
  auto const append = [&](state const* nodes) {
    return [=](uint64_t, int level) mutable {
      if (writes) out->append(acc, *nodes, level);
      ++nodes;
    };
  };
  auto from_head = append(head);
  for_each_node(plan.first, plan.head_end(), [&](uint64_t start, int level) { from_head(start, level); });
  for_each_node(plan.first_chunk, plan.last_chunk, [&](uint64_t start, int level) {
    auto const nodes = [=, at = chunks + (start - plan.first_chunk)](uint64_t k) { return at[k]; };
    auto const node = fold(b, uint64_t(1) << level, nodes, isobit::detail::over_states<Acc>{acc});
    if (writes) out->append(acc, node, level + plan.level);
  });
  auto from_tail = append(tail);
  for_each_node(plan.tail_begin(), plan.last, [&](uint64_t start, int level) { from_tail(start, level); });
}

} // namespace ISOBIT_KERNELS

} // namespace isobit::inline bits1::device
