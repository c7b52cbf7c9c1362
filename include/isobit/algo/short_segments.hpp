// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Short segments on a CPU: an unrolled tree for each length up to 16, and four or eight float segments of one length
//! side by side in the lanes of a vector register.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/algo/fold_host.hpp>
#include <isobit/arith/vector.hpp>

#if !defined(__CUDACC_RTC__) && !defined(ISOBIT_ON_DEVICE)

namespace isobit::inline bits1::detail {

// The tree over leaf(first) ... leaf(first + N - 1), unrolled: the full nodes of N's binary digits.
template <int N, class Leaf, class Acc>
typename Acc::state unrolled_tree(uint64_t first, Leaf const& leaf, Acc const& acc) {
  constexpr int level = highest_level(N), full = 1 << level;
  if constexpr (full == N) {
    return full_node<level>(first, leaf, acc);
  } else {
    auto const left = full_node<level>(first, leaf, acc);
    return acc.combine(left, unrolled_tree<N - full>(first + full, leaf, acc));
  }
}

// f<n>() for 1 <= n <= 16: one jump.
template <class F> [[gnu::always_inline]] inline decltype(auto) with_constant(uint64_t n, F const& f) {
  switch (n) {
#define ISOBIT_FEW(N)                                                                                                  \
  case N:                                                                                                              \
    return f.template operator()<N>();
    ISOBIT_FEW(1)
    ISOBIT_FEW(2)
    ISOBIT_FEW(3)
    ISOBIT_FEW(4)
    ISOBIT_FEW(5)
    ISOBIT_FEW(6)
    ISOBIT_FEW(7)
    ISOBIT_FEW(8)
    ISOBIT_FEW(9)
    ISOBIT_FEW(10)
    ISOBIT_FEW(11)
    ISOBIT_FEW(12)
    ISOBIT_FEW(13)
    ISOBIT_FEW(14)
    ISOBIT_FEW(15)
#undef ISOBIT_FEW
  default:
    return f.template operator()<16>();
  }
}

template <class Leaf, class Acc>
typename Acc::state tree_of_few(uint64_t first, uint64_t n, Leaf const& leaf, Acc const& acc) {
  return with_constant(n, [&]<int N>() { return unrolled_tree<N>(first, leaf, acc); });
}

// The tree over leaf(first) ... leaf(first + n - 1) for n < 64: nodes of 16, and what is left of the last one.
template <class Leaf, class Acc>
typename Acc::state tree_of_some(uint64_t first, uint64_t n, Leaf const& leaf, Acc const& acc) {
  if (n <= 16) return tree_of_few(first, n, leaf, acc);
  counter<typename Acc::state, 8> pending;
  uint64_t const end = first + n;
  for (; end - first >= 16; first += 16) pending.push(acc, full_node<4>(first, leaf, acc), 4);
  if (first < end) pending.push(acc, tree_of_few(first, end - first, leaf, acc), 4);
  return pending.fold(acc);
}

// Elements 4b .. 4b + 3 of four segments become column vectors 4b .. 4b + 3; `skip` of them are there already.
template <class V>
[[gnu::always_inline]] inline void load_columns(float const* const* row, int first, int skip, V* columns) {
  V const a = load<V>(row[0] + first), b = load<V>(row[1] + first), c = load<V>(row[2] + first),
          d = load<V>(row[3] + first);
  V const ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  V const cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  if (skip < 1) columns[first] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  if (skip < 2) columns[first + 1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  if (skip < 3) columns[first + 2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  columns[first + 3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// The tree over c[0] ... c[N - 1], element by element; recursive, because loops are not unrolled reliably.
template <int N, class V> [[gnu::always_inline]] inline V column_tree(V const* c) {
  if constexpr (N == 1) {
    return c[0];
  } else {
    constexpr int left = 1 << highest_level(N - 1);
    return add(column_tree<left>(c), column_tree<N - left>(c + left));
  }
}

// The sums of four segments of N floats, 4 <= N <= 16, each by the tree; NaNs canonical. Nothing else is read.
template <int N> [[gnu::always_inline]] inline vec<float, 4> four_sums(float const* const* row) {
  using V = vec<float, 4>;
  V column[N];
  ISOBIT_UNROLL
  for (int i = 0; i + 4 <= N; i += 4) load_columns(row, i, 0, column);
  if constexpr (N % 4 != 0) load_columns(row, N - 4, 4 - N % 4, column);
  using bits = vec<int32_t, 4>;
  auto const b = __builtin_bit_cast(bits, column_tree<N>(column));
  bits const magnitude = b & 0x7fffffff, nan = magnitude > 0x7f800000;
  return __builtin_bit_cast(V, bits((b & ~nan) | (nan & 0x7fc00000)));
}

#if defined(ISOBIT_HAS_ISA_AVX2)
// The same for eight segments; segment j + 4 lies above segment j in a register.
#define ISOBIT_EIGHT [[gnu::always_inline, gnu::target("avx2")]] inline
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
using eight_floats = vec<float, 8>;

ISOBIT_EIGHT eight_floats add_eight(eight_floats const& a, eight_floats const& b) {
  eight_floats r;
  asm("vaddps {%2, %1, %0|%0, %1, %2}" : "=x"(r) : "%x"(a), "x"(b));
  return r;
}
template <int N> ISOBIT_EIGHT eight_floats column_tree_of_eight(eight_floats const* c) {
  if constexpr (N == 1) {
    return c[0];
  } else {
    constexpr int left = 1 << highest_level(N - 1);
    return add_eight(column_tree_of_eight<left>(c), column_tree_of_eight<N - left>(c + left));
  }
}
ISOBIT_EIGHT eight_floats load_two(float const* low, float const* high) {
  return __builtin_shufflevector(load<vec<float, 4>>(low), load<vec<float, 4>>(high), 0, 1, 2, 3, 4, 5, 6, 7);
}
ISOBIT_EIGHT void load_eight_columns(float const* const* row, int first, int skip, eight_floats* columns) {
  auto const a = load_two(row[0] + first, row[4] + first), b = load_two(row[1] + first, row[5] + first);
  auto const c = load_two(row[2] + first, row[6] + first), d = load_two(row[3] + first, row[7] + first);
  auto const ab_low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  auto const ab_high = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  auto const cd_low = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  auto const cd_high = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  if (skip < 1) columns[first] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 8, 9, 4, 5, 12, 13);
  if (skip < 2) columns[first + 1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 10, 11, 6, 7, 14, 15);
  if (skip < 3) columns[first + 2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 8, 9, 4, 5, 12, 13);
  columns[first + 3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 10, 11, 6, 7, 14, 15);
}
template <int N> [[gnu::target("avx2")]] void eight_sums(float const* const* row, float* out) {
  eight_floats column[N];
  ISOBIT_UNROLL
  for (int i = 0; i + 4 <= N; i += 4) load_eight_columns(row, i, 0, column);
  if constexpr (N % 4 != 0) load_eight_columns(row, N - 4, 4 - N % 4, column);
  using bits = vec<int32_t, 8>;
  auto const b = __builtin_bit_cast(bits, column_tree_of_eight<N>(column));
  bits const magnitude = b & 0x7fffffff, nan = magnitude > 0x7f800000, result = (b & ~nan) | (nan & 0x7fc00000);
  __builtin_memcpy(out, &result, sizeof result);
}
#pragma GCC diagnostic pop
#undef ISOBIT_EIGHT
#endif

// The K segments from s on have `n` elements each.
template <uint64_t K, class Layout> bool alike(Layout const& layout, uint64_t s, uint64_t n) {
  uint64_t different = 0;
  ISOBIT_UNROLL
  for (uint64_t j = 0; j < K; ++j) different |= layout.length(s + j) ^ n;
  return different == 0;
}

// Sums segments s, s + 1, ... below `end` in groups of one length from 4 to 16; returns the first that is left.
template <class Layout> uint64_t sum_alike(uint64_t s, uint64_t end, Layout const& layout, float const* x, float* out) {
  while (end - s >= 4) {
    uint64_t const n = layout.length(s);
    if (n < 4 || n > 16 || !alike<4>(layout, s, n)) break;
    s = with_constant(n, [=]<int N>() {
      uint64_t at = s;
      if constexpr (N >= 4) {
        float const* row[8];
#if defined(ISOBIT_HAS_ISA_AVX2)
        if (has_avx2())
          for (; end - at >= 8 && alike<8>(layout, at, N); at += 8) {
            ISOBIT_UNROLL
            for (uint64_t j = 0; j < 8; ++j) row[j] = x + layout.first(at + j);
            auto const ahead = reinterpret_cast<stl::uintptr_t>(row[0]) + 4096; // a prefetch touches nothing
            ISOBIT_UNROLL
            for (uint64_t line = 0; line < N * 8 * sizeof(float); line += 64)
              __builtin_prefetch(reinterpret_cast<void const*>(ahead + line));
            eight_sums<N>(row, out + at);
          }
#endif
        for (; end - at >= 4 && alike<4>(layout, at, N); at += 4) {
          ISOBIT_UNROLL
          for (uint64_t j = 0; j < 4; ++j) row[j] = x + layout.first(at + j);
          store(out + at, four_sums<N>(row));
        }
      }
      return at;
    });
  }
  return s;
}

} // namespace isobit::inline bits1::detail
#endif
