// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The right to run, which operating-system threads hand to one another.
#pragma once

#include <isobit/simt/sanitizer.hpp>

#include <atomic>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace isobit::inline bits1::simt::detail {

//! A binary semaphore. What happened before `give` is visible after `take`, but ThreadSanitizer is not told so: the
//! simulator's choice of who runs next must not look like synchronisation that the kernel asked for.
class turn {
public:
  void give() {
    word_.store(1, leaving);
#if defined(__linux__)
    ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
#else
    word_.notify_one();
#endif
  }
  void take() {
    for (int spin = 0; spin < 200; ++spin) {
      if (taken()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    while (!taken()) {
#if defined(__linux__)
      ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word_), FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
#else
      word_.wait(0, arriving);
#endif
    }
  }

private:
  static constexpr auto leaving = thread_sanitizer ? std::memory_order_relaxed : std::memory_order_release;
  static constexpr auto arriving = thread_sanitizer ? std::memory_order_relaxed : std::memory_order_acquire;

  bool taken() {
    uint32_t one = 1;
    return word_.compare_exchange_strong(one, 0, arriving, std::memory_order_relaxed);
  }

  std::atomic<uint32_t> word_{0};
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
};

} // namespace isobit::inline bits1::simt::detail
