// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The state of the exact sums: one wide two's-complement integer on a fixed grid, flags for what is no number, and the
//! single rounding at the end. Integers only, so that no compiler flag and no processor state can change an answer.
#pragma once

#include <isobit/bits/cast.hpp>
#include <isobit/bits/integer.hpp>

namespace isobit::inline bits1 {

namespace detail {

//! The fields of every IEEE-like type: float, double, and the storage types of 16 bits or fewer with infinities.
template <class T> struct exact_fields;
template <ieee_float T> struct exact_fields<T> {
  using bits = float_bits<T>;
  static constexpr int mantissa_bits = float_fields<T>::mantissa_bits;
  static constexpr int exponent_bits = float_fields<T>::exponent_bits;
  static constexpr int bias = float_fields<T>::bias;
  static constexpr bits quiet_nan = float_fields<T>::quiet_nan;
  ISOBIT_HD static constexpr bits get(T x) { return to_bits(x); }
  ISOBIT_HD static constexpr T make(bits b) { return from_bits<T>(b); }
};
template <class T>
  requires requires(T x) {
    T::format.infinity();
    x.bits;
  }
struct exact_fields<T> {
  static_assert(static_cast<int>(T::format.special) == 0, "isobit: exact sums need a format with infinities");
  using bits = uint32_t;
  static constexpr int mantissa_bits = T::format.mantissa_bits;
  static constexpr int exponent_bits = T::format.exponent_bits;
  static constexpr int bias = T::format.bias;
  static constexpr bits quiet_nan = T::format.nan();
  ISOBIT_HD static constexpr bits get(T x) { return x.bits; }
  ISOBIT_HD static constexpr T make(bits b) { return T{static_cast<decltype(T::bits)>(b)}; }
};

//! x = (-1)^negative * significand * 2^(position + exact_grid<T>::lowest); or infinity, or NaN.
struct exact_parts {
  uint64_t significand;
  uint32_t position;
  bool negative;
  bool finite;
  bool nan;
};
template <class T> ISOBIT_HD constexpr exact_parts split_bits(typename exact_fields<T>::bits b) {
  using f = exact_fields<T>;
  constexpr uint32_t top = (1u << f::exponent_bits) - 1;
  auto const mantissa = static_cast<uint64_t>(b) & ((uint64_t(1) << f::mantissa_bits) - 1);
  uint32_t const e = static_cast<uint32_t>(b >> f::mantissa_bits) & top;
  bool const negative = (b >> (f::mantissa_bits + f::exponent_bits) & 1) != 0;
  return {mantissa | (uint64_t(e != 0) << f::mantissa_bits), e != 0 ? e - 1 : 0, negative, e != top,
          e == top && mantissa != 0};
}

//! a + b + carry, which becomes the carry out, 0 or 1.
ISOBIT_HD constexpr uint64_t add_with_carry(uint64_t a, uint64_t b, uint64_t& carry) {
#if defined(ISOBIT_ON_DEVICE)
  // By halves: each is one addition with a carry on a 32-bit processor; comparisons of 64 bits take three times that.
  uint64_t const low = (a & 0xffffffffu) + (b & 0xffffffffu) + carry;
  uint64_t const high = (a >> 32) + (b >> 32) + (low >> 32);
  carry = high >> 32;
  return (high << 32) | (low & 0xffffffffu);
#else
  uint64_t const sum = a + b, all = sum + carry;
  carry = (sum < b ? 1u : 0u) | (all < sum ? 1u : 0u);
  return all;
#endif
}

//! a * b.
ISOBIT_HD constexpr void multiply_wide(uint64_t a, uint64_t b, uint64_t& low, uint64_t& high) {
  uint64_t const a0 = static_cast<uint32_t>(a), a1 = a >> 32, b0 = static_cast<uint32_t>(b), b1 = b >> 32;
  uint64_t const p0 = a0 * b0, p1 = a0 * b1, p2 = a1 * b0;
  uint64_t const middle = (p0 >> 32) + static_cast<uint32_t>(p1) + static_cast<uint32_t>(p2);
  low = (middle << 32) | static_cast<uint32_t>(p0);
  high = a1 * b1 + (p1 >> 32) + (p2 >> 32) + (middle >> 32);
}

} // namespace detail

//! Where the bits of sums of `T` lie: bit 0 is worth 2^lowest, the smallest subnormal number. `words` 64-bit words hold
//! the largest number and 2^headroom_bits times it (at least 2^64).
template <class T> struct exact_grid {
  static constexpr int lowest = 1 - detail::exact_fields<T>::bias - detail::exact_fields<T>::mantissa_bits;
  static constexpr int significand_bits = detail::exact_fields<T>::mantissa_bits + 1;
  static constexpr int number_bits =
      (1 << detail::exact_fields<T>::exponent_bits) - 2 + detail::exact_fields<T>::mantissa_bits;
  static constexpr int words = (number_bits + 64 + 63) / 64;
  static constexpr int headroom_bits = 64 * words - 1 - number_bits;
};

//! The same for sums of products of two `T`.
template <class T> struct exact_product_grid {
  static constexpr int lowest = 2 * exact_grid<T>::lowest;
  static constexpr int significand_bits = 2 * exact_grid<T>::significand_bits;
  static constexpr int number_bits = 2 * exact_grid<T>::number_bits;
  static constexpr int words = (number_bits + 64 + 63) / 64;
  static constexpr int headroom_bits = 64 * words - 1 - number_bits;
};

//! What an exact sum has seen besides its value.
enum exact_flags : uint64_t {
  exact_plus_infinity = 1,
  exact_minus_infinity = 2,
  exact_nan = 4,        //!< a NaN, or the headroom is exhausted
  exact_number = 8,     //!< anything but -0
  exact_minus_zero = 16 //!< -0 and nothing else
};

namespace detail {
ISOBIT_HD constexpr uint64_t join_flags(uint64_t a, uint64_t b) {
  uint64_t const all = a | b;
  return (all & exact_number) != 0 ? all & ~uint64_t(exact_minus_zero) : all;
}
} // namespace detail

//! An exact sum: the integer `word` (two's complement, little end first) times 2^Grid::lowest, and `flags`.
//! `exact_state<Grid>{}` is the sum of nothing, and adding it changes nothing. Addition is associative and commutative
//! in every byte: equal inputs in any order and grouping give states of equal bytes. No padding.
template <class Grid> struct exact_state {
  using grid = Grid;
  uint64_t word[Grid::words];
  uint64_t flags;

  ISOBIT_HD friend constexpr bool operator==(exact_state const&, exact_state const&) = default;
  //! The sum of both. Cost: 64-bit additions with carry, `Grid::words` of them.
  ISOBIT_HD friend constexpr exact_state operator+(exact_state const& left, exact_state const& right) {
    exact_state s = left;
    s += right;
    return s;
  }
  ISOBIT_HD constexpr exact_state& operator+=(exact_state const& right) {
    uint64_t carry = 0;
    constexpr int top = Grid::words - 1;
    uint64_t const before = word[top];
    ISOBIT_UNROLL
    for (int k = 0; k <= top; ++k) word[k] = detail::add_with_carry(word[k], right.word[k], carry);
    flags = detail::join_flags(flags, right.flags);
    // Two numbers of one sign whose sum has the other: more than 2^headroom_bits of the largest number.
    if (((before ^ word[top]) & (right.word[top] ^ word[top])) >> 63) flags |= exact_nan;
    return *this;
  }
};

namespace detail {

// Adds (-1)^negative * (low + 2^64 high) * 2^position. `Parts`: words that the shifted number takes, 2 or 3.
template <int Parts, class Grid>
ISOBIT_HD constexpr void add_shifted(exact_state<Grid>& s, uint32_t position, uint64_t low, uint64_t high,
                                     bool negative) {
  constexpr int top = Grid::words - 1;
  static_assert(Parts == 2 || Parts == 3);
  static_assert((Grid::number_bits - 1) / 64 + 1 <= top, "a number's words lie below the top one");
  int const first = static_cast<int>(position / 64);
  uint32_t const shift = position % 64;
  uint64_t const flip = negative ? ~uint64_t(0) : 0;
  uint64_t const part[3] = {low << shift, (shift != 0 ? low >> (64 - shift) : 0) | (Parts == 3 ? high << shift : 0),
                            Parts == 3 && shift != 0 ? high >> (64 - shift) : 0};
  uint64_t const before = s.word[top];
  uint64_t carry = negative ? 1 : 0; // -x is ~x + 1
#if defined(ISOBIT_ON_DEVICE)
  if constexpr (Grid::words <= 10) {
    // Every 32-bit digit by its constant number, so that the state stays in registers. A number takes few digits.
    constexpr int digits = (Grid::significand_bits + 31 + 31) / 32;
    int const at = static_cast<int>(position / 32);
    uint32_t const sign = static_cast<uint32_t>(flip);
    uint64_t const moved = low << (position % 32);
    uint32_t const upper = position % 32 == 0 ? 0 : static_cast<uint32_t>(low >> (64 - position % 32));
    uint32_t const digit[3] = {static_cast<uint32_t>(moved) ^ sign, static_cast<uint32_t>(moved >> 32) ^ sign,
                               upper ^ sign};
    ISOBIT_UNROLL
    for (int k = 0; k <= top; ++k) {
      uint64_t both = 0;
      ISOBIT_UNROLL
      for (int h = 0; h < 2; ++h) {
        int const d = 2 * k + h - at;
        uint32_t mine = sign;
        if (32 * (2 * k + h) < Grid::number_bits)
          mine = d == 0 ? digit[0] : d == 1 ? digit[1] : digits == 3 && d == 2 ? digit[2] : sign;
        both |= static_cast<uint64_t>(mine) << (32 * h);
      }
      s.word[k] = add_with_carry(s.word[k], both, carry);
    }
  } else
#endif
  {
    ISOBIT_UNROLL
    for (int j = 0; j < Parts; ++j) {
      uint64_t& w = s.word[first + j];
      w = add_with_carry(w, part[j] ^ flip, carry);
    }
    // Above, ~0 or 0 is added with the carry: +1, 0 or -1, which seldom goes further than one word.
#if defined(ISOBIT_ON_DEVICE)
#pragma unroll 1
#endif
    for (int k = first + Parts; k <= top && carry != (negative ? 1u : 0u); ++k) {
      uint64_t const all = s.word[k] + flip + carry;
      carry = negative ? (s.word[k] + carry != 0 ? 1u : 0u) : (all == 0 ? 1u : 0u);
      s.word[k] = all;
    }
  }
  // A sign that changed the wrong way: more than 2^headroom_bits of the largest number.
  if (((before ^ s.word[top]) & ~(before ^ flip)) >> 63) s.flags |= exact_nan;
}

//! 64 bits of the integer of `words` words, from bit `at` on (which may lie outside). Not a template over the array:
//! g++ 12 merges the instances and then warns of the longest one's bounds.
ISOBIT_HD constexpr uint64_t bits_at(uint64_t const* w, int words, int at) {
  if (at < 0) return at <= -64 ? 0 : w[0] << -at;
  int const k = at / 64, shift = at % 64;
  uint64_t const low = k < words ? w[k] : 0, high = k + 1 < words ? w[k + 1] : 0;
  return shift == 0 ? low : (low >> shift) | (high << (64 - shift));
}

//! The nearest R (ties to even) to the integer times 2^lowest, not zero. Source: IEEE 754-2019 4.3.1, 7.4, 7.5.
template <class R, int Words>
ISOBIT_HD constexpr typename exact_fields<R>::bits round_integer(uint64_t const (&magnitude)[Words], int lowest) {
  using f = exact_fields<R>;
  using bits = typename f::bits;
  constexpr bits infinity = static_cast<bits>(((uint64_t(1) << f::exponent_bits) - 1) << f::mantissa_bits);
  int k = Words - 1;
  while (magnitude[k] == 0) --k;
  int const highest = 64 * k + bit_width(magnitude[k]) - 1;
  // The result's last bit: below the leading one, but not below the smallest subnormal number.
  int const last_of_normal = highest - f::mantissa_bits, last_of_all = exact_grid<R>::lowest - lowest;
  int const last = last_of_normal > last_of_all ? last_of_normal : last_of_all;
  if (last - last_of_all >= 1 << f::exponent_bits) return infinity;
  uint64_t const kept = last > highest ? 0 : bits_at(magnitude, Words, last);
  uint64_t up = 0;
  if (last > 0) {
    bool const half = (bits_at(magnitude, Words, last - 1) & 1) != 0;
    bool below = false;
    for (int j = 0; j < Words && 64 * j < last - 1; ++j) {
      int const count = last - 1 - 64 * j; // bits of this word that lie below the half
      below = below || (count >= 64 ? magnitude[j] : magnitude[j] & ((uint64_t(1) << count) - 1)) != 0;
    }
    up = half && (below || (kept & 1) != 0) ? 1 : 0;
  }
  // The leading one of `kept` is the exponent's last unit, and a carry moves on into the exponent by itself.
  uint64_t const b = (static_cast<uint64_t>(last - last_of_all) << f::mantissa_bits) + kept + up;
  return b >= infinity ? infinity : static_cast<bits>(b);
}

template <class R, class Grid> ISOBIT_HD constexpr R round_state(exact_state<Grid> const& s) {
  using f = exact_fields<R>;
  using bits = typename f::bits;
  constexpr bits sign = static_cast<bits>(bits(1) << (f::mantissa_bits + f::exponent_bits));
  constexpr bits infinity = static_cast<bits>(((uint64_t(1) << f::exponent_bits) - 1) << f::mantissa_bits);
  constexpr uint64_t both = exact_plus_infinity | exact_minus_infinity;
  if ((s.flags & exact_nan) != 0 || (s.flags & both) == both) return f::make(f::quiet_nan);
  if ((s.flags & both) != 0) return f::make((s.flags & exact_minus_infinity) != 0 ? infinity | sign : infinity);
  bool const negative = (s.word[Grid::words - 1] >> 63) != 0;
  uint64_t magnitude[Grid::words]{};
  uint64_t carry = negative ? 1 : 0, any = 0;
  for (int k = 0; k < Grid::words; ++k) {
    magnitude[k] = (negative ? ~s.word[k] : s.word[k]) + carry;
    carry = carry != 0 && magnitude[k] == 0 ? 1 : 0;
    any |= magnitude[k];
  }
  if (any == 0) return f::make((s.flags & exact_minus_zero) != 0 ? sign : bits(0));
  return f::make(round_integer<R>(magnitude, Grid::lowest) | (negative ? sign : bits(0)));
}

} // namespace detail

//! The one state for the value of `s`, to be stored, compared and fingerprinted: equal values have equal bytes, and
//! what cannot be told apart by adding more has the same canonical form. NaN (a NaN, both infinities, exhausted
//! headroom) forgets all else, an infinity its finite part, a number its zeros. Three zeros stay apart, for -0 is their
//! difference: the sum of nothing, -0 alone, and +0.
template <class Grid> ISOBIT_HD constexpr exact_state<Grid> canonical(exact_state<Grid> s) {
  constexpr uint64_t both = exact_plus_infinity | exact_minus_infinity;
  uint64_t special = 0;
  if ((s.flags & exact_nan) != 0 || (s.flags & both) == both)
    special = exact_nan;
  else
    special = s.flags & both;
  if (special != 0) {
    s = exact_state<Grid>{};
    s.flags = special;
  }
  return s;
}

} // namespace isobit::inline bits1
