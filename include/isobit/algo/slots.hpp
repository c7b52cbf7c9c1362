// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Private slots: each contributor of a sum stores its part in a slot of its own, whenever it comes to it; the parts are
//! merged by the tree over the slot's number. For split-K and grouped matrix products, gradients of biases and scales:
//! wherever several blocks would add to one address.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/order/sparse.hpp>

namespace isobit::inline bits1 {

//! `slots` parts of `width` values each, in memory that needs no initialisation: what is merged has been stored.
//! `State`: float for a plain sum, or an accumulator's state.
template <class State> struct private_slots {
  static_assert(__is_trivially_copyable(State), "isobit: slots hold trivially copyable states");
  State* values; //!< [slots][width]
  uint64_t slots, width;

  //! Bytes of memory, aligned to State.
  ISOBIT_HD static constexpr uint64_t bytes(uint64_t slots, uint64_t width) { return slots * width * sizeof(State); }
  ISOBIT_HD static private_slots at(void* memory, uint64_t slots, uint64_t width) {
    return {static_cast<State*>(memory), slots, width};
  }
  //! Value `i` of slot `slot`, from any thread of any block, once a launch.
  ISOBIT_HD void store(uint64_t slot, uint64_t i, State const& value) const { values[slot * width + i] = value; }
  ISOBIT_HD State load(uint64_t slot, uint64_t i) const { return values[slot * width + i]; }
};

//! Value `i` merged over all slots, in the order `tree` over their numbers. Whoever calls must see the stores: the last
//! block to arrive (`last_to_arrive`), or a later kernel. Guarantee: run-to-run, geometry, target. Cost: slots - 1
//! operations, one read of them.
ISOBIT_CALLS_USER_CODE
template <class State, accumulator Acc>
ISOBIT_HD typename Acc::state merge_state(private_slots<State> const& s, uint64_t i, Acc const& acc) {
  static_assert(stl::same_as<State, typename Acc::state>, "isobit: the slots must hold the accumulator's states");
  auto const slot = [=](uint64_t k) { return s.load(k, i); };
  return fold(thread{}, s.slots, slot, detail::over_states<Acc>{acc});
}
ISOBIT_CALLS_USER_CODE
template <class State, accumulator Acc = plain<State>>
ISOBIT_HD typename Acc::result merge(private_slots<State> const& s, uint64_t i, Acc const& acc = {}) {
  return s.slots == 0 ? acc.empty() : acc.finish(merge_state(s, i, acc));
}

//! The same over the slots for which `present(slot)` holds: nobody stored into the others, they are skipped and not read.
//! `acc.empty()` if none is present. Cost: one call of `present` a slot, and one operation a present slot.
ISOBIT_CALLS_USER_CODE
template <class State, accumulator Acc, class Present>
ISOBIT_HD typename Acc::result merge_present(private_slots<State> const& s, uint64_t i, Acc const& acc,
                                             Present const& present) {
  sparse_counter<State> counter;
  for (uint64_t k = 0; k < s.slots; ++k)
    if (present(k)) counter.push(acc, k, s.load(k, i));
  return counter.empty() ? acc.empty() : acc.finish(counter.fold(acc));
}

//! All threads of a block call this after they have stored their part; true in all threads of the block that comes last
//! of `arrivals`, which sees what the others stored. The counter wraps to 0 by itself, so that a CUDA graph can be
//! replayed; it must be 0 before the first use. (No scheme can do without one known word: a block cannot tell an
//! arrival of this launch from what an earlier owner left. `device::clear_counters` makes that a node of the graph; a
//! merge in a second kernel needs no counter.)
//! `flag`: one word of shared memory. Three barriers, one atomic (acquire and release).
ISOBIT_HD inline bool last_to_arrive(uint32_t* flag, uint32_t* counter, uint32_t arrivals) {
  machine::sync_block();
  if (machine::thread_rank() == 0) *flag = machine::arrive(counter, arrivals - 1) == arrivals - 1 ? 1u : 0u;
  machine::sync_block();
  bool const last = *flag != 0;
  machine::sync_block();
  return last;
}

} // namespace isobit::inline bits1
