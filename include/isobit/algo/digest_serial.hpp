// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Sums by one thread of a CPU: 64-bit products everywhere, four of them at once in 32-bit halves where the processor
//! has AVX2 (asked at run time, unless the compiler was told so). The same bits.
#pragma once

#include <isobit/algo/digest_units.hpp>
#include <isobit/arith/vector.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

// The keys of all places of a block, as the units lie in memory; one table for each sum of a form.
struct place_key_table {
  words2 keys[block_units];
  constexpr explicit place_key_table(uint64_t start) : keys() {
    for (uint64_t p = 0; p < block_units; ++p) keys[p] = place_keys(p, start);
  }
};
inline constexpr place_key_table place_table{pi_fraction}, second_place_table{root2_fraction};

// The products of `units` neighbouring units, not multiplied by the key of their block yet.
inline digest_sum products_of(unsigned char const* unit, uint64_t units, words2 const* key) {
  digest_sum even, odd;
  auto const at = [&](uint64_t j) {
    words2 w;
    __builtin_memcpy(&w, unit + 16 * j, 16);
    return unit_product(w, key[j]);
  };
  uint64_t u = 0;
  for (; units - u >= 4; u += 4) {
    even += at(u), odd += at(u + 1);
    even += at(u + 2), odd += at(u + 3);
  }
  for (; u < units; ++u) even += at(u);
  return even + odd;
}

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
// The products of a whole block. A product of 64-bit words is four products of their halves:
//   a * b = ll + 2^32 (hl + lh) + 2^64 hh = (ll mod 2^32) + 2^32 (t + lh) + 2^64 hh   with t = hl + (ll >> 32) < 2^64.
// The sum of t and lh over the 32 units of a lane needs more than 64 bits: its value modulo 2^64 and the sum of the
// high halves are enough to know it.
[[gnu::target("avx2")]] inline digest_sum products_avx2(unsigned char const* unit, words2 const* key) {
  using words = vec<uint64_t, 4>;
  words low{}, middle{}, carries{}, high{};
  words const low_half = words{} + 0xffffffffu;
#if !defined(__CUDACC__) // nvcc does not know this pragma
#pragma GCC unroll 2
#endif
  for (uint64_t u = 0; u < block_units; u += 4) {
    words w0, w1, k0, k1, ll, hl, lh, hh;
    __builtin_memcpy(&w0, unit + 16 * u, 32);
    __builtin_memcpy(&w1, unit + 16 * u + 32, 32);
    __builtin_memcpy(&k0, key + u, 32);
    __builtin_memcpy(&k1, key + u + 2, 32);
    __builtin_prefetch(unit + 16 * u + 384);
    w0 += k0;
    w1 += k1;
    words const a = __builtin_shufflevector(w0, w1, 0, 4, 2, 6), b = __builtin_shufflevector(w0, w1, 1, 5, 3, 7);
    words const ah = a >> 32, bh = b >> 32;
    asm("vpmuludq {%2, %1, %0|%0, %1, %2}" : "=x"(ll) : "%x"(a), "x"(b));
    asm("vpmuludq {%2, %1, %0|%0, %1, %2}" : "=x"(hl) : "%x"(ah), "x"(b));
    asm("vpmuludq {%2, %1, %0|%0, %1, %2}" : "=x"(lh) : "%x"(a), "x"(bh));
    asm("vpmuludq {%2, %1, %0|%0, %1, %2}" : "=x"(hh) : "%x"(ah), "x"(bh));
    words const t = hl + (ll >> 32);
    low += ll & low_half;
    middle += t;
    middle += lh;
    carries += t >> 32;
    carries += lh >> 32;
    high += hh;
  }
  words const rest = middle - (carries << 32), above = high + carries; // rest: t + lh, low halves: below 2^38
  auto const total = [](words const& v) __attribute__((always_inline)) { return v[0] + v[1] + v[2] + v[3]; };
  uint64_t const middle_total = total(rest);
  return digest_sum{total(low), total(above)} + digest_sum{middle_total << 32, middle_total >> 32};
}
#pragma GCC diagnostic pop

inline bool cpu_has_avx2() {
#if defined(__AVX2__)
  return true;
#else
  return __builtin_cpu_supports("avx2") != 0;
#endif
}
#endif

struct block_products {
  bool wide = false; // four products at once
  block_products() {
#if defined(__x86_64__)
    wide = cpu_has_avx2();
#endif
  }
  explicit block_products(bool w) : wide(w) {}

  digest_sum operator()(unsigned char const* unit, uint64_t units, words2 const* key) const {
#if defined(__x86_64__)
    if (wide && units == block_units) return products_avx2(unit, key);
#endif
    return products_of(unit, units, key);
  }
};

// All units of a range of memory.
template <class Sum>
Sum serial_sum(memory_units<word16> const& range, block_products const& products = block_products()) {
  Sum sum;
  for (uint64_t u = range.first; u < range.last;) {
    uint64_t const block = u / block_units, place = u % block_units, end = (block + 1) * block_units;
    uint64_t const stop = end < range.last ? end : range.last;
    unsigned char const* const unit = range.data + 16 * (u - range.first);
    digest_sum const p = products(unit, stop - u, place_table.keys + place);
    if constexpr (stl::same_as<Sum, digest_sum>)
      sum += scaled(p, block_key(block));
    else
      sum += scaled(Sum{p, products(unit, stop - u, second_place_table.keys + place)}, keys_of<Sum>::block(block));
    u = stop;
  }
  return sum;
}

// All units of any other source, by way of a buffer.
template <class Sum, class Source> Sum serial_sum(Source const& source) {
  words2 buffer[block_units];
  Sum sum;
  for (uint64_t u = source.first; u < source.last;) {
    uint64_t const end = (u / block_units + 1) * block_units, stop = end < source.last ? end : source.last;
    for (uint64_t i = u; i < stop; ++i) buffer[i - u] = source.get(i);
    sum += serial_sum<Sum>(memory_units<word16>{reinterpret_cast<unsigned char const*>(buffer), u, stop});
    u = stop;
  }
  return sum;
}

} // namespace isobit::inline bits1::detail
#endif
