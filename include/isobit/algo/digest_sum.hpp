// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What digests are made of: the keys, the product of one unit of 16 bytes, sums that add, and `finish_digest`, which
//! folds in what the tensor is. docs/fingerprint.md defines all of it to the last constant. Integers only.
#pragma once

#include <isobit/algo/dtype.hpp>

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
// The first 64 bits after the point.
inline constexpr uint64_t pi_fraction = 0x243f6a8885a308d3u;
inline constexpr uint64_t e_fraction = 0xb7e151628aed2a6au;
inline constexpr uint64_t root2_fraction = 0x6a09e667f3bcc908u;
inline constexpr uint64_t root3_fraction = 0xbb67ae8584caa73bu;

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
ISOBIT_HD constexpr words2 place_keys(uint64_t place, uint64_t start = pi_fraction) {
  return {stream_key(start, 2 * place), stream_key(start, 2 * place + 1)};
}
// What all units of a block are multiplied by.
ISOBIT_HD constexpr uint64_t block_key(uint64_t block, uint64_t start = e_fraction) {
  return stream_key(start, block) | 1;
}

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

//! What a digest of 128 bits is made from: two sums over the same units under keys of their own. The first one is the
//! sum behind the 64-bit digest.
struct digest128_sum {
  digest_sum first, second;

  ISOBIT_HD constexpr digest128_sum& operator+=(digest128_sum const& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  ISOBIT_HD constexpr digest128_sum& operator-=(digest128_sum const& other) {
    first -= other.first;
    second -= other.second;
    return *this;
  }
  ISOBIT_HD friend constexpr digest128_sum operator+(digest128_sum a, digest128_sum const& b) { return a += b; }
  ISOBIT_HD friend constexpr digest128_sum operator-(digest128_sum a, digest128_sum const& b) { return a -= b; }
  ISOBIT_HD friend constexpr bool operator==(digest128_sum const& a, digest128_sum const& b) {
    return a.first == b.first && a.second == b.second;
  }
};

//! A digest of 128 bits. `low` is the 64-bit digest of the same tensor.
struct bits128 {
  uint64_t low, high;
  ISOBIT_HD friend constexpr bool operator==(bits128 const&, bits128 const&) = default;
};

// ---- Forms: how long a digest is, and when two elements count as equal. ----

//! 64 bits; elements are equal when their bits are.
struct digest64 {
  using sum = digest_sum;
  using value = uint64_t;
  static constexpr bool equates_values = false;
};
//! 128 bits; elements are equal when their bits are.
struct digest128 {
  using sum = digest128_sum;
  using value = bits128;
  static constexpr bool equates_values = false;
};
//! A digest in which +0 and -0 are equal, and so are all NaNs of a type; otherwise as `Form`. It never equals the
//! digest that `Form` gives. Integers and untyped bytes have only bits.
template <class Form> struct by_value : Form {
  static constexpr bool equates_values = true;
};

//! `digest64`, `digest128`, `by_value<digest64>` or `by_value<digest128>`.
template <class F>
concept digest_form = requires {
  typename F::sum;
  typename F::value;
  { F::equates_values } -> stl::convertible_to<bool>;
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

// The keys of a sum.
template <class Sum> struct keys_of;
template <> struct keys_of<digest_sum> {
  using place_type = words2;
  ISOBIT_HD static constexpr place_type place(uint64_t p) { return place_keys(p); }
  ISOBIT_HD static constexpr uint64_t block(uint64_t b) { return block_key(b); }
};
template <> struct keys_of<digest128_sum> {
  struct place_type {
    words2 first, second;
  };
  struct block_type {
    uint64_t first, second;
  };
  ISOBIT_HD static constexpr place_type place(uint64_t p) { return {place_keys(p), place_keys(p, root2_fraction)}; }
  ISOBIT_HD static constexpr block_type block(uint64_t b) { return {block_key(b), block_key(b, root3_fraction)}; }
};
ISOBIT_HD constexpr digest128_sum unit_product(words2 unit, keys_of<digest128_sum>::place_type keys) {
  return {unit_product(unit, keys.first), unit_product(unit, keys.second)};
}
ISOBIT_HD constexpr digest128_sum scaled(digest128_sum const& s, keys_of<digest128_sum>::block_type key) {
  return {scaled(s.first, key.first), scaled(s.second, key.second)};
}

// The chain of words that `finish_digest` mixes.
struct word_chain {
  uint64_t h;
  ISOBIT_HD constexpr void absorb(uint64_t word) { h = mix64((h ^ word) + golden_gamma); }
};

} // namespace detail

//! What a tensor is: folded into its digest, so that equal bytes of another type or shape have another digest.
struct tensor_shape {
  dtype type = dtype::bytes;
  uint64_t const* extents = nullptr; //!< `rank` of them, outermost first
  uint32_t rank = 0;
  bool equates_values = false; //!< the sum is one of a `by_value` form
};

namespace detail {
ISOBIT_HD constexpr uint64_t finish(digest_sum sum, tensor_shape const& shape, uint64_t start) {
  word_chain chain{start};
  chain.absorb(sum.low);
  chain.absorb(sum.high);
  chain.absorb(static_cast<uint64_t>(shape.type) | (shape.equates_values ? uint64_t(1) << 32 : 0));
  chain.absorb(shape.rank);
  for (uint32_t i = 0; i < shape.rank; ++i) chain.absorb(shape.extents[i]);
  return chain.h;
}
} // namespace detail

//! The 64-bit digest of a tensor with this sum.
ISOBIT_HD constexpr uint64_t finish_digest(digest_sum sum, tensor_shape shape) {
  return detail::finish(sum, shape, detail::pi_fraction);
}
//! The 128-bit digest of a tensor with this sum.
ISOBIT_HD constexpr bits128 finish_digest(digest128_sum const& sum, tensor_shape shape) {
  return {finish_digest(sum.first, shape), detail::finish(sum.second, shape, detail::root2_fraction)};
}

//! The digest of `bytes` bytes of untyped memory with this sum.
ISOBIT_HD constexpr uint64_t finish_digest(digest_sum sum, uint64_t bytes) {
  return finish_digest(sum, {dtype::bytes, &bytes, 1});
}
ISOBIT_HD constexpr bits128 finish_digest(digest128_sum const& sum, uint64_t bytes) {
  return finish_digest(sum, {dtype::bytes, &bytes, 1});
}

} // namespace isobit::inline bits1
