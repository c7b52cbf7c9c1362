// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the address and thread sanitizers must be told by code that switches stacks. Everything here is empty in an
//! ordinary build.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define ISOBIT_SIMT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define ISOBIT_SIMT_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ISOBIT_SIMT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define ISOBIT_SIMT_TSAN 1
#endif
#endif

#if defined(ISOBIT_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(ISOBIT_SIMT_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(char const* file, int line);
void AnnotateIgnoreReadsEnd(char const* file, int line);
void AnnotateIgnoreWritesBegin(char const* file, int line);
void AnnotateIgnoreWritesEnd(char const* file, int line);
}
#define ISOBIT_SIMT_UNSEEN __attribute__((no_sanitize("thread"), noinline))
#else
//! A function whose memory accesses ThreadSanitizer does not see.
#define ISOBIT_SIMT_UNSEEN
#endif

namespace isobit::inline bits1::simt::detail {

#if defined(ISOBIT_SIMT_TSAN)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#if defined(ISOBIT_SIMT_ASAN)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

//! While one lives, ThreadSanitizer does not look at the memory accesses of the running fiber: the scheduler's own
//! variables are shared by fibers that, as far as the kernel is concerned, are not ordered. Locks and atomics still are
//! seen.
class unseen {
public:
#if defined(ISOBIT_SIMT_TSAN)
  unseen() {
    AnnotateIgnoreReadsBegin("", 0);
    AnnotateIgnoreWritesBegin("", 0);
  }
  ~unseen() {
    AnnotateIgnoreWritesEnd("", 0);
    AnnotateIgnoreReadsEnd("", 0);
  }
#else
  unseen() {}
#endif
  unseen(unseen const&) = delete;
  unseen& operator=(unseen const&) = delete;
};

//! What the running fiber did so far happens before whatever follows a later `happens_after(at)`.
inline void happens_before([[maybe_unused]] void* at) {
#if defined(ISOBIT_SIMT_TSAN)
  __tsan_release(at);
#endif
}
inline void happens_after([[maybe_unused]] void* at) {
#if defined(ISOBIT_SIMT_TSAN)
  __tsan_acquire(at);
#endif
}

} // namespace isobit::inline bits1::simt::detail
