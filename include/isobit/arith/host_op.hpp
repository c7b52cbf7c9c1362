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
// a + b rounded to odd: where the sum is inexact and its last bit is even, its neighbour on the side of the error. A
// second rounding to a format shorter by two bits or more then gives the bits of one rounding. (S. Boldo, G. Melquiond,
// Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd, IEEE Trans. Comput. 57, 2008.)
ISOBIT_HD constexpr double add_to_odd(double a, double b) {
  double const s = add_rn(a, b), v = sub_rn(s, a);
  double const error = add_rn(sub_rn(a, sub_rn(s, v)), sub_rn(b, v));
  if (!is_finite(s) || is_zero(error) || (to_bits(s) & 1) != 0) return s;
  return from_bits<double>(sign_bit(error) == sign_bit(s) ? to_bits(s) + 1 : to_bits(s) - 1);
}
// The product of two floats is exact in double, and no sum here overflows or is subnormal.
ISOBIT_HD constexpr float fma_by_double(float a, float b, float c) {
  return narrow_rn(add_to_odd(mul_rn(widen(a), widen(b)), widen(c)));
}
// Exponents so moderate that no error term of fma_by_errors underflows and nothing overflows.
ISOBIT_HD constexpr bool is_moderate(double x, int lowest, int highest) {
  auto const e = static_cast<int>(magnitude_bits(x) >> 52) - 1023;
  return e >= lowest && e <= highest;
}
// Boldo and Melquiond's emulation, with Dekker's product: about 45 operations.
ISOBIT_HD constexpr double fma_by_errors(double a, double b, double c) {
  if (!is_moderate(a, -400, 400) || !is_moderate(b, -400, 400) || !is_moderate(c, -800, 800)) return soft::fma(a, b, c);
  constexpr double factor = 134217729; // 2^27 + 1
  double const ca = mul_rn(factor, a), a1 = sub_rn(ca, sub_rn(ca, a)), a2 = sub_rn(a, a1);
  double const cb = mul_rn(factor, b), b1 = sub_rn(cb, sub_rn(cb, b)), b2 = sub_rn(b, b1);
  double const p = mul_rn(a, b);
  double const rest = sub_rn(sub_rn(sub_rn(p, mul_rn(a1, b1)), mul_rn(a2, b1)), mul_rn(a1, b2));
  double const p_error = sub_rn(mul_rn(a2, b2), rest);
  double const t = add_rn(c, p_error), u = sub_rn(t, c); // two_sum of c and p_error
  double const t_error = add_rn(sub_rn(c, sub_rn(t, u)), sub_rn(p_error, u));
  double const s = add_rn(p, t), v = sub_rn(s, p); // two_sum of p and t
  double const s_error = add_rn(sub_rn(p, sub_rn(s, v)), sub_rn(t, v));
  return add_rn(s, add_to_odd(t_error, s_error));
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
    return fma_by_errors(a, b, c);
#endif
}

} // namespace isobit::inline bits1::detail
#endif
