// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The operations of arith/op.hpp on hosts: one instruction in an asm statement each, so that the optimiser can neither
//! fold, fuse, reassociate nor approximate it, and needs no copy of an operand as an empty asm statement would. The asm
//! statements are not volatile: unused ones vanish, and all may be scheduled. A processor that is neither x86-64 nor
//! aarch64 gets integer arithmetic.
#pragma once

#include <isobit/arith/soft.hpp>
#include <isobit/bits/cast.hpp>

#if !defined(ISOBIT_ON_DEVICE)
namespace isobit::inline bits1::detail {

// `x`, of which the optimiser knows nothing any more.
template <class T> ISOBIT_HD constexpr T opaque(T x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  // With -fno-signed-zeros, g++ puts a constant -0 into a register as +0; as an integer it is safe.
  if (__builtin_constant_p(x)) {
    float_bits<T> b = to_bits(x);
    asm("" : "+r"(b));
    x = from_bits<T>(b);
  }
  asm("" : "+w"(x));
#else
  asm("" : "+m"(x));
#endif
  return x;
}

// The two spellings in {a|b} are for -masm=att and -masm=intel.
template <class T> ISOBIT_HD constexpr T add_rn(T a, T b) {
#if defined(__x86_64__) && defined(__AVX__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("vaddss {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  else
    asm("vaddsd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  return r;
#elif defined(__x86_64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("addss {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  else
    asm("addsd {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  return r;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fadd %s0, %s1, %s2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  else
    asm("fadd %d0, %d1, %d2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  return r;
#else
  return soft::add(a, b);
#endif
}
template <class T> ISOBIT_HD constexpr T sub_rn(T a, T b) {
#if defined(__x86_64__) && defined(__AVX__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("vsubss {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  else
    asm("vsubsd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  return r;
#elif defined(__x86_64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("subss {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  else
    asm("subsd {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  return r;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fsub %s0, %s1, %s2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  else
    asm("fsub %d0, %d1, %d2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  return r;
#else
  return soft::sub(a, b);
#endif
}
template <class T> ISOBIT_HD constexpr T mul_rn(T a, T b) {
#if defined(__x86_64__) && defined(__AVX__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("vmulss {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  else
    asm("vmulsd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  return r;
#elif defined(__x86_64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("mulss {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  else
    asm("mulsd {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  return r;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fmul %s0, %s1, %s2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  else
    asm("fmul %d0, %d1, %d2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  return r;
#else
  return soft::mul(a, b);
#endif
}
template <class T> ISOBIT_HD constexpr T div_rn(T a, T b) {
#if defined(__x86_64__) && defined(__AVX__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("vdivss {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  else
    asm("vdivsd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  return r;
#elif defined(__x86_64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("divss {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  else
    asm("divsd {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  return r;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fdiv %s0, %s1, %s2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  else
    asm("fdiv %d0, %d1, %d2" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)));
  return r;
#else
  return soft::div(a, b);
#endif
}
template <class T> ISOBIT_HD constexpr T sqrt_rn(T x) {
#if defined(__x86_64__) && defined(__AVX__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("vsqrtss {%1, %1, %0|%0, %1, %1}" : "=x"(r) : "x"(x));
  else
    asm("vsqrtsd {%1, %1, %0|%0, %1, %1}" : "=x"(r) : "x"(x));
  return r;
#elif defined(__x86_64__)
  if constexpr (sizeof(T) == 4)
    asm("sqrtss %0, %0" : "+x"(x));
  else
    asm("sqrtsd %0, %0" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fsqrt %s0, %s1" : "=w"(r) : "w"(opaque(x)));
  else
    asm("fsqrt %d0, %d1" : "=w"(r) : "w"(opaque(x)));
  return r;
#else
  return soft::sqrt(x);
#endif
}
ISOBIT_HD constexpr float narrow_rn(double x) {
  return opaque(static_cast<float>(opaque(x)));
}
ISOBIT_HD constexpr double widen(float x) {
  return opaque(static_cast<double>(opaque(x)));
}
template <class T> ISOBIT_HD constexpr T from_integer_rn(int64_t x) { return opaque(static_cast<T>(x)); }
template <class T> ISOBIT_HD constexpr T from_integer_rn(int32_t x) { return opaque(static_cast<T>(x)); }
template <class T> ISOBIT_HD constexpr T from_integer_rn(uint64_t x) {
  if ((x >> 63) == 0) return from_integer_rn<T>(static_cast<int64_t>(x));
  // Halved with a sticky lowest bit, which is far below the last place; doubling is exact.
  T const half = from_integer_rn<T>(static_cast<int64_t>(x >> 1 | (x & 1)));
  return add_rn(half, half);
}
// The exact sum of a double pair, rounded to odd and then to float: two roundings give the bits of one, because 53 >= 24
// + 2 (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). No product or sum here overflows or is
// subnormal in double.
ISOBIT_HD constexpr float fma_by_double(float a, float b, float c) {
  double const p = mul_rn(widen(a), widen(b)), z = widen(c);
  double s = add_rn(p, z);
  if (is_finite(s)) {
    double const v = sub_rn(s, p);
    double const error = add_rn(sub_rn(p, sub_rn(s, v)), sub_rn(z, v));
    if (!is_zero(error) && (to_bits(s) & 1) == 0)
      s = from_bits<double>(sign_bit(error) == sign_bit(s) ? to_bits(s) + 1 : to_bits(s) - 1);
  }
  return narrow_rn(s);
}
template <class T> ISOBIT_HD constexpr T fma_rn(T a, T b, T c) {
#if defined(__x86_64__) && defined(__FMA__)
  if constexpr (sizeof(T) == 4)
    asm("vfmadd231ss {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
  else
    asm("vfmadd231sd {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
  return c;
#elif defined(__aarch64__)
  T r;
  if constexpr (sizeof(T) == 4)
    asm("fmadd %s0, %s1, %s2, %s3" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)), "w"(opaque(c)));
  else
    asm("fmadd %d0, %d1, %d2, %d3" : "=w"(r) : "w"(opaque(a)), "w"(opaque(b)), "w"(opaque(c)));
  return r;
#else
  if constexpr (sizeof(T) == 4)
    return fma_by_double(a, b, c);
  else
    return soft::fma(a, b, c);
#endif
}

} // namespace isobit::inline bits1::detail
#endif
