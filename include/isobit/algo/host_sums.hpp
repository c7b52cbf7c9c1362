// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The inner loop of the tree on a CPU: an array of leaves or nodes becomes the array of the nodes some levels up. On
//! vectors of 16 bytes on every processor, of 32 bytes where the processor has AVX2 (asked at run time, unless the
//! compiler was told so). The bits are the same: the vectors decide only which nodes are computed together.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/arith/vector.hpp>
#include <isobit/format/small_float.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

// ---- Arrays of leaves and of nodes; one array for each member of the state. ----

template <class T> struct leaf_array {
  static constexpr bool is_leaf = true, is_product = false, has_scaled = false;
  T const* sum;
};
// The leaves are products x[i] * y[i]: rounded, or for double_float with the rounding error as the second word.
template <class T> struct product_array {
  static constexpr bool is_leaf = false, is_product = true, has_scaled = false;
  T const *x, *y;
};
template <class A, uint64_t Count> struct node_array;
template <class T, uint64_t Count> struct node_array<plain<T>, Count> {
  static constexpr bool is_leaf = false, is_product = false;
  T sum[Count];
  uint64_t count = 0; // how many there are
  T get(uint64_t i) const { return sum[i]; }
  void push(T s) { sum[count++] = s; }
};
template <class T, uint64_t Count> struct node_array<compensated<T>, Count> {
  static constexpr bool is_leaf = false, is_product = false;
  T sum[Count], error[Count];
  uint64_t count = 0;
  compensated_state<T> get(uint64_t i) const { return {sum[i], error[i]}; }
  void push(compensated_state<T> s) { sum[count] = s.sum, error[count++] = s.error; }
};

template <class T, uint64_t Count> struct node_array<double_float<T>, Count> {
  static constexpr bool is_leaf = false, is_product = false;
  T sum[Count], error[Count]; // the two words
  uint64_t count = 0;
  bool has_scaled = false; // a node is kept scaled (`double_word`): vectors cannot read these
  double_word<T> get(uint64_t i) const { return {sum[i], error[i]}; }
  void push(double_word<T> s) {
    has_scaled |= is_scaled(s);
    sum[count] = s.high, error[count++] = s.low;
  }
};

template <class A> inline constexpr bool is_double_float = false;
template <class T> inline constexpr bool is_double_float<double_float<T>> = true;
template <class A> inline constexpr bool is_compensated = false;
template <class T> inline constexpr bool is_compensated<compensated<T>> = true;
template <class A> inline constexpr bool has_error = is_compensated<A> || is_double_float<A>;

// ---- The instruction sets. ----
//
// `Careful`: compensated<T> drops an error term that is infinite or NaN, where it arises. Without Careful the error
// terms are taken for finite; one that is not stays so in all nodes above it, so that a look at the results is enough
// to know, and the call is repeated with Careful.
// `marks`: double_float<T> scales large sums. The vectors do not; they mark where one was, and the nodes are made again
// element by element.

#define ISOBIT_ISA isa_base
#define ISOBIT_ISA_BYTES 16
#define ISOBIT_ISA_TARGET
#include <isobit/algo/host_sums.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_BYTES
#undef ISOBIT_ISA_TARGET

#if defined(__x86_64__)
#define ISOBIT_HAS_ISA_AVX2 1
#define ISOBIT_ISA isa_avx2
#define ISOBIT_ISA_BYTES 32
#define ISOBIT_ISA_TARGET gnu::target("avx2,fma")
#include <isobit/algo/host_sums.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_BYTES
#undef ISOBIT_ISA_TARGET

inline bool has_avx2() {
#if defined(__AVX2__) && defined(__FMA__)
  return true;
#else
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#endif
}
#endif

} // namespace isobit::inline bits1::detail
#endif
