// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The operations of arith/op.hpp on the vector types of g++ and clang, for hosts: `vec<float, 8>` and its like. Element
//! by element the same bits as the scalar operations, under the same flags, at the speed of unguarded vector code: one
//! instruction in an asm statement for each register.
//!
//! `native<T>` is the vector that fills one register of the target (16 bytes; 32 with AVX; 64 with AVX-512). Wider
//! vectors work everywhere by halves, though slower, and compilers warn (-Wpsabi) where such a one is passed by value.
//! Not for devices.
#pragma once

#include <isobit/arith/op.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {
namespace detail {
template <class T, int N> struct vec_of {
  static_assert(N > 1 && (N & (N - 1)) == 0, "isobit: a vec has a power of two of elements");
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
} // namespace detail

//! `N` elements of type `T`: a vector type of g++ and clang. `v[i]` is an element. 16, 32 or 64 bytes.
template <class T, int N> using vec = typename detail::vec_of<T, N>::type;

//! The bytes of one vector register.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif
//! How many elements of type `T` one vector register holds.
template <class T> inline constexpr int native_width = register_bytes / static_cast<int>(sizeof(T));
//! The vector that fills one register.
template <class T> using native = vec<T, native_width<T>>;

template <class V> using element_of = stl::remove_cvref_t<decltype(stl::declval<V&>()[0])>;
//! How many elements the vector type `V` has.
template <class V> inline constexpr int width_of = static_cast<int>(sizeof(V) / sizeof(element_of<V>));

//! A vector type of float or double.
template <class V>
concept float_vector = ieee_float<element_of<V>> && (sizeof(V) == 16 || sizeof(V) == 32 || sizeof(V) == 64);

// Passing a vector wider than the target's registers by value is an ABI question that g++ warns of; everything here is
// inlined, so that there is no call. Inlining also keeps code of one -march out of translation units of another.
#define ISOBIT_VECTOR [[gnu::always_inline]] inline
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

//! The vector at `p`, of any alignment.
template <class V> ISOBIT_VECTOR V load(element_of<V> const* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
//! Writes `v` at `p`, of any alignment.
template <class V> ISOBIT_VECTOR void store(element_of<V>* p, V const& v) { __builtin_memcpy(p, &v, sizeof v); }

//! The vector whose every element is `x`.
template <class V> ISOBIT_VECTOR V broadcast(element_of<V> x) {
  V v;
  for (int i = 0; i < width_of<V>; ++i) v[i] = x;
  return v;
}

//! a[0], a[2], ..., b[0], b[2], ...: with `deinterleave_odd` and `add`, one level of a pairwise sum of 2 * N elements.
// The indices are spelt out, here and below: nvcc's host pass loses a pack in the arguments of this builtin.
template <class V> ISOBIT_VECTOR V deinterleave_even(V const& a, V const& b) {
  if constexpr (width_of<V> == 2)
    return __builtin_shufflevector(a, b, 0, 2);
  else if constexpr (width_of<V> == 4)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6);
  else if constexpr (width_of<V> == 8)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
  else
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
//! a[1], a[3], ..., b[1], b[3], ...
template <class V> ISOBIT_VECTOR V deinterleave_odd(V const& a, V const& b) {
  if constexpr (width_of<V> == 2)
    return __builtin_shufflevector(a, b, 1, 3);
  else if constexpr (width_of<V> == 4)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7);
  else if constexpr (width_of<V> == 8)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  else
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}
//! The first half of the elements of a vector of 32 or 64 bytes.
template <class V> ISOBIT_VECTOR auto low_half(V const& a) {
  if constexpr (width_of<V> == 4)
    return __builtin_shufflevector(a, a, 0, 1);
  else if constexpr (width_of<V> == 8)
    return __builtin_shufflevector(a, a, 0, 1, 2, 3);
  else
    return __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7);
}
//! The second half of the elements of a vector of 32 or 64 bytes.
template <class V> ISOBIT_VECTOR auto high_half(V const& a) {
  if constexpr (width_of<V> == 4)
    return __builtin_shufflevector(a, a, 2, 3);
  else if constexpr (width_of<V> == 8)
    return __builtin_shufflevector(a, a, 4, 5, 6, 7);
  else
    return __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
}
//! The elements of `low`, then those of `high`: 32 or 64 bytes.
template <class V> ISOBIT_VECTOR auto join(V const& low, V const& high) {
  if constexpr (width_of<V> == 2)
    return __builtin_shufflevector(low, high, 0, 1, 2, 3);
  else if constexpr (width_of<V> == 4)
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  else
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

namespace detail {
// The integer vector with the bits of `v`, signed so that comparisons are signed; a comparison gives this type too.
template <class V> using int_vector = vec<ordered_int<element_of<V>>, width_of<V>>;
template <class V> ISOBIT_VECTOR int_vector<V> ints(V const& v) { return __builtin_bit_cast(int_vector<V>, v); }
template <class V> ISOBIT_VECTOR V floats(int_vector<V> const& v) { return __builtin_bit_cast(V, v); }

template <class V> inline constexpr bool fits_register = sizeof(V) <= register_bytes;

// Operands are integers on aarch64: with -fno-signed-zeros, g++ puts a constant -0 into a register as +0.
template <class V> ISOBIT_VECTOR V vector_add(V const& a, V const& b) {
  V r;
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (single)
    asm("vaddps {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  else
    asm("vaddpd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
#elif defined(__x86_64__)
  if constexpr (single)
    asm("addps {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  else
    asm("addpd {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fadd %0.4s, %1.4s, %2.4s" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
  else
    asm("fadd %0.2d, %1.2d, %2.2d" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
#else
  for (int i = 0; i < width_of<V>; ++i) r[i] = isobit::add(a[i], b[i]);
#endif
  return r;
}
template <class V> ISOBIT_VECTOR V vector_sub(V const& a, V const& b) {
  V r;
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (single)
    asm("vsubps {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  else
    asm("vsubpd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
#elif defined(__x86_64__)
  if constexpr (single)
    asm("subps {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  else
    asm("subpd {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fsub %0.4s, %1.4s, %2.4s" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
  else
    asm("fsub %0.2d, %1.2d, %2.2d" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
#else
  for (int i = 0; i < width_of<V>; ++i) r[i] = isobit::sub(a[i], b[i]);
#endif
  return r;
}
template <class V> ISOBIT_VECTOR V vector_mul(V const& a, V const& b) {
  V r;
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (single)
    asm("vmulps {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  else
    asm("vmulpd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
#elif defined(__x86_64__)
  if constexpr (single)
    asm("mulps {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
  else
    asm("mulpd {%2, %0|%0, %2}" : "=x"(r) : "%0"(a), "x"(b));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fmul %0.4s, %1.4s, %2.4s" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
  else
    asm("fmul %0.2d, %1.2d, %2.2d" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
#else
  for (int i = 0; i < width_of<V>; ++i) r[i] = isobit::mul(a[i], b[i]);
#endif
  return r;
}
template <class V> ISOBIT_VECTOR V vector_div(V const& a, V const& b) {
  V r;
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (single)
    asm("vdivps {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
  else
    asm("vdivpd {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "x"(a), "x"(b));
#elif defined(__x86_64__)
  if constexpr (single)
    asm("divps {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
  else
    asm("divpd {%2, %0|%0, %2}" : "=x"(r) : "0"(a), "x"(b));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fdiv %0.4s, %1.4s, %2.4s" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
  else
    asm("fdiv %0.2d, %1.2d, %2.2d" : "=w"(r) : "w"(ints(a)), "w"(ints(b)));
#else
  for (int i = 0; i < width_of<V>; ++i) r[i] = isobit::div(a[i], b[i]);
#endif
  return r;
}
template <class V> ISOBIT_VECTOR V vector_sqrt(V const& a) {
  V r;
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__AVX__)
  if constexpr (single)
    asm("vsqrtps {%1, %0|%0, %1}" : "=x"(r) : "x"(a));
  else
    asm("vsqrtpd {%1, %0|%0, %1}" : "=x"(r) : "x"(a));
#elif defined(__x86_64__)
  if constexpr (single)
    asm("sqrtps {%1, %0|%0, %1}" : "=x"(r) : "x"(a));
  else
    asm("sqrtpd {%1, %0|%0, %1}" : "=x"(r) : "x"(a));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fsqrt %0.4s, %1.4s" : "=w"(r) : "w"(ints(a)));
  else
    asm("fsqrt %0.2d, %1.2d" : "=w"(r) : "w"(ints(a)));
#else
  for (int i = 0; i < width_of<V>; ++i) r[i] = isobit::sqrt(a[i]);
#endif
  return r;
}
template <class V> ISOBIT_VECTOR V vector_fma(V const& a, V const& b, V c) {
  [[maybe_unused]] constexpr bool single = sizeof(element_of<V>) == 4;
#if defined(__x86_64__) && defined(__FMA__)
  if constexpr (single)
    asm("vfmadd231ps {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
  else
    asm("vfmadd231pd {%2, %1, %0|%0, %1, %2}" : "+x"(c) : "x"(a), "x"(b));
#elif defined(__aarch64__)
  auto sum = ints(c);
  if constexpr (single)
    asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(ints(a)), "w"(ints(b)));
  else
    asm("fmla %0.2d, %1.2d, %2.2d" : "+w"(sum) : "w"(ints(a)), "w"(ints(b)));
  c = floats<V>(sum);
#else
  for (int i = 0; i < width_of<V>; ++i) c[i] = isobit::fma(a[i], b[i], c[i]);
#endif
  return c;
}

// All ones where the element is NaN.
template <class V> ISOBIT_VECTOR int_vector<V> nan_mask(V const& v) {
  using i = ordered_int<element_of<V>>;
  return (ints(v) & static_cast<i>(~float_fields<element_of<V>>::sign)) >
         static_cast<i>(float_fields<element_of<V>>::exponent);
}
template <class V> ISOBIT_VECTOR int_vector<V> ordered_elements(V const& v) {
  using i = ordered_int<element_of<V>>;
  auto const x = ints(v);
  return x ^ ((x >> (sizeof(i) * 8 - 1)) & static_cast<i>(~float_fields<element_of<V>>::sign));
}
template <class V> ISOBIT_VECTOR V select(int_vector<V> const& mask, V const& yes, V const& no) {
  return floats<V>((ints(yes) & mask) | (ints(no) & ~mask));
}
template <class V> ISOBIT_VECTOR V nan_if(int_vector<V> const& mask, V const& other) {
  using i = ordered_int<element_of<V>>;
  return floats<V>((mask & static_cast<i>(float_fields<element_of<V>>::quiet_nan)) | (ints(other) & ~mask));
}
} // namespace detail

//! a + b, a - b, a * b, a / b, a * b + c (rounded once), and square roots, element by element.
template <float_vector V> ISOBIT_VECTOR V add(V const& a, V const& b) {
  if constexpr (!detail::fits_register<V>)
    return join(add(low_half(a), low_half(b)), add(high_half(a), high_half(b)));
  else
    return detail::vector_add(a, b);
}
template <float_vector V> ISOBIT_VECTOR V sub(V const& a, V const& b) {
  if constexpr (!detail::fits_register<V>)
    return join(sub(low_half(a), low_half(b)), sub(high_half(a), high_half(b)));
  else
    return detail::vector_sub(a, b);
}
template <float_vector V> ISOBIT_VECTOR V mul(V const& a, V const& b) {
  if constexpr (!detail::fits_register<V>)
    return join(mul(low_half(a), low_half(b)), mul(high_half(a), high_half(b)));
  else
    return detail::vector_mul(a, b);
}
template <float_vector V> ISOBIT_VECTOR V div(V const& a, V const& b) {
  if constexpr (!detail::fits_register<V>)
    return join(div(low_half(a), low_half(b)), div(high_half(a), high_half(b)));
  else
    return detail::vector_div(a, b);
}
template <float_vector V> ISOBIT_VECTOR V fma(V const& a, V const& b, V const& c) {
  if constexpr (!detail::fits_register<V>)
    return join(fma(low_half(a), low_half(b), low_half(c)), fma(high_half(a), high_half(b), high_half(c)));
  else
    return detail::vector_fma(a, b, c);
}
template <float_vector V> ISOBIT_VECTOR V sqrt(V const& a) {
  if constexpr (!detail::fits_register<V>)
    return join(sqrt(low_half(a)), sqrt(high_half(a)));
  else
    return detail::vector_sqrt(a);
}

//! Element by element as the scalar functions of the same names: on bits, -0 < +0, a NaN gives the canonical NaN.
template <float_vector V> ISOBIT_VECTOR V min(V const& a, V const& b) {
  auto const lower = detail::ordered_elements(a) < detail::ordered_elements(b);
  return detail::nan_if<V>(detail::nan_mask(a) | detail::nan_mask(b), detail::select<V>(lower, a, b));
}
template <float_vector V> ISOBIT_VECTOR V max(V const& a, V const& b) {
  auto const lower = detail::ordered_elements(a) < detail::ordered_elements(b);
  return detail::nan_if<V>(detail::nan_mask(a) | detail::nan_mask(b), detail::select<V>(lower, b, a));
}
//! The sign bits cleared.
template <float_vector V> ISOBIT_VECTOR V abs(V const& a) {
  using i = ordered_int<element_of<V>>;
  return detail::floats<V>(detail::ints(a) & static_cast<i>(~float_fields<element_of<V>>::sign));
}
//! The sign bits flipped.
template <float_vector V> ISOBIT_VECTOR V neg(V const& a) {
  using i = ordered_int<element_of<V>>;
  return detail::floats<V>(detail::ints(a) ^ static_cast<i>(float_fields<element_of<V>>::sign));
}
//! Every NaN replaced by the canonical NaN.
template <float_vector V> ISOBIT_VECTOR V canonical(V const& a) { return detail::nan_if<V>(detail::nan_mask(a), a); }

#pragma GCC diagnostic pop
#undef ISOBIT_VECTOR

} // namespace isobit::inline bits1
#endif
