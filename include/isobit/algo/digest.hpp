// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The digest: a sum over 16-byte units, each the product of the unit's two words, after each was added to a key of its
//! place within its block, times a key of the block. docs/fingerprint.md defines it to the last constant. Integers
//! only.
//!
//! Sums of disjoint ranges add to the sum of the whole, in any order: threads, blocks, chunks, launches and ranks may
//! share the work in any way. `finish_digest` folds in what the tensor is and gives 64 or 128 bits.
#pragma once

#include <isobit/algo/digest_serial.hpp>
#include <isobit/group/block.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/group/tile.hpp>

namespace isobit::inline bits1 {

//! Adds units to a sum, wherever they lie: what a kernel calls for the values that it reads or writes.
//! Cost: about 90 integer instructions for 16 bytes on a GPU, and about 30 fewer where a thread's units always have the
//! same place, because it strides by a multiple of 128 units: `keys` once, then `add` with them. Twice that for 128
//! bits.
template <class Sum> class basic_digest_accumulator {
public:
  //! Bytes of a unit.
  static constexpr uint64_t unit_bytes = 16;
  //! The key words of a place; the same for units whose numbers are equal modulo 128.
  using keys_type = typename detail::keys_of<Sum>::place_type;
  ISOBIT_HD static constexpr keys_type keys(uint64_t unit) {
    return detail::keys_of<Sum>::place(unit % detail::block_units);
  }

  //! The unit with the little-endian words `a` (bytes 0 to 7) and `b` (bytes 8 to 15). `unit` is its absolute number in
  //! the tensor: byte offset / 16.
  ISOBIT_HD constexpr void add(uint64_t a, uint64_t b, uint64_t unit) { add(a, b, unit, keys(unit)); }
  ISOBIT_HD constexpr void add(uint64_t a, uint64_t b, uint64_t unit, keys_type keys) {
    using block_keys = detail::keys_of<Sum>;
    sum_ += detail::scaled(detail::unit_product({a, b}, keys), block_keys::block(unit / detail::block_units));
  }

  //! A whole unit of elements that lie in registers: `x[0 .. 16 / sizeof(T))`.
  template <class T> ISOBIT_HD void add(T const (&x)[16 / sizeof(T)], uint64_t unit) {
    static_assert(__is_trivially_copyable(T) && sizeof(x) == 16, "isobit: a unit of a digest is 16 bytes");
    detail::words2 w;
    __builtin_memcpy(&w, &x, 16);
    add(w.low, w.high, unit);
  }

  ISOBIT_HD constexpr Sum sum() const { return sum_; }

private:
  Sum sum_;
};

//! For digests of 64 bits.
using digest_accumulator = basic_digest_accumulator<digest_sum>;
//! For digests of 128 bits.
using digest128_accumulator = basic_digest_accumulator<digest128_sum>;

//! How many chunks of `chunk_bytes` (a multiple of 16, at least 16) cover `bytes`; the last may be shorter.
ISOBIT_HD constexpr uint64_t digest_chunks(uint64_t bytes, uint64_t chunk_bytes) {
  return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

namespace detail {

// One member's share of `bytes` bytes that begin with unit `first_unit`; the tail goes to member 0.
template <class Sum = digest_sum>
ISOBIT_HD Sum share_of_sum(void const* memory, uint64_t bytes, uint64_t first_unit, uint64_t rank, uint64_t members) {
  auto const* const data = static_cast<unsigned char const*>(memory);
  uint64_t const last_unit = first_unit + bytes / 16;
  Sum sum;
#if defined(ISOBIT_ON_DEVICE)
  auto const alignment = reinterpret_cast<stl::uintptr_t>(memory) % 16;
  if (alignment == 0)
    sum = share_of_units<Sum>(memory_units<word16>{data, first_unit, last_unit}, rank, members);
  else if (alignment % 4 == 0)
    sum = share_of_units<Sum>(memory_units<uint32_t>{data, first_unit, last_unit}, rank, members);
  else
    sum = share_of_units<Sum>(memory_units<uint8_t>{data, first_unit, last_unit}, rank, members);
#else
  memory_units<word16> const units{data, first_unit, last_unit};
  sum = members == 1 ? serial_sum<Sum>(units) : share_of_units<Sum>(units, rank, members);
#endif
  if (rank == 0 && bytes % 16 != 0) {
    words2 const w = read_tail(data + bytes / 16 * 16, bytes % 16);
    basic_digest_accumulator<Sum> tail;
    tail.add(w.low, w.high, last_unit);
    sum += tail.sum();
  }
  return sum;
}

// The total over the `lanes` first lanes of a warp, in lane 0.
template <class Sum> ISOBIT_HD Sum sum_lanes(Sum s, uint32_t lane, uint32_t lanes) {
  uint32_t const mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  ISOBIT_UNROLL
  for (uint32_t distance = 16; distance >= 1; distance /= 2) {
    bool const has_partner = lane + distance < lanes;
    Sum const other = machine::shuffle(mask, s, has_partner ? lane + distance : lane);
    if (has_partner && lane < distance) s += other;
  }
  return s;
}

template <class T> inline constexpr bool is_digest_sum = false;
template <> inline constexpr bool is_digest_sum<digest_sum> = true;
template <> inline constexpr bool is_digest_sum<digest128_sum> = true;

} // namespace detail

//! `digest_sum` or `digest128_sum`.
template <class T>
concept any_digest_sum = detail::is_digest_sum<T>;

//! The total of every member's sum; every member receives it.
template <any_digest_sum Sum> ISOBIT_HD Sum sum_over(thread, Sum const& mine) { return mine; }

template <int P, any_digest_sum Sum> ISOBIT_HD Sum sum_over(tile<P> const& t, Sum mine) {
  ISOBIT_UNROLL
  for (uint32_t distance = 1; distance < P; distance *= 2) mine += t.shuffle_xor(mine, distance);
  return mine;
}

//! The same for a block of any width (storage: `block<N>::storage<digest_sum>`). Two barriers.
template <int N, any_digest_sum Sum> ISOBIT_HD Sum sum_over(block<N, Sum> const& b, Sum mine) {
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
//! `Form`: `digest64` or `digest128`, which has a `digest128_sum`.
//! Level: run-to-run, geometry, target, partition. Cost: one read.
template <digest_form Form = digest64, class Group>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD typename Form::sum digest_range(Group const& g, void const* data, uint64_t bytes, uint64_t first_unit = 0) {
  static_assert(!Form::equates_values, "isobit: untyped bytes have no values: digest elements, or use digest64");
  using sum = typename Form::sum;
  return sum_over(g, detail::share_of_sum<sum>(data, bytes, first_unit, g.thread_rank(), g.size()));
}

//! The digest of `bytes` bytes of untyped memory, by all members of a thread, tile or block.
template <digest_form Form = digest64, class Group>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD typename Form::value digest(Group const& g, void const* data, uint64_t bytes) {
  return finish_digest(digest_range<Form>(g, data, bytes), bytes);
}

} // namespace isobit::inline bits1
