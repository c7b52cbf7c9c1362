// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Turnstile: blocks add to one place one after the other, in the order of their slots, where private slots would take
//! too much memory. Blocks wait for each other; `take_ticket` is what makes that safe.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/group/atomic.hpp>

namespace isobit::inline bits1 {

//! The number of blocks that asked before this one, in all threads of the block; the counter wraps to 0 after `blocks`
//! tickets, and must be 0 before the first use. A block that holds ticket s knows that the holders of 0 .. s - 1 have
//! started, and a block that has started runs to its end. Blocks that wait for lower tickets therefore never wait for
//! one that has no place on the GPU. (`blockIdx` gives no such promise.)
//! `shared`: one word of shared memory.
ISOBIT_HD inline uint32_t take_ticket(uint32_t* shared, uint32_t* counter, uint32_t blocks) {
  machine::sync_block();
  if (machine::thread_rank() == 0) *shared = machine::arrive(counter, blocks - 1);
  machine::sync_block();
  uint32_t const ticket = *shared;
  machine::sync_block();
  return ticket;
}

//! A place that slots 0, 1, ..., slots - 1 pass one after the other. `turn` is 0 before the first use and again after the
//! last slot. All threads of a block call `enter` and `leave`; what a block wrote before `leave` is seen by the blocks
//! that enter later (release and acquire at device scope).
//!
//! Forward progress: a block that waits in `enter` needs the holders of all lower slots to be running or done. Slots
//! must therefore rise with the tickets of `take_ticket` in each block: take the slot from the ticket, and pass the
//! turnstiles in an order in which no two blocks wait for each other. Every slot must pass, once a launch.
struct turnstile {
  uint32_t* turn;
  uint32_t slots;

  ISOBIT_HD void enter(uint32_t slot) const {
    if (machine::thread_rank() == 0)
      while (machine::load_acquire(turn) != slot) {
#if defined(ISOBIT_ON_DEVICE)
        __nanosleep(20);
#endif
      }
    machine::sync_block();
  }
  ISOBIT_HD void leave(uint32_t slot) const {
    machine::sync_block();
    if (machine::thread_rank() == 0) machine::store_release(turn, slot + 1 == slots ? 0u : slot + 1);
  }
};

//! Adds this block's values to `sums`, in its turn: sums[i] becomes value(i) for slot 0, combine(sums[i], value(i)) for
//! the others; all threads of the block together. The result is the order `sequential` over the slots. With
//! `accumulate` slot 0 adds to the old value too, as the left operand of all.
//! Guarantee: run-to-run, target; bits depend on the number of slots and what is in them.
ISOBIT_CALLS_USER_CODE
template <class State, accumulator Acc, class Value>
ISOBIT_HD void add_in_turn(turnstile const& gate, uint32_t slot, State* sums, uint64_t n, Acc const& acc, Value const& value,
                           bool accumulate = false) {
  static_assert(stl::same_as<State, typename Acc::state>, "isobit: a turnstile adds states of its accumulator");
  gate.enter(slot);
  bool const first = slot == 0 && !accumulate;
  for (uint64_t i = machine::thread_rank(); i < n; i += machine::block_threads()) {
    State const mine = value(i);
    sums[i] = first ? mine : acc.combine(sums[i], mine);
  }
  gate.leave(slot);
}

} // namespace isobit::inline bits1
