// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Exact sums of long runs on a host: one 64-bit counter for each sign and exponent, so that an element costs one
//! addition in memory and no branch. The counters go into the state before they can overflow.
#pragma once

#include <isobit/accum/exact_state.hpp>

#if !defined(__CUDACC_RTC__)
namespace isobit::inline bits1::detail {

//! Bins by the upper bits of the code: sign and exponent. A bin holds the sum of its mantissas and, from bit 44 on, how
//! many there were: for each, the implicit one is added when the bin is emptied. So special values, subnormal numbers
//! and zeros need no case of their own. Mantissas of more than 24 bits are cut: `low` has the sum of their lower 32
//! bits. A bin takes 2^20 - 1 deposits; `deposit_by_bins` empties after `capacity`.
template <class T> struct exact_bins {
  using f = exact_fields<T>;
  using bits = typename f::bits;
  static constexpr bool wide = f::mantissa_bits > 24;
  static constexpr int count_at = 44, count = 2 << f::exponent_bits;
  static constexpr uint64_t capacity = uint64_t(1) << 19;
  //! Shorter runs are deposited one by one.
  static constexpr uint64_t worth_while = 8 * count;
  struct bin {
    uint64_t high;
    uint64_t low;
  };
  struct narrow_bin {
    uint64_t high;
  };
  using slot = stl::conditional_t<wide, bin, narrow_bin>;
  slot table[count];

  void add(bits b) {
    uint64_t const mantissa = static_cast<uint64_t>(b) & ((uint64_t(1) << f::mantissa_bits) - 1);
    slot& t = table[static_cast<uint32_t>(b >> f::mantissa_bits)];
    if constexpr (wide) {
      t.low += static_cast<uint32_t>(mantissa);
      t.high += (mantissa >> 32) + (uint64_t(1) << count_at);
    } else {
      t.high += mantissa + (uint64_t(1) << count_at);
    }
  }

  //! Empties all bins into `s`, whose grid may be coarser than that of `T` if all numbers were on it.
  template <class Grid> void flush(exact_state<Grid>& s) {
    constexpr uint32_t top = (1u << f::exponent_bits) - 1;
    constexpr int below = Grid::lowest - exact_grid<T>::lowest;
    for (uint32_t k = 0; k < static_cast<uint32_t>(count); ++k) {
      slot& t = table[k];
      if (t.high == 0) continue;
      uint64_t const deposits = t.high >> count_at, sum = t.high & ((uint64_t(1) << count_at) - 1);
      uint32_t const e = k & top;
      bool const negative = k > top;
      bool any = sum != 0;
      if constexpr (wide) any = any || t.low != 0;
      if (e == top) {
        s.flags = join_flags(s.flags, exact_number | (any        ? exact_nan
                                                      : negative ? exact_minus_infinity
                                                                 : exact_plus_infinity));
      } else if (e == 0 && !any) {
        s.flags = join_flags(s.flags, negative ? exact_minus_zero : exact_number);
      } else {
        s.flags = join_flags(s.flags, exact_number);
        uint64_t const ones = e != 0 ? deposits : 0;
        if constexpr (wide) {
          uint64_t const upper =
              sum + (ones << (f::mantissa_bits - 32)) + (t.low >> 32); // in units of 2^32; below 2^45
          uint64_t low = (upper << 32) | static_cast<uint32_t>(t.low), high = upper >> 32;
          int position = static_cast<int>(e != 0 ? e - 1 : 0) - below;
          if (position < 0) { // at most by the mantissa's length; the bits that go are zero
            low = (low >> -position) | (high << (64 + position));
            high >>= -position;
            position = 0;
          }
          add_shifted<3>(s, static_cast<uint32_t>(position), low, high, negative);
        } else {
          static_assert(below == 0);
          add_shifted<2>(s, e != 0 ? e - 1 : 0, sum + (ones << f::mantissa_bits), 0, negative);
        }
      }
      t = slot{};
    }
  }
};

//! Deposits the numbers with the codes code(0) .. code(n - 1) of `T`. Neighbours go to different tables, so that equal exponents do not wait for each
//! other. 16 KiB of stack for float, 128 KiB for double.
template <class T, class Grid, class Code> void deposit_by_bins(exact_state<Grid>& s, uint64_t n, Code const& code) {
  constexpr int tables = exact_bins<T>::wide ? 2 : 4;
  exact_bins<T> bins[tables]{};
  for (uint64_t i = 0; i < n;) {
    uint64_t const end = n - i < exact_bins<T>::capacity ? n : i + exact_bins<T>::capacity;
    for (; end - i >= 4; i += 4) {
      bins[0].add(code(i));
      bins[1 % tables].add(code(i + 1));
      bins[2 % tables].add(code(i + 2));
      bins[3 % tables].add(code(i + 3));
    }
    for (; i < end; ++i) bins[0].add(code(i));
    for (auto& b : bins) b.flush(s);
  }
}

} // namespace isobit::inline bits1::detail
#endif
