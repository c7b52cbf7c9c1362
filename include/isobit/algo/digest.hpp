// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The digest: a sum over 16-byte units, each the product of the unit's two words, after each was added to a key of its
//! place within its block, times a key of the block. docs/fingerprint.md defines it to the last constant. Integers only.
//!
//! Sums of disjoint ranges add to the sum of the whole, in any order: threads, blocks, chunks, launches and ranks may
//! share the work in any way. `finish` folds in what the tensor is (type and shape) and gives 64 bits.
#pragma once

#include <isobit/algo/dtype.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/group/block.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/group/tile.hpp>

#if !defined(__CUDACC_RTC__)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "isobit: digests are defined for little-endian machines");
#endif

namespace isobit::inline bits1 {

namespace detail {

struct words2 {
  uint64_t low, high;
};

// All 128 bits of a * b.
ISOBIT_HD constexpr words2 product(uint64_t a, uint64_t b) {
#if !defined(ISOBIT_ON_DEVICE) && defined(__SIZEOF_INT128__)
  __extension__ using wide = unsigned __int128;
  wide const p = static_cast<wide>(a) * b;
  return {static_cast<uint64_t>(p), static_cast<uint64_t>(p >> 64)};
#endif
  uint64_t const a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t const p00 = a0 * b0;
  uint64_t const p01 = a0 * b1 + (p00 >> 32);
  uint64_t const p10 = a1 * b0 + (p01 & 0xffffffffu);
  return {p10 << 32 | (p00 & 0xffffffffu), a1 * b1 + (p01 >> 32) + (p10 >> 32)};
}

// The finaliser of splitmix64 (Stafford's variant 13 of MurmurHash3's): a bijection of 64-bit words.
ISOBIT_HD constexpr uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline constexpr uint64_t golden_gamma = 0x9e3779b97f4a7c15u; // 2^64 / golden ratio
inline constexpr uint64_t pi_fraction = 0x243f6a8885a308d3u;  // the first 64 bits after the point
inline constexpr uint64_t e_fraction = 0xb7e151628aed2a6au;

// Key `i` of the stream that starts at `start`: a mixed counter. Shifts by 32 are free on a GPU (Degski's mixer).
ISOBIT_HD constexpr uint64_t stream_key(uint64_t start, uint64_t i) {
  uint64_t x = start + i * golden_gamma;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

// Units of a block: 2 KiB.
inline constexpr uint64_t block_units = 128;

// What the two words of the unit with this place (0 to block_units - 1) in its block are added to.
ISOBIT_HD constexpr words2 place_keys(uint64_t place) {
  return {stream_key(pi_fraction, 2 * place), stream_key(pi_fraction, 2 * place + 1)};
}
// What all units of a block are multiplied by.
ISOBIT_HD constexpr uint64_t block_key(uint64_t block) { return stream_key(e_fraction, block) | 1; }

} // namespace detail

//! The sum over some units, modulo 2^128. Two sums over disjoint units add to the sum over both.
struct digest_sum {
  uint64_t low = 0, high = 0;

  ISOBIT_HD constexpr digest_sum& operator+=(digest_sum other) {
#if !defined(ISOBIT_ON_DEVICE) && defined(__SIZEOF_INT128__)
    __extension__ using wide = unsigned __int128; // compilers see the carry
    wide const s = (static_cast<wide>(high) << 64 | low) + (static_cast<wide>(other.high) << 64 | other.low);
    low = static_cast<uint64_t>(s);
    high = static_cast<uint64_t>(s >> 64);
    return *this;
#else
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
#endif
  }
  //! Takes back what was added: `whole -= old_chunk; whole += new_chunk` updates a sum.
  ISOBIT_HD constexpr digest_sum& operator-=(digest_sum other) {
    high -= other.high + (low < other.low ? 1 : 0);
    low -= other.low;
    return *this;
  }
  ISOBIT_HD friend constexpr digest_sum operator+(digest_sum a, digest_sum b) { return a += b; }
  ISOBIT_HD friend constexpr digest_sum operator-(digest_sum a, digest_sum b) { return a -= b; }
  ISOBIT_HD friend constexpr bool operator==(digest_sum a, digest_sum b) { return a.low == b.low && a.high == b.high; }
};

namespace detail {
// One unit, before its block's key.
ISOBIT_HD constexpr digest_sum unit_product(words2 unit, words2 keys) {
  auto const p = product(unit.low + keys.low, unit.high + keys.high);
  return {p.low, p.high};
}
// s * key modulo 2^128.
ISOBIT_HD constexpr digest_sum scaled(digest_sum s, uint64_t key) {
  auto const p = product(s.low, key);
  return {p.low, p.high + s.high * key};
}
} // namespace detail

//! Adds units to a sum, wherever they lie: what a kernel calls for the values that it reads or writes.
//! Cost: about 65 integer instructions for 16 bytes on a GPU, and about 25 less where a thread's units always have the
//! same place, because it strides by a multiple of 128 units: `keys` once, then `add` with them.
class digest_accumulator {
public:
  //! Bytes of a unit.
  static constexpr uint64_t unit_bytes = 16;
  //! Two key words; the same for units whose numbers are equal modulo 128.
  using keys_type = detail::words2;
  ISOBIT_HD static constexpr keys_type keys(uint64_t unit) { return detail::place_keys(unit % detail::block_units); }

  //! The unit with the little-endian words `a` (bytes 0 to 7) and `b` (bytes 8 to 15). `unit` is its absolute number in
  //! the tensor: byte offset / 16.
  ISOBIT_HD constexpr void add(uint64_t a, uint64_t b, uint64_t unit) { add(a, b, unit, keys(unit)); }
  ISOBIT_HD constexpr void add(uint64_t a, uint64_t b, uint64_t unit, keys_type keys) {
    sum_ += detail::scaled(detail::unit_product({a, b}, keys), detail::block_key(unit / detail::block_units));
  }

  //! A whole unit of elements that lie in registers: `x[0 .. 16 / sizeof(T))`.
  template <class T> ISOBIT_HD void add(T const (&x)[16 / sizeof(T)], uint64_t unit) {
    static_assert(__is_trivially_copyable(T) && sizeof(x) == 16, "isobit: a unit of a digest is 16 bytes");
    detail::words2 w;
    __builtin_memcpy(&w, &x, 16);
    add(w.low, w.high, unit);
  }

  ISOBIT_HD constexpr digest_sum sum() const { return sum_; }

private:
  digest_sum sum_;
};

//! What a tensor is: folded into its digest, so that equal bytes of another type or shape have another digest.
struct tensor_shape {
  dtype type = dtype::bytes;
  uint64_t const* extents = nullptr; //!< `rank` of them, outermost first
  uint32_t rank = 0;
};

//! The 64-bit digest of a tensor with this sum.
ISOBIT_HD constexpr uint64_t finish_digest(digest_sum sum, tensor_shape shape) {
  uint64_t h = detail::pi_fraction;
  auto const absorb = [&h](uint64_t word) { h = detail::mix64((h ^ word) + detail::golden_gamma); };
  absorb(sum.low);
  absorb(sum.high);
  absorb(static_cast<uint64_t>(shape.type));
  absorb(shape.rank);
  for (uint32_t i = 0; i < shape.rank; ++i) absorb(shape.extents[i]);
  return h;
}

//! The 64-bit digest of `bytes` bytes of untyped memory with this sum.
ISOBIT_HD constexpr uint64_t finish_digest(digest_sum sum, uint64_t bytes) {
  return finish_digest(sum, {dtype::bytes, &bytes, 1});
}

//! How many chunks of `chunk_bytes` (a multiple of 16, at least 16) cover `bytes`; the last may be shorter.
ISOBIT_HD constexpr uint64_t digest_chunks(uint64_t bytes, uint64_t chunk_bytes) {
  return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

namespace detail {

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

// The units of a range, numbered as in the tensor: `data` begins with unit `first`.
struct unit_range {
  unsigned char const* data;
  uint64_t first, last;
  template <class Word> ISOBIT_HD words2 get(uint64_t unit) const {
    return read_unit<Word>(data + 16 * (unit - first));
  }
};

// Blocks worker, worker + workers, ... of a range. A worker is a team of `Lanes` threads: lane l takes the places l,
// l + Lanes, ... of each block. Teams of 32 keep the keys of their places in registers.
template <class Word, int Lanes>
ISOBIT_HD digest_sum team_sum(unit_range const& range, uint64_t lane, uint64_t worker, uint64_t workers) {
  constexpr int places = static_cast<int>(block_units) / Lanes;
  constexpr bool keep = Lanes == 32;
  words2 keys[keep ? places : 1];
  if constexpr (keep) {
#if defined(ISOBIT_ON_DEVICE)
    // Through memory once: ptxas would compute the keys anew in each turn of the loop rather than keep them.
    uint64_t volatile kept[2 * places];
    ISOBIT_UNROLL
    for (int j = 0; j < places; ++j) {
      words2 const k = place_keys(lane + static_cast<uint64_t>(j) * Lanes);
      kept[2 * j] = k.low;
      kept[2 * j + 1] = k.high;
    }
    ISOBIT_UNROLL
    for (int j = 0; j < places; ++j) keys[j] = {kept[2 * j], kept[2 * j + 1]};
#else
    for (int j = 0; j < places; ++j) keys[j] = place_keys(lane + static_cast<uint64_t>(j) * Lanes);
#endif
  }
  digest_sum sum;
  for (uint64_t block = range.first / block_units + worker; block * block_units < range.last; block += workers) {
    uint64_t const begin = block * block_units + lane;
    digest_sum products;
    if constexpr (keep) {
      words2 unit[places];
      if (block * block_units >= range.first && (block + 1) * block_units <= range.last) {
        ISOBIT_UNROLL
        for (int j = 0; j < places; ++j) unit[j] = range.get<Word>(begin + static_cast<uint64_t>(j) * Lanes);
        ISOBIT_UNROLL
        for (int j = 0; j < places; ++j) products += unit_product(unit[j], keys[j]);
      } else {
        ISOBIT_UNROLL
        for (int j = 0; j < places; ++j) {
          uint64_t const u = begin + static_cast<uint64_t>(j) * Lanes;
          if (u >= range.first && u < range.last) products += unit_product(range.get<Word>(u), keys[j]);
        }
      }
    } else {
      static_assert(Lanes == 1);
      uint64_t const end = begin + block_units < range.last ? begin + block_units : range.last;
      for (uint64_t u = begin > range.first ? begin : range.first; u < end; ++u)
        products += unit_product(range.get<Word>(u), place_keys(u % block_units));
    }
    sum += scaled(products, block_key(block));
  }
  return sum;
}

#if !defined(ISOBIT_ON_DEVICE)
struct place_key_table {
  words2 keys[block_units];
  constexpr place_key_table() : keys() {
    for (uint64_t p = 0; p < block_units; ++p) keys[p] = place_keys(p);
  }
};
inline constexpr place_key_table place_table;

// The whole range by one thread of a CPU.
inline digest_sum serial_sum(unit_range const& range) {
  digest_sum sum;
  for (uint64_t u = range.first; u < range.last;) {
    uint64_t const block = u / block_units, end = (block + 1) * block_units;
    uint64_t const stop = end < range.last ? end : range.last;
    digest_sum products;
    words2 const* key = place_table.keys + u % block_units;
    unsigned char const* unit = range.data + 16 * (u - range.first);
    constexpr int batch = 8;
    for (; stop - u >= batch; u += batch, key += batch, unit += 16 * batch) {
      ISOBIT_UNROLL
      for (int j = 0; j < batch; ++j) products += unit_product(read_unit<word16>(unit + 16 * j), key[j]);
    }
    for (; u < stop; ++u, ++key, unit += 16) products += unit_product(read_unit<word16>(unit), *key);
    sum += scaled(products, block_key(block));
  }
  return sum;
}
#endif

template <class Word> ISOBIT_HD digest_sum member_sum(unit_range const& range, uint64_t rank, uint64_t members) {
  // Threads beyond the last whole team have nothing to do.
  if (members >= 32)
    return rank / 32 < members / 32 ? team_sum<Word, 32>(range, rank % 32, rank / 32, members / 32) : digest_sum{};
  return team_sum<Word, 1>(range, 0, rank, members);
}

// One member's share of `bytes` bytes that begin with unit `first_unit`; the tail goes to member 0.
ISOBIT_HD inline digest_sum share_of_sum(void const* memory, uint64_t bytes, uint64_t first_unit, uint64_t rank,
                                         uint64_t members) {
  unit_range const range{static_cast<unsigned char const*>(memory), first_unit, first_unit + bytes / 16};
  digest_sum sum;
#if defined(ISOBIT_ON_DEVICE)
  auto const alignment = reinterpret_cast<stl::uintptr_t>(memory) % 16;
  if (alignment == 0)
    sum = member_sum<word16>(range, rank, members);
  else if (alignment % 4 == 0)
    sum = member_sum<uint32_t>(range, rank, members);
  else
    sum = member_sum<uint8_t>(range, rank, members);
#else
  sum = members == 1 ? serial_sum(range) : member_sum<word16>(range, rank, members);
#endif
  if (rank == 0 && bytes % 16 != 0) {
    words2 const w = read_tail(range.data + bytes / 16 * 16, bytes % 16);
    digest_accumulator tail;
    tail.add(w.low, w.high, range.last);
    sum += tail.sum();
  }
  return sum;
}

// The total over the `lanes` first lanes of a warp, in lane 0.
ISOBIT_HD inline digest_sum sum_lanes(digest_sum s, uint32_t lane, uint32_t lanes) {
  uint32_t const mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  ISOBIT_UNROLL
  for (uint32_t distance = 16; distance >= 1; distance /= 2) {
    bool const has_partner = lane + distance < lanes;
    digest_sum const other = machine::shuffle(mask, s, has_partner ? lane + distance : lane);
    if (has_partner && lane < distance) s += other;
  }
  return s;
}

} // namespace detail

//! The total of every member's sum; every member receives it.
ISOBIT_HD inline digest_sum sum_over(thread, digest_sum mine) { return mine; }

template <int P> ISOBIT_HD digest_sum sum_over(tile<P> const& t, digest_sum mine) {
  ISOBIT_UNROLL
  for (uint32_t distance = 1; distance < P; distance *= 2) mine += t.shuffle_xor(mine, distance);
  return mine;
}

//! The same for a block of any width (storage: `block<N>::storage<digest_sum>`). Two barriers.
template <int N> ISOBIT_HD digest_sum sum_over(block<N, digest_sum> const& b, digest_sum mine) {
  uint32_t const rank = b.thread_rank(), size = b.size(), warp = rank / 32, warps = (size + 31) / 32;
  auto& memory = b.memory();
  constexpr auto total = static_cast<uint32_t>(stl::remove_cvref_t<decltype(memory)>::slots);
  static_assert(total >= 32);
  uint32_t const left = size - warp * 32;
  mine = detail::sum_lanes(mine, rank % 32, left < 32 ? left : 32);
  if (rank % 32 == 0) *memory.slot(warp) = mine;
  b.sync();
  if (rank == 0) {
    for (uint32_t w = 1; w < warps; ++w) mine += *memory.slot(w);
    *memory.slot(total) = mine;
  }
  b.sync();
  return *memory.slot(total);
}

//! The sum over `bytes` bytes of memory that all members of a thread, tile or block read together; every member
//! receives it. The bytes begin at byte `16 * first_unit` of the tensor; only the last range of a tensor may have a
//! length that is not a multiple of 16. Any alignment (16 bytes is fastest).
//! Level: run-to-run, geometry, target, partition. Cost: one read.
template <class Group>
requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD digest_sum digest_range(Group const& g, void const* data, uint64_t bytes, uint64_t first_unit = 0) {
  return sum_over(g, detail::share_of_sum(data, bytes, first_unit, g.thread_rank(), g.size()));
}

//! The digest of `bytes` bytes of untyped memory, by all members of a thread, tile or block.
template <class Group>
requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD uint64_t digest(Group const& g, void const* data, uint64_t bytes) {
  return finish_digest(digest_range(g, data, bytes), bytes);
}

} // namespace isobit::inline bits1
