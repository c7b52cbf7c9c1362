// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a simulated launch is told, and what it tells afterwards.
#pragma once

#include <isobit/group/machine.hpp>
#include <isobit/simt/sanitizer.hpp>
#include <isobit/simt/schedule.hpp>

namespace isobit::inline bits1::simt {

//! How to launch. Designated initialisers read well: `{.grid = {8}, .block = {256}, .seed = 7}`.
struct config {
  extent3 grid{};  //!< blocks
  extent3 block{}; //!< threads a block: at most 1024 in all, 64 in z
  uint64_t seed = 0;
  schedule order = schedule::random;
  //! How many blocks are on the machine at once (their threads take turns); the others start as these end.
  //! 0: chosen by the seed, 1..4, for random schedules, else 1.
  uint32_t resident = 0;
  //! Random schedules: whether another thread or block may run before each atomic access.
  bool preempt = true;
  //! Whether a barrier or warp operation may do without threads that have returned from the kernel, as current GPUs do
  //! for `__syncthreads`. By default such a thread is an error.
  bool exited_threads_count = false;
  //! Bytes of dynamic shared memory a block (`simt::dynamic_shared`).
  size_t shared_bytes = 0;
  //! Stack of a simulated thread, with an inaccessible page below.
  size_t stack_bytes = (detail::address_sanitizer || detail::thread_sanitizer) ? 256 * 1024 : 64 * 1024;
  //! Atomic accesses in a row, all threads together, that change nothing before the launch counts as hung.
  uint64_t spin_limit = 1 << 20;
};

//! The configuration of the k-th of many schedules to try: in order, in reverse, then random ones by seed.
//!
//!     for (int k = 0; k < 100; ++k) simt::launch(simt::vary(c, k), kernel, args...);
inline config vary(config c, uint64_t k) {
  c.order = k == 0 ? schedule::in_order : k == 1 ? schedule::reverse : schedule::random;
  c.seed += k;
  return c;
}

//! What a launch did.
struct report {
  uint64_t threads = 0;     //!< that ran to their end
  uint64_t barriers = 0;    //!< arrivals of threads at block barriers
  uint64_t collectives = 0; //!< arrivals of threads at warp barriers, shuffles and ballots
  uint64_t atomics = 0;     //!< atomic accesses
  uint64_t handovers = 0;   //!< times that another resident block's thread was let run
  uint64_t trace = 0;       //!< hash of every choice that the scheduler made: equal traces mean equal interleavings
};

} // namespace isobit::inline bits1::simt
