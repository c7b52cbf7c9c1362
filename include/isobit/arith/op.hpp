// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scalar operations on float and double whose bits no compiler flag changes: add, sub, mul, fma, div, sqrt,
//! convert, min, max, abs, neg and comparisons. Each is the IEEE 754 operation, rounded once to nearest even; nothing is
//! fused, reassociated, flushed or approximated.
//!
//! Guarantee: target (the same bits in constant expressions, on hosts and on GPUs, under all flags). The one exception is
//! the payload and sign of a NaN *result* of add, sub, mul, fma, div, sqrt and convert: processors differ there, and
//! `canonical` (bits/cast.hpp) removes the difference. Precondition on a host: rounding to nearest and no flush-to-zero in
//! the floating-point environment, as every C++ program starts; arith/env.hpp has the guard for entry points.
//!
//! How: constant expressions use the plain operator, or integers (arith/soft.hpp) where a compiler refuses to evaluate
//! it. Devices use PTX with an explicit `.rn`, which is never contracted, and without `.ftz`. Hosts pass the operands and
//! the result through empty asm statements, so that the optimiser knows nothing about any of them; division and square
//! root are written as instructions, because -mrecip replaces the operators.
//! Call them by qualified name: after `using namespace isobit`, `sqrt`, `fma`, `abs`, `min` and `max` are ambiguous with the
//! global functions of the same names (that they are not silently preferred is meant), and CUDA's headers do not compile.
//! Cost: that of the instruction. A host loop over these is not vectorised: arith/vector.hpp is for that.
#pragma once

#include <isobit/arith/soft.hpp>
#include <isobit/bits/cast.hpp>
#include <isobit/bits/ordered.hpp>

namespace isobit::inline bits1 {
namespace detail {

#if defined(ISOBIT_ON_DEVICE)

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

#else

// Opaque to the optimiser: the values leave in registers, and nothing is known about any of them, nor how they are
// related. Not volatile: unused operations vanish, and all may be scheduled.
#if defined(__aarch64__)
// With -fno-signed-zeros, g++ puts a constant -0 into a register as +0; as an integer it is safe.
template <class T> constexpr void launder_constant(T& a) {
  if (!__builtin_constant_p(a)) return;
  float_bits<T> b = to_bits(a);
  asm("" : "+r"(b));
  a = from_bits<T>(b);
}
#endif
template <class T> ISOBIT_HD constexpr void pin(T& a) {
#if defined(__x86_64__)
  asm("" : "+x"(a));
#elif defined(__aarch64__)
  launder_constant(a);
  asm("" : "+w"(a));
#else
  asm("" : "+m"(a));
#endif
}
template <class T> ISOBIT_HD constexpr void pin(T& a, T& b) {
#if defined(__x86_64__)
  asm("" : "+x"(a), "+x"(b));
#elif defined(__aarch64__)
  launder_constant(a);
  launder_constant(b);
  asm("" : "+w"(a), "+w"(b));
#else
  asm("" : "+m"(a), "+m"(b));
#endif
}
template <class T> ISOBIT_HD constexpr T pinned(T r) {
  pin(r);
  return r;
}

template <class T> ISOBIT_HD constexpr T add_rn(T a, T b) {
  pin(a, b);
  return pinned(a + b);
}
template <class T> ISOBIT_HD constexpr T sub_rn(T a, T b) {
  pin(a, b);
  return pinned(a - b);
}
template <class T> ISOBIT_HD constexpr T mul_rn(T a, T b) {
  pin(a, b);
  return pinned(a * b);
}
// The two spellings in {a|b} are for -masm=att and -masm=intel.
template <class T> ISOBIT_HD constexpr T div_rn(T a, T b) {
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    asm("vdivss {%1, %0, %0|%0, %0, %1}" : "+x"(a) : "x"(b));
  else
    asm("vdivsd {%1, %0, %0|%0, %0, %1}" : "+x"(a) : "x"(b));
  return a;
#elif defined(__x86_64__)
  if constexpr (sizeof(T) == 4)
    asm("divss {%1, %0|%0, %1}" : "+x"(a) : "x"(b));
  else
    asm("divsd {%1, %0|%0, %1}" : "+x"(a) : "x"(b));
  return a;
#elif defined(__aarch64__)
  pin(a, b);
  if constexpr (sizeof(T) == 4)
    asm("fdiv %s0, %s0, %s1" : "+w"(a) : "w"(b));
  else
    asm("fdiv %d0, %d0, %d1" : "+w"(a) : "w"(b));
  return a;
#else
  return soft::div(a, b);
#endif
}
template <class T> ISOBIT_HD constexpr T sqrt_rn(T x) {
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    asm("vsqrtss %0, %0, %0" : "+x"(x));
  else
    asm("vsqrtsd %0, %0, %0" : "+x"(x));
  return x;
#elif defined(__x86_64__)
  if constexpr (sizeof(T) == 4)
    asm("sqrtss %0, %0" : "+x"(x));
  else
    asm("sqrtsd %0, %0" : "+x"(x));
  return x;
#elif defined(__aarch64__)
  pin(x);
  if constexpr (sizeof(T) == 4)
    asm("fsqrt %s0, %s0" : "+w"(x));
  else
    asm("fsqrt %d0, %d0" : "+w"(x));
  return x;
#else
  return soft::sqrt(x);
#endif
}
ISOBIT_HD constexpr float narrow_rn(double x) {
  pin(x);
  return pinned(static_cast<float>(x));
}
ISOBIT_HD constexpr double widen(float x) {
  pin(x);
  return pinned(static_cast<double>(x));
}
template <class T> ISOBIT_HD constexpr T from_integer_rn(int64_t x) { return pinned(static_cast<T>(x)); }
template <class T> ISOBIT_HD constexpr T from_integer_rn(int32_t x) { return pinned(static_cast<T>(x)); }
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
  pin(a, b);
  pin(c);
  if constexpr (sizeof(T) == 4)
    asm("fmadd %s0, %s1, %s2, %s0" : "+w"(c) : "w"(a), "w"(b));
  else
    asm("fmadd %d0, %d1, %d2, %d0" : "+w"(c) : "w"(a), "w"(b));
  return c;
#else
  if constexpr (sizeof(T) == 4)
    return fma_by_double(a, b, c);
  else
    return soft::fma(a, b, c);
#endif
}
#endif

// Where a compiler evaluates the plain operator in a constant expression: finite operands, and a result that neither
// overflows nor is subnormal.
template <class T> ISOBIT_HD constexpr int exponent_field(T x) {
  return static_cast<int>(magnitude_bits(x) >> float_fields<T>::mantissa_bits);
}
template <class T> ISOBIT_HD constexpr bool plain_sum_is_constant(T a, T b) {
  return exponent_field(a) < 2 * float_fields<T>::bias && exponent_field(b) < 2 * float_fields<T>::bias;
}
template <class T> ISOBIT_HD constexpr bool plain_product_is_constant(T a, T b) {
  constexpr int bias = float_fields<T>::bias;
  int const ea = exponent_field(a), eb = exponent_field(b);
  return ea <= 2 * bias && eb <= 2 * bias && ea + eb <= 3 * bias - 2 && ea + eb >= bias + 2;
}

template <class T> ISOBIT_HD constexpr T add_any(T a, T b) {
  if (__builtin_is_constant_evaluated()) return plain_sum_is_constant(a, b) ? a + b : soft::add(a, b);
  return add_rn(a, b);
}
template <class T> ISOBIT_HD constexpr T sub_any(T a, T b) {
  if (__builtin_is_constant_evaluated()) return plain_sum_is_constant(a, b) ? a - b : soft::sub(a, b);
  return sub_rn(a, b);
}
template <class T> ISOBIT_HD constexpr T mul_any(T a, T b) {
  if (__builtin_is_constant_evaluated()) return plain_product_is_constant(a, b) ? a * b : soft::mul(a, b);
  return mul_rn(a, b);
}
template <class T> ISOBIT_HD constexpr T fma_any(T a, T b, T c) {
  if (__builtin_is_constant_evaluated()) return soft::fma(a, b, c);
  return fma_rn(a, b, c);
}
template <class T> ISOBIT_HD constexpr T div_any(T a, T b) {
  if (__builtin_is_constant_evaluated()) return soft::div(a, b);
  return div_rn(a, b);
}
template <class T> ISOBIT_HD constexpr T sqrt_any(T x) {
  if (__builtin_is_constant_evaluated()) return soft::sqrt(x);
  return sqrt_rn(x);
}
template <class T> ISOBIT_HD constexpr T min_any(T a, T b) {
  if (is_nan(a) || is_nan(b)) return from_bits<T>(float_fields<T>::quiet_nan);
  return to_ordered(a) < to_ordered(b) ? a : b;
}
template <class T> ISOBIT_HD constexpr T max_any(T a, T b) {
  if (is_nan(a) || is_nan(b)) return from_bits<T>(float_fields<T>::quiet_nan);
  return to_ordered(a) < to_ordered(b) ? b : a;
}
} // namespace detail

//! a + b.
ISOBIT_HD constexpr float add(float a, float b) { return detail::add_any(a, b); }
ISOBIT_HD constexpr double add(double a, double b) { return detail::add_any(a, b); }

//! a - b.
ISOBIT_HD constexpr float sub(float a, float b) { return detail::sub_any(a, b); }
ISOBIT_HD constexpr double sub(double a, double b) { return detail::sub_any(a, b); }

//! a * b.
ISOBIT_HD constexpr float mul(float a, float b) { return detail::mul_any(a, b); }
ISOBIT_HD constexpr double mul(double a, double b) { return detail::mul_any(a, b); }

//! a * b + c, rounded once. An x86-64 host compiled without FMA instructions (-mfma, -march=x86-64-v3) computes it in
//! double (float, about 10 operations) or in integers (double, tens of nanoseconds), with the same bits.
ISOBIT_HD constexpr float fma(float a, float b, float c) { return detail::fma_any(a, b, c); }
ISOBIT_HD constexpr double fma(double a, double b, double c) { return detail::fma_any(a, b, c); }

//! a / b.
ISOBIT_HD constexpr float div(float a, float b) { return detail::div_any(a, b); }
ISOBIT_HD constexpr double div(double a, double b) { return detail::div_any(a, b); }

//! The square root of `x`: -0 for -0, NaN for other negative numbers.
ISOBIT_HD constexpr float sqrt(float x) { return detail::sqrt_any(x); }
ISOBIT_HD constexpr double sqrt(double x) { return detail::sqrt_any(x); }

//! `x` as `To`, rounded once: between float and double, and from integers of at most 64 bits.
template <ieee_float To, class From>
  requires(ieee_float<From> || stl::integral<From>)
ISOBIT_HD constexpr To convert(From x) {
  if constexpr (stl::same_as<To, From>) {
    return x;
  } else if constexpr (ieee_float<From>) {
    if (__builtin_is_constant_evaluated()) return soft::convert<To>(x);
    if constexpr (sizeof(To) == 4)
      return detail::narrow_rn(x);
    else
      return detail::widen(x);
  } else {
    static_assert(sizeof(From) <= 8, "isobit: convert takes integers of at most 64 bits");
    if (__builtin_is_constant_evaluated()) return soft::convert<To>(x);
    if constexpr (sizeof(From) < 4 || (sizeof(From) == 4 && stl::is_signed_v<From>))
      return detail::from_integer_rn<To>(static_cast<int32_t>(x));
    else if constexpr (sizeof(From) < 8 || stl::is_signed_v<From>)
      return detail::from_integer_rn<To>(static_cast<int64_t>(x));
    else
      return detail::from_integer_rn<To>(static_cast<uint64_t>(x));
  }
}

//! -x: the sign bit flipped, of zeros and NaNs too.
template <ieee_float T> ISOBIT_HD constexpr T neg(T x) { return from_bits<T>(to_bits(x) ^ float_fields<T>::sign); }
//! |x|: the sign bit cleared, of zeros and NaNs too.
ISOBIT_HD constexpr float abs(float x) { return from_bits<float>(magnitude_bits(x)); }
ISOBIT_HD constexpr double abs(double x) { return from_bits<double>(magnitude_bits(x)); }

//! The lesser number, with -0 < +0; the canonical NaN if either is NaN (minimum of IEEE 754-2019 section 9.6).
//! Commutative and associative in every bit, so that any order of a reduction gives the same result.
ISOBIT_HD constexpr float min(float a, float b) { return detail::min_any(a, b); }
ISOBIT_HD constexpr double min(double a, double b) { return detail::min_any(a, b); }

//! The greater number, with -0 < +0; the canonical NaN if either is NaN (maximum of IEEE 754-2019 section 9.6).
ISOBIT_HD constexpr float max(float a, float b) { return detail::max_any(a, b); }
ISOBIT_HD constexpr double max(double a, double b) { return detail::max_any(a, b); }

//! a < b of IEEE 754: false if either is NaN; -0 and +0 are equal.
template <ieee_float T> ISOBIT_HD constexpr bool less(T a, T b) {
  return !is_nan(a) && !is_nan(b) && !(is_zero(a) && is_zero(b)) && to_ordered(a) < to_ordered(b);
}
//! a <= b of IEEE 754: false if either is NaN; -0 and +0 are equal.
template <ieee_float T> ISOBIT_HD constexpr bool less_equal(T a, T b) {
  return !is_nan(a) && !is_nan(b) && ((is_zero(a) && is_zero(b)) || to_ordered(a) <= to_ordered(b));
}
//! a == b of IEEE 754: false if either is NaN; -0 and +0 are equal.
template <ieee_float T> ISOBIT_HD constexpr bool equal(T a, T b) {
  return !is_nan(a) && !is_nan(b) && ((is_zero(a) && is_zero(b)) || to_bits(a) == to_bits(b));
}
//! a < b in the total order of IEEE 754-2019 section 5.10: -NaN < numbers < +NaN, and -0 < +0.
template <ieee_float T> ISOBIT_HD constexpr bool total_less(T a, T b) { return to_ordered(a) < to_ordered(b); }

} // namespace isobit::inline bits1
