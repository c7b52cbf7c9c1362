// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The operations of arith/op.hpp as PTX: an explicit `.rn` is never contracted, and without `.ftz` nothing is flushed,
//! whatever nvcc's flags. The asm statements are not volatile: they can be scheduled, shared and removed.
#pragma once

#include <isobit/config.hpp>

#if defined(ISOBIT_ON_DEVICE)
namespace isobit::inline bits1::detail {

template <class T> __device__ T add_rn(T a, T b) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("add.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
template <class T> __device__ T sub_rn(T a, T b) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("sub.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("sub.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
template <class T> __device__ T mul_rn(T a, T b) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
template <class T> __device__ T fma_rn(T a, T b, T c) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  else
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c));
  return r;
}
template <class T> __device__ T div_rn(T a, T b) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("div.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
  return r;
}
template <class T> __device__ T sqrt_rn(T x) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(x));
  else
    asm("sqrt.rn.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
__device__ inline float narrow_rn(double x) {
  float r;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(r) : "d"(x));
  return r;
}
__device__ inline double widen(float x) {
  double r;
  asm("cvt.f64.f32 %0, %1;" : "=d"(r) : "f"(x));
  return r;
}
template <class T> __device__ T from_integer_rn(int64_t x) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("cvt.rn.f32.s64 %0, %1;" : "=f"(r) : "l"(x));
  else
    asm("cvt.rn.f64.s64 %0, %1;" : "=d"(r) : "l"(x));
  return r;
}
template <class T> __device__ T from_integer_rn(uint64_t x) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("cvt.rn.f32.u64 %0, %1;" : "=f"(r) : "l"(x));
  else
    asm("cvt.rn.f64.u64 %0, %1;" : "=d"(r) : "l"(x));
  return r;
}
template <class T> __device__ T from_integer_rn(int32_t x) {
  T r;
  if constexpr (sizeof(T) == 4)
    asm("cvt.rn.f32.s32 %0, %1;" : "=f"(r) : "r"(x));
  else
    asm("cvt.rn.f64.s32 %0, %1;" : "=d"(r) : "r"(x));
  return r;
}

} // namespace isobit::inline bits1::detail
#endif
