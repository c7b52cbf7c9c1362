// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Placeholder of the flag-proof scalar operations (being completed).
#pragma once

#include <isobit/bits/cast.hpp>

namespace isobit::inline bits1 {

namespace detail {
#if !defined(ISOBIT_ON_DEVICE)
// Opaque to the optimiser: two values leave this in registers, and nothing is known about either.
template <class T> constexpr void pin(T& a, T& b) {
#if defined(__x86_64__)
  asm("" : "+x"(a), "+x"(b));
#else
  asm("" : "+w"(a), "+w"(b));
#endif
}
template <class T> constexpr T pinned(T r) {
#if defined(__x86_64__)
  asm("" : "+x"(r));
#else
  asm("" : "+w"(r));
#endif
  return r;
}
#endif
} // namespace detail

ISOBIT_HD constexpr float add(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a + b;
#if defined(ISOBIT_ON_DEVICE)
  float r;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  detail::pin(a, b);
  return detail::pinned(a + b);
#endif
}
ISOBIT_HD constexpr double add(double a, double b) {
  if (__builtin_is_constant_evaluated()) return a + b;
#if defined(ISOBIT_ON_DEVICE)
  double r;
  asm("add.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
#else
  detail::pin(a, b);
  return detail::pinned(a + b);
#endif
}
ISOBIT_HD constexpr float mul(float a, float b) {
  if (__builtin_is_constant_evaluated()) return a * b;
#if defined(ISOBIT_ON_DEVICE)
  float r;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  detail::pin(a, b);
  return detail::pinned(a * b);
#endif
}
ISOBIT_HD constexpr double mul(double a, double b) {
  if (__builtin_is_constant_evaluated()) return a * b;
#if defined(ISOBIT_ON_DEVICE)
  double r;
  asm("mul.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
#else
  detail::pin(a, b);
  return detail::pinned(a * b);
#endif
}

} // namespace isobit::inline bits1
