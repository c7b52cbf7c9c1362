// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Numbers that find mistakes: all classes, edges of rounding, near-cancellations. The same sequence everywhere.
#pragma once

#include <isobit/bits/cast.hpp>

namespace isobit::test {

//! Marsaglia's xorshift64*: integers only, so that every target sees the same inputs.
struct source {
  uint64_t state = 0x243f6a8885a308d3u;
  constexpr uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
  }
  constexpr uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

  //! Every class of number: zeros, subnormals, powers of two, all-ones significands, few bits, infinities, NaNs, and
  //! moderate magnitudes half of the time.
  template <ieee_float T> constexpr T any() {
    using f = float_fields<T>;
    using u = float_bits<T>;
    u const b = static_cast<u>(next() >> (64 - sizeof(T) * 8));
    u const mantissa = b & f::mantissa, sign = b & f::sign;
    switch (below(16)) {
    case 0: return from_bits<T>(sign);
    case 1: return from_bits<T>(sign | f::exponent);
    case 2: return from_bits<T>(b | f::exponent);
    case 3: return from_bits<T>(sign | mantissa);
    case 4: return from_bits<T>(b & ~f::mantissa);
    case 5: return from_bits<T>((b | f::mantissa) & ~(u(1) << (sizeof(T) * 8 - 2)));
    case 6: return from_bits<T>(b & ~((u(1) << below(f::mantissa_bits)) - 1));
    case 7: return from_bits<T>(sign | (u(below(3)) << f::mantissa_bits) | below(4));
    default: return from_bits<T>(sign | mantissa | u(f::bias - 20 + static_cast<int>(below(40))) << f::mantissa_bits);
    }
  }
  //! Finite, with the exponent between `low` and `high`.
  template <ieee_float T> constexpr T between(int low, int high) {
    using f = float_fields<T>;
    using u = float_bits<T>;
    u const b = static_cast<u>(next() >> (64 - sizeof(T) * 8));
    int const e = low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1)));
    u mantissa = b & f::mantissa;
    if (below(4) == 0) mantissa &= ~((u(1) << below(f::mantissa_bits)) - 1);
    return from_bits<T>((b & f::sign) | mantissa | u(f::bias + e) << f::mantissa_bits);
  }
  //! `x`, moved by at most two units in the last place.
  template <ieee_float T> constexpr T nudged(T x) {
    return from_bits<T>(to_bits(x) + static_cast<float_bits<T>>(below(5)) - 2);
  }
};

//! The same number, or both NaN.
template <ieee_float T> constexpr bool same(T a, T b) { return to_bits(canonical(a)) == to_bits(canonical(b)); }

} // namespace isobit::test
