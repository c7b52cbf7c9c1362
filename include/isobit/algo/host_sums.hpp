// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The inner loop of the tree on a CPU: an array of leaves or nodes, replaced by the nodes some levels up. Vectors of
//! 16 bytes on every processor, of 32 bytes where the processor has AVX2 (asked at run time, unless the compiler was
//! told). Bytes in, additions and bytes out are the same.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/arith/vector.hpp>

#if !defined(__CUDACC_RTC__)

// AVX2 code in a translation unit for any x86-64: g++ and clang compile a function for the processor it names.
#if defined(__x86_64__) && !defined(ISOBIT_ON_DEVICE)
#define ISOBIT_HAS_AVX2_CODE 1
#define ISOBIT_AVX2 [[gnu::target("avx2")]]
#define ISOBIT_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline
#endif

namespace isobit::inline bits1::detail {

// Memory is read ahead by this much; for the first pass only, the later ones stay in the cache.
inline constexpr uint64_t prefetch_bytes = 384;
template <bool Ahead, class T> [[gnu::always_inline]] inline void prefetch_group(T const* group) {
  if constexpr (Ahead) {
    ISOBIT_UNROLL
    for (int line = 0; line < 256; line += 64)
      __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<stl::uintptr_t>(group) + prefetch_bytes + line));
  }
}

// A set of vector instructions `Isa` gives, for the state type `T` of plain<T>:
//   level:  out[k] is node(level, k) over `in`
//   group:  elements of `in` that one step takes, 256 bytes: what hardware prefetchers follow best
//   sums(in, out, groups): out[0 .. groups * group / 2^level)

// Vectors of 16 bytes: 16 of them become one. Two shuffles and an addition for each vector read.
struct isa_base {
  template <class T> static constexpr int level = 4;
  template <class T> static constexpr uint64_t group = 256 / sizeof(T);
  template <class T> using vector = vec<T, 16 / sizeof(T)>;

  template <int Level, class T> [[gnu::always_inline]] static inline vector<T> node(T const* in) {
    if constexpr (Level == 0) {
      return load<vector<T>>(in);
    } else {
      auto const a = node<Level - 1>(in);
      auto const b = node<Level - 1>(in + (sizeof(a) / sizeof(T) << (Level - 1)));
      return add(deinterleave_even(a, b), deinterleave_odd(a, b));
    }
  }

  template <bool Ahead, ieee_float T> static void sums(T const* in, T* out, uint64_t groups) {
    for (; groups > 0; --groups, in += group<T>, out += group<T> >> level<T>) {
      prefetch_group<Ahead>(in);
      store(out, node<level<T>>(in));
    }
  }
};

#if defined(ISOBIT_HAS_AVX2_CODE)
// Vectors of 32 bytes. AVX2 shuffles within halves cheaply, so the nodes are put in order at the last level only.
struct isa_avx2 {
  static bool available() {
#if defined(__AVX2__)
    return true;
#else
    return __builtin_cpu_supports("avx2") != 0;
#endif
  }
  template <class T> static constexpr int level = sizeof(T) == 4 ? 3 : 2;
  template <class T> static constexpr uint64_t group = 256 / sizeof(T);
  template <class T> using vector = vec<T, 32 / sizeof(T)>;

  template <class V> ISOBIT_AVX2_INLINE static V sum(V a, V b) {
    asm("" : "+x"(a), "+x"(b));
    a = a + b;
    asm("" : "+x"(a));
    return a;
  }
  // One level; the nodes of the low half of `a`, then of `b`, in the low half of the result; the same for the high one.
  template <class V> ISOBIT_AVX2_INLINE static V join_halves(V const& a, V const& b) {
    if constexpr (width_of<V> == 8)
      return sum(__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14),
                 __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15));
    else
      return sum(__builtin_shufflevector(a, b, 0, 4, 2, 6), __builtin_shufflevector(a, b, 1, 5, 3, 7));
  }
  // One level between the halves of `a` and of `b`.
  template <class V> ISOBIT_AVX2_INLINE static V join_across(V const& a, V const& b) {
    if constexpr (width_of<V> == 8)
      return sum(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11),
                 __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15));
    else
      return sum(__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7));
  }
  template <class V, class T> ISOBIT_AVX2_INLINE static V read(T const* in) {
    V v;
    __builtin_memcpy(&v, in, sizeof v);
    return v;
  }
  // 4 floats or 2 doubles of each of 4 or 2 vectors.
  template <class V, class T> ISOBIT_AVX2_INLINE static V halves(T const* in) {
    constexpr int w = width_of<V>;
    V const ab = join_halves(read<V>(in), read<V>(in + w));
    if constexpr (w == 4)
      return ab;
    else
      return join_halves(ab, join_halves(read<V>(in + 2 * w), read<V>(in + 3 * w)));
  }

  template <bool Ahead, ieee_float T> ISOBIT_AVX2 static void sums(T const* in, T* out, uint64_t groups) {
    using v = vector<T>;
    constexpr int w = width_of<v>, step = w << level<T>, half = step / 2;
    for (; groups > 0; --groups) {
      prefetch_group<Ahead>(in);
      ISOBIT_UNROLL
      for (int k = 0; k < static_cast<int>(group<T>); k += step, in += step, out += w) {
        v const nodes = join_across(halves<v>(in), halves<v>(in + half));
        __builtin_memcpy(out, &nodes, sizeof nodes);
      }
    }
  }
};
#endif

} // namespace isobit::inline bits1::detail

#undef ISOBIT_AVX2
#undef ISOBIT_AVX2_INLINE
#endif
