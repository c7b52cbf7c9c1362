// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `range_partials`: what the holder of some of a tree's slots sends to who folds them all (expert-parallel combine).
#pragma once

#include <isobit/order/nodes.hpp>
#include <isobit/order/sparse.hpp>

namespace isobit::inline bits1 {

//! Folds the present slots of [first, last) into one partial result for each maximal aligned node of that range, and
//! calls `emit(node, start, value)` for every node that has a present slot, from left to right; `node` counts the nodes
//! of the range (0 ... count_nodes(first, last) - 1), `start` is the node's first slot.
//!
//! Whoever owns the result pushes (start, value) of all ranges, in rising order, into one `sparse_counter`: it has the
//! bits of the fold over all slots by one holder, for any split of the slots over holders. A mixture-of-experts layer
//! sends, for every token, one partial row a node instead of one a rank: one row where the rank's experts are one node
//! (128 experts on 1, 2, 4, 8, 16 ranks), two where they are 48 = 32 + 16.
//!
//! - `count`, `slot(i)`: the present slots, i = 0 ... count - 1, rising, within [first, last).
//! - `value(i)`: the state (of `acc`) of present slot i.
//! Preconditions: as said (a slot out of order is checked by `sparse_counter`). Guarantee: every level of the contract.
//! Cost: count - (nodes that emit) combinations.
ISOBIT_CALLS_USER_CODE
template <class Acc, class Slot, class Value, class Emit>
ISOBIT_HD constexpr void range_partials(Acc const& acc, uint64_t first, uint64_t last, uint64_t count, Slot const& slot,
                                        Value const& value, Emit const& emit) {
  uint64_t i = 0;
  int node = 0;
  for (uint64_t start = first; start < last && i < count; ++node) {
    uint64_t const end = start + (uint64_t(1) << node_level(start, last));
    if (slot(i) < end) {
      sparse_counter<typename Acc::state> partial;
      for (; i < count && slot(i) < end; ++i) partial.push(acc, slot(i), value(i));
      emit(node, start, partial.fold(acc));
    }
    start = end;
  }
}

} // namespace isobit::inline bits1
