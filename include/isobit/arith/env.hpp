// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The floating-point environment of a host thread. A program that links anything built with -ffast-math, or loads such a
//! shared library, runs with subnormal numbers flushed to zero; host entry points therefore set the environment that
//! IEEE arithmetic needs and put the caller's back. Host only; x86-64 (MXCSR) and aarch64 (FPCR).
#pragma once

#include <isobit/config.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {
namespace detail {

#if defined(__x86_64__)
using environment_word = uint32_t;
// Exceptions masked, rounding to nearest, neither FTZ (bit 15) nor DAZ (bit 6). Bits 0 to 5 are sticky exception flags.
inline constexpr environment_word default_environment = 0x1f80;
inline constexpr environment_word environment_control = 0xffc0;
inline environment_word read_environment() {
  environment_word word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word;
}
inline void write_environment(environment_word word) { asm volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
#elif defined(__aarch64__)
using environment_word = uint64_t;
// Everything off: rounding to nearest (bits 22, 23), no FZ (24), FZ16 (19), FIZ (0), AH (1) or NEP (2), no alternative
// half precision (26), NaNs as they come (25), no traps (8 to 12, 15).
inline constexpr environment_word default_environment = 0;
inline constexpr environment_word environment_control = 0x07c89f07;
inline environment_word read_environment() {
  environment_word word;
  asm volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return word;
}
inline void write_environment(environment_word word) { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
using environment_word = uint32_t;
inline constexpr environment_word default_environment = 0;
inline constexpr environment_word environment_control = 0;
inline environment_word read_environment() { return 0; }
inline void write_environment(environment_word) {}
#endif

// Not inlined, so that no arithmetic of `f` moves before or after the writes of the environment: the optimiser does not
// know that arithmetic depends on it.
template <class F> [[gnu::noinline]] decltype(auto) call_apart(F& f) {
  asm volatile("" : : : "memory");
  return f();
}

} // namespace detail

//! True if this thread computes as IEEE 754 says by default: rounding to nearest, subnormal numbers kept, exceptions
//! masked. Costs one instruction.
inline bool environment_is_default() {
  return (detail::read_environment() & detail::environment_control) ==
         (detail::default_environment & detail::environment_control);
}

//! While an object of this class lives, its thread's floating-point environment is the default one; then it is as it was,
//! the sticky exception flags included. Writes the register only where it is needed, so that it costs a few
//! nanoseconds. Create and destroy on one thread.
//!
//! The optimiser may move arithmetic on values in registers (not loads and stores) across the two ends; a function that
//! does more than load, compute and store uses `with_default_environment` instead.
class environment_guard {
public:
  environment_guard() noexcept : saved_(detail::read_environment()) {
    if ((saved_ & detail::environment_control) != (detail::default_environment & detail::environment_control))
      detail::write_environment((saved_ & ~detail::environment_control) | detail::default_environment);
  }
  ~environment_guard() {
    if (detail::read_environment() != saved_) detail::write_environment(saved_);
  }
  environment_guard(environment_guard const&) = delete;
  environment_guard& operator=(environment_guard const&) = delete;

private:
  detail::environment_word saved_;
};

//! `f()`, with this thread's environment the default one meanwhile. Nothing that `f` computes moves out of the guarded
//! part. What `f` throws passes through; the environment is put back then too.
template <class F> decltype(auto) with_default_environment(F&& f) {
  environment_guard const guard;
  return detail::call_apart(f);
}

} // namespace isobit::inline bits1
#endif
