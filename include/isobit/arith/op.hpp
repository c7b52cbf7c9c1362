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
//! it. At run time every operation is an instruction in an asm statement, of which the optimiser knows nothing: PTX with
//! an explicit `.rn`, which is never contracted, and without `.ftz` (device_op.hpp); SSE, AVX or NEON (host_op.hpp).
//! Call them by qualified name: after `using namespace isobit`, `sqrt`, `fma`, `abs`, `min` and `max` are ambiguous with the
//! global functions of the same names (that they are not silently preferred is meant), and CUDA's headers do not compile.
//! Cost: that of the instruction. A host loop over these is not vectorised: arith/vector.hpp is for that.
#pragma once

#include <isobit/arith/device_op.hpp>
#include <isobit/arith/host_op.hpp>
#include <isobit/arith/soft.hpp>
#include <isobit/bits/cast.hpp>
#include <isobit/bits/ordered.hpp>

namespace isobit::inline bits1 {
namespace detail {

// Where a compiler evaluates the plain operator in a constant expression: finite operands, and a result that neither
// overflows nor is subnormal. Not with -mfpmath=387, where newer compilers evaluate constants in extended precision too.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
inline constexpr bool operators_round_once = false;
#else
inline constexpr bool operators_round_once = true;
#endif
template <class T> ISOBIT_HD constexpr int exponent_field(T x) {
  return static_cast<int>(magnitude_bits(x) >> float_fields<T>::mantissa_bits);
}
template <class T> ISOBIT_HD constexpr bool plain_sum_is_constant(T a, T b) {
  return operators_round_once && exponent_field(a) < 2 * float_fields<T>::bias && exponent_field(b) < 2 * float_fields<T>::bias;
}
template <class T> ISOBIT_HD constexpr bool plain_product_is_constant(T a, T b) {
  constexpr int bias = float_fields<T>::bias;
  int const ea = exponent_field(a), eb = exponent_field(b);
  return operators_round_once && ea <= 2 * bias && eb <= 2 * bias && ea + eb <= 3 * bias - 2 && ea + eb >= bias + 2;
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
//! double (float, about 10 operations) or by error-free transforms (double, about 45), with the same bits.
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
