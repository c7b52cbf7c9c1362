// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a simulated launch throws when the kernel is wrong.
#pragma once

#include <isobit/group/machine.hpp>

#include <stdexcept>
#include <string>

namespace isobit::inline bits1::simt {

enum class error_kind {
  deadlock,     //!< no thread of the block can run, and no barrier or collective is complete
  divergence,   //!< threads met in one barrier or collective from different places, or with different arguments
  bad_mask,     //!< a lane mask that does not hold the caller, or holds lanes that the block does not have
  bad_lane,     //!< a shuffle from a lane outside of its mask
  livelock,     //!< every thread that can run repeats an atomic that changes nothing
  nested_launch //!< a launch from within a kernel
};

//! A mistake of the kernel. `what()` says which threads of which block wait where and for whom.
class kernel_error : public std::runtime_error {
public:
  kernel_error(error_kind kind, extent3 block, extent3 thread, source_line where, std::string const& text)
      : std::runtime_error(text), kind_(kind), block_(block), thread_(thread), where_(where) {}
  error_kind kind() const { return kind_; }
  extent3 block() const { return block_; }     //!< the block that is stuck
  extent3 thread() const { return thread_; }   //!< the lowest thread that is stuck, or the one that made the mistake
  source_line where() const { return where_; } //!< where that thread waits, or made the mistake

private:
  error_kind kind_;
  extent3 block_, thread_;
  source_line where_;
};

} // namespace isobit::inline bits1::simt
