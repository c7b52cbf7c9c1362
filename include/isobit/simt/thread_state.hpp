// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the simulator knows of each thread, warp and barrier of a block.
#pragma once

#include <isobit/simt/config.hpp>
#include <isobit/simt/error.hpp>
#include <isobit/simt/fiber.hpp>

#include <cstring>

namespace isobit::inline bits1::simt::detail {

enum class waiting : uint8_t { nothing, start, block_barrier, warp_barrier, shuffle, ballot, finished };

struct thread_state {
  fiber* runs_on = nullptr;
  extent3 index;
  waiting wait = waiting::start;
  bool vote = false;
  uint32_t mask = 0;
  uint32_t from = 0;
  uint32_t votes = 0;  //!< of the last ballot, or how many voted at the last barrier
  uint32_t spins = 0;  //!< atomic accesses in a row that changed nothing
  bool fenced = false; //!< has called __threadfence
  source_line where;
  void* last_atomic = nullptr;
  void const* offered = nullptr;
  void* received = nullptr;
};

//! The lanes of a warp that meet in one collective operation: those that named the same mask.
struct warp_group {
  uint32_t mask = 0;
  uint32_t arrived = 0;
  waiting kind = waiting::nothing;
  bool diverged = false;
  uint32_t bytes = 0;
  source_line where;
  void* sync = nullptr;
};

struct warp_state {
  uint32_t present = 0; //!< lanes that the block has
  uint32_t exited = 0;
  uint32_t groups = 0;
  uint32_t next_sync = 0;
  warp_group group[machine::warp_width];
  char sync[64]; //!< addresses that ThreadSanitizer knows operations by
};

struct block_barrier {
  uint32_t arrived = 0;
  uint32_t votes = 0;
  uint32_t generation = 0;
  bool diverged = false;
  source_line where;
  char sync[2];
};

inline bool same_line(source_line a, source_line b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

//! The bytes that a lane offers or receives travel unseen by ThreadSanitizer: on a GPU they travel by registers.
ISOBIT_SIMT_UNSEEN inline void copy_registers(void* to, void const* from, size_t bytes) {
  char* t = static_cast<char*>(to);
  char const* f = static_cast<char const*>(from);
  if constexpr (!thread_sanitizer) {
    if (bytes == 4) return static_cast<void>(std::memcpy(t, f, 4)); // without a call
    if (bytes == 8) return static_cast<void>(std::memcpy(t, f, 8));
    std::memcpy(t, f, bytes);
  } else {
    for (size_t i = 0; i < bytes; ++i) {
      t[i] = f[i];
      asm volatile("" : : : "memory"); // keeps the loop from becoming a call of memcpy
    }
  }
}

} // namespace isobit::inline bits1::simt::detail
