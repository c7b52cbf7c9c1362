// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One thread, on a host or on a device: it works alone and talks to nobody.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The group of one thread.
struct thread {
  ISOBIT_HD static constexpr uint32_t thread_rank() { return 0; }
  ISOBIT_HD static constexpr uint32_t size() { return 1; }
  ISOBIT_HD static constexpr void sync() {}
};

} // namespace isobit::inline bits1
