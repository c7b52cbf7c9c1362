// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Where the units of a digest come from, and how the members of a group of threads share them.
#pragma once

#include <isobit/algo/digest_sum.hpp>
#include <isobit/algo/load.hpp>

namespace isobit::inline bits1::detail {

// The unit at `p`, by reads of sizeof(Word) bytes: `p` is aligned to them on a device, anyhow on a host.
template <class Word> ISOBIT_HD words2 read_unit(unsigned char const* p) {
#if defined(ISOBIT_ON_DEVICE)
  if constexpr (sizeof(Word) == 16) {
    return __builtin_bit_cast(words2, read16(p));
  } else {
    constexpr int per_half = 8 / static_cast<int>(sizeof(Word));
    uint64_t half[2] = {0, 0};
    ISOBIT_UNROLL
    for (int i = 0; i < 2 * per_half; ++i)
      half[i / per_half] |= static_cast<uint64_t>(reinterpret_cast<Word const*>(p)[i])
                            << (8 * sizeof(Word) * (i % per_half)) % 64;
    return {half[0], half[1]};
  }
#else
  words2 r;
  __builtin_memcpy(&r, p, 16);
  return r;
#endif
}

// The last `bytes` (1 to 15) bytes at `p`, padded with zeros.
ISOBIT_HD constexpr words2 read_tail(unsigned char const* p, uint64_t bytes) {
  words2 r{0, 0};
  for (uint64_t i = 0; i < bytes; ++i) {
    uint64_t const byte = static_cast<uint64_t>(p[i]) << (8 * (i % 8));
    if (i < 8)
      r.low |= byte;
    else
      r.high |= byte;
  }
  return r;
}

// ---- Sources: units [first, last), numbered as in the tensor; `get(unit)` is one of them. ----

// The whole units of memory: `data` begins with unit `first`.
template <class Word> struct memory_units {
  unsigned char const* data;
  uint64_t first, last;
  ISOBIT_HD words2 get(uint64_t unit) const { return read_unit<Word>(data + 16 * (unit - first)); }
};

// Blocks worker, worker + workers, ... of a source. A worker is a team of 32 threads: lane l takes the places l, l +
// 32, ... of each block and keeps their keys in registers.
template <class Sum, class Source>
ISOBIT_HD Sum team_sum(Source const& source, uint64_t lane, uint64_t worker, uint64_t workers) {
  constexpr int places = static_cast<int>(block_units) / 32;
  using place_type = typename keys_of<Sum>::place_type;
  place_type keys[places];
#if defined(ISOBIT_ON_DEVICE)
  // Through memory once: ptxas would compute the keys anew in each turn of the loop rather than keep them.
  constexpr int words = sizeof(place_type) / 8;
  struct key_words {
    uint64_t word[words];
  };
  uint64_t volatile kept[words * places];
  ISOBIT_UNROLL
  for (int j = 0; j < places; ++j) {
    auto const k = __builtin_bit_cast(key_words, keys_of<Sum>::place(lane + static_cast<uint64_t>(j) * 32));
    ISOBIT_UNROLL
    for (int w = 0; w < words; ++w) kept[words * j + w] = k.word[w];
  }
  ISOBIT_UNROLL
  for (int j = 0; j < places; ++j) {
    key_words k;
    ISOBIT_UNROLL
    for (int w = 0; w < words; ++w) k.word[w] = kept[words * j + w];
    keys[j] = __builtin_bit_cast(place_type, k);
  }
#else
  for (int j = 0; j < places; ++j) keys[j] = keys_of<Sum>::place(lane + static_cast<uint64_t>(j) * 32);
#endif
  Sum sum;
  for (uint64_t block = source.first / block_units + worker; block * block_units < source.last; block += workers) {
    uint64_t const begin = block * block_units + lane;
    Sum products;
    words2 unit[places];
    if (block * block_units >= source.first && (block + 1) * block_units <= source.last) {
      ISOBIT_UNROLL
      for (int j = 0; j < places; ++j) unit[j] = source.get(begin + static_cast<uint64_t>(j) * 32);
      ISOBIT_UNROLL
      for (int j = 0; j < places; ++j) products += unit_product(unit[j], keys[j]);
    } else {
      ISOBIT_UNROLL
      for (int j = 0; j < places; ++j) {
        uint64_t const u = begin + static_cast<uint64_t>(j) * 32;
        if (u >= source.first && u < source.last) products += unit_product(source.get(u), keys[j]);
      }
    }
    sum += scaled(products, keys_of<Sum>::block(block));
  }
  return sum;
}

// The same by one thread alone.
template <class Sum, class Source> ISOBIT_HD Sum lone_sum(Source const& source, uint64_t worker, uint64_t workers) {
  Sum sum;
  for (uint64_t block = source.first / block_units + worker; block * block_units < source.last; block += workers) {
    uint64_t const begin = block * block_units, end = begin + block_units;
    uint64_t const stop = end < source.last ? end : source.last;
    Sum products;
    for (uint64_t u = begin > source.first ? begin : source.first; u < stop; ++u)
      products += unit_product(source.get(u), keys_of<Sum>::place(u % block_units));
    sum += scaled(products, keys_of<Sum>::block(block));
  }
  return sum;
}

// One member's share of a source.
template <class Sum, class Source>
ISOBIT_HD Sum share_of_units(Source const& source, uint64_t rank, uint64_t members) {
  // Threads beyond the last whole team have nothing to do.
  if (members >= 32)
    return rank / 32 < members / 32 ? team_sum<Sum>(source, rank % 32, rank / 32, members / 32) : Sum{};
  return lone_sum<Sum>(source, rank, members);
}

} // namespace isobit::inline bits1::detail
