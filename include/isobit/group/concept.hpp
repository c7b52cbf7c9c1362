// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What every group of threads of a kernel has: a size, a rank for each member and a barrier.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! A set of threads that call the same function together. `thread_rank()` numbers them from 0 to `size() - 1`;
//! `sync()` makes what each member wrote to shared and global memory visible to all members.
//! `thread`, `tile<P>` and `block<N>` model it; an adaptor for another library's group needs these three members.
template <class G>
concept thread_group = requires(G const g) {
  { g.thread_rank() } -> stl::convertible_to<uint32_t>;
  { g.size() } -> stl::convertible_to<uint32_t>;
  g.sync();
};

} // namespace isobit::inline bits1
