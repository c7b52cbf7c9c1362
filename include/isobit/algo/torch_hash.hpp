// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! torch.hash_tensor of PyTorch 2.9 and later, bit for bit: the exclusive or of all elements, each widened to 64 bits.
//! For comparing with values that torch computed. It sees neither order nor shape, and changes in pairs cancel: see
//! docs/fingerprint.md before relying on it.
#pragma once

#include <isobit/algo/torch_hash_host.hpp>
#include <isobit/bits/integer.hpp>
#include <isobit/error.hpp>
#include <isobit/group/block.hpp>
#include <isobit/group/host.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/group/tile.hpp>

namespace isobit::inline bits1 {

namespace detail {

ISOBIT_HD constexpr bool torch_hashes(dtype type) {
  switch (type) {
  case dtype::f64:
  case dtype::f32:
  case dtype::f16:
  case dtype::bf16:
  case dtype::boolean:
  case dtype::u8:
  case dtype::i8:
  case dtype::i16:
  case dtype::i32:
  case dtype::i64: return true;
  default: return false;
  }
}

// The bits of the double with the value of a narrower float. A NaN keeps its sign and payload and becomes quiet, as in
// the conversions of processors.
ISOBIT_HD constexpr uint64_t double_bits(uint64_t x, int exponent_bits, int mantissa_bits) {
  uint64_t const ones = (uint64_t(1) << exponent_bits) - 1;
  uint64_t const sign = x >> (exponent_bits + mantissa_bits) << 63;
  uint64_t const field = x >> mantissa_bits & ones, mantissa = x & ((uint64_t(1) << mantissa_bits) - 1);
  uint64_t const aligned = mantissa << (52 - mantissa_bits);
  if (field == ones) return sign | uint64_t(0x7ff) << 52 | aligned | (mantissa != 0 ? uint64_t(1) << 51 : 0);
  uint64_t const rebias = 1023 - (ones >> 1);
  if (field != 0) return sign | (field + rebias) << 52 | aligned;
  if (mantissa == 0) return sign;
  int const up = mantissa_bits + 1 - static_cast<int>(bit_width(mantissa)); // to the place of the implicit bit
  uint64_t const normal = aligned << up & ((uint64_t(1) << 52) - 1);
  return sign | (rebias + 1 - static_cast<uint64_t>(up)) << 52 | normal;
}

} // namespace detail

//! The types that torch.hash_tensor supports: double, float, f16, bf16, bool, uint8 and signed integers. No unsigned
//! integers of 16 bits and more, no fp8: view those as signed integers of their width, as torch asks for.
template <class T>
concept torch_hashable = detail::torch_hashes(dtype_of<T>);

//! An element as torch widens it: floats to double, signed integers with their sign, the rest with zeros.
template <torch_hashable T> ISOBIT_HD constexpr uint64_t torch_lane(T const& x) {
  constexpr dtype type = dtype_of<T>;
  uint64_t const bits = detail::stored_bits(x);
  if constexpr (type == dtype::f32)
    return detail::double_bits(bits, 8, 23);
  else if constexpr (type == dtype::f16)
    return detail::double_bits(bits, 5, 10);
  else if constexpr (type == dtype::bf16)
    return detail::double_bits(bits, 8, 7);
  else if constexpr (type == dtype::boolean)
    return bits != 0 ? 1 : 0;
  else if constexpr (type == dtype::i8 || type == dtype::i16 || type == dtype::i32)
    return static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - dtype_bits(type))) >> (64 - dtype_bits(type)));
  else
    return bits;
}

namespace detail {

ISOBIT_HD inline uint64_t xor_over(thread, uint64_t mine) { return mine; }
template <int P> ISOBIT_HD uint64_t xor_over(tile<P> const& t, uint64_t mine) {
  ISOBIT_UNROLL
  for (uint32_t distance = 1; distance < P; distance *= 2) mine ^= t.shuffle_xor(mine, distance);
  return mine;
}
template <int N> ISOBIT_HD uint64_t xor_over(block<N, uint64_t> const& b, uint64_t mine) {
  uint32_t const rank = b.thread_rank(), size = b.size(), lane = rank % 32;
  uint32_t const left = size - (rank - lane), lanes = left < 32 ? left : 32;
  uint32_t const mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  ISOBIT_UNROLL
  for (uint32_t distance = 16; distance >= 1; distance /= 2) {
    uint64_t const other = machine::shuffle(mask, mine, lane + distance < lanes ? lane + distance : lane);
    if (lane + distance < lanes && lane < distance) mine ^= other;
  }
  auto& memory = b.memory();
  if (lane == 0) *memory.slot(rank / 32) = mine;
  b.sync();
  uint64_t total = 0;
  for (uint32_t w = 0; w < (size + 31) / 32; ++w) total ^= *memory.slot(w);
  b.sync();
  return total;
}

// The exclusive or of `load(first)`, `load(first + step)`, ... below `count`.
ISOBIT_CALLS_USER_CODE
template <class Load> ISOBIT_HD uint64_t xor_of(Load const& load, uint64_t first, uint64_t step, uint64_t count) {
  uint64_t h = 0;
  for (uint64_t i = first; i < count; i += step) h ^= torch_lane(load(i));
  return h;
}

} // namespace detail

//! torch.hash_tensor(x).item() of the elements `load(0) .. load(count - 1)`, by all members of a thread, tile or block;
//! every member receives it. 0 of no elements (torch raises an error then).
//! Level: run-to-run, geometry, target, partition (the exclusive or of the parts), order-free. Cost: one read.
ISOBIT_CALLS_USER_CODE
template <class Group, class Load>
  requires(!stl::is_pointer_v<Load>) && requires(Group const g) { g.thread_rank(); }
ISOBIT_HD uint64_t torch_hash(Group const& g, Load const& load, uint64_t count) {
  return detail::xor_over(g, detail::xor_of(load, g.thread_rank(), g.size(), count));
}
//! The same of an array.
template <class Group, torch_hashable T>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD uint64_t torch_hash(Group const& g, T const* x, uint64_t count) {
  return torch_hash(g, stored(x), count);
}

#if !defined(__CUDACC_RTC__)

namespace detail {
template <class T> uint64_t xor_of_array(T const* x, uint64_t count) {
  return xor_of_array(x, count, [x](uint64_t first, uint64_t last) { return xor_of(stored(x), first, 1, last); });
}
} // namespace detail

//! The same on a CPU; jobs of 2^18 elements for an executor. Throws `invalid_argument` (null).
template <is_host Host, torch_hashable T> uint64_t torch_hash(Host const& h, T const* x, uint64_t count) {
  if (x == nullptr && count > 0) throw invalid_argument("torch_hash", "x", "non-null when there are elements");
  constexpr uint64_t job = uint64_t(1) << 18;
  uint64_t total = 0;
  h.run(count / job + 1, [&](uint64_t j) {
    uint64_t const first = j * job, last = count - first < job ? count : first + job;
    __atomic_fetch_xor(&total, detail::xor_of_array(x + first, last - first), __ATOMIC_RELAXED);
  });
  return total;
}

//! torch.hash_tensor(view): of any strides.
template <is_host Host, torch_hashable T, int Rank> uint64_t torch_hash(Host const&, tensor_view<T, Rank> const& view) {
  uint64_t const count = view.count();
  if (view.data == nullptr && count > 0)
    throw invalid_argument("torch_hash", "view", "non-null when there are elements");
  if (count == 0) return 0;
  uint64_t h = 0;
  auto elements = view.from(0);
  for (uint64_t i = 0; i < count; ++i) h ^= torch_lane(elements.next());
  return h;
}

//! torch.hash_tensor(x, dim=...): the tensor has the extents `extents[0 .. rank)` and lies without gaps, outermost
//! extent first; bit d of `dims` says that dimension d is reduced. out: the other extents in their order (so that
//! keepdim makes no difference); zeros where nothing is reduced into an entry. Throws `invalid_argument` before
//! anything is written. Cost: one read, by the calling thread.
template <is_host Host, torch_hashable T>
void torch_hash(Host const&, T const* x, uint64_t const* extents, uint32_t rank, uint64_t dims, uint64_t* out) {
  if (rank > 64) throw invalid_argument("torch_hash", "rank", "at most 64");
  if (rank < 64 && dims >> rank != 0) throw invalid_argument("torch_hash", "dims", "of dimensions below rank");
  uint64_t count = 1, outputs = 1;
  for (uint32_t d = 0; d < rank; ++d)
    if (__builtin_mul_overflow(count, extents[d], &count))
      throw invalid_argument("torch_hash", "extents", "of fewer than 2^64 elements");
  for (uint32_t d = 0; d < rank; ++d)
    if ((dims >> d & 1) == 0) outputs *= extents[d];
  if (x == nullptr && count > 0) throw invalid_argument("torch_hash", "x", "non-null when there are elements");
  if (out == nullptr && outputs > 0) throw invalid_argument("torch_hash", "out", "non-null when it has entries");

  for (uint64_t o = 0; o < outputs; ++o) out[o] = 0;
  if (count == 0) return;
  // How far one step of a dimension moves in `out`.
  uint64_t step[65] = {}, index[65] = {}, stride = 1;
  for (uint32_t d = rank; d-- > 0;)
    if ((dims >> d & 1) == 0) {
      step[d] = stride;
      stride *= extents[d];
    }
  uint64_t const row = rank == 0 ? 1 : extents[rank - 1], row_step = rank == 0 ? 0 : step[rank - 1];
  uint64_t at = 0;
  for (uint64_t first = 0; first < count; first += row) {
    if (row_step == 0)
      out[at] ^= detail::xor_of_array(x + first, row);
    else
      for (uint64_t i = 0; i < row; ++i) out[at + i] ^= torch_lane(x[first + i]);
    for (uint32_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
      at += step[d];
      if (++index[d] < extents[d]) break;
      at -= extents[d] * step[d];
      index[d] = 0;
    }
  }
}

#endif

} // namespace isobit::inline bits1
