// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Stochastic rounding to a narrow float: integers only, the random bits are an argument.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! `x * 2^power`, rounded to one of its two neighbours in the format: away from zero with a probability equal to the
//! distance from the lower one, in units of the distance between the two. `random`: 32 uniform random bits.
//!
//! Exact on representable values, whatever the bits. The probability is exact, but for numbers below 2^-9 of the
//! format's smallest, where it is rounded down to a multiple of 2^-32 of the smallest. Saturates: numbers beyond the
//! largest, and infinities, become the largest with their sign. A NaN becomes `format.nan()`. Zeros keep their signs.
template <small_float To>
ISOBIT_HD constexpr To encode_stochastic(float x, uint32_t random, int power = 0) {
  using fields = float_fields<float>;
  constexpr small_float_format f = To::format;
  constexpr int dropped = fields::mantissa_bits - f.mantissa_bits;
  using bits = decltype(To::bits);

  uint32_t const magnitude = magnitude_bits(x);
  if (magnitude > fields::exponent) return To{static_cast<bits>(f.nan())};
  uint32_t const sign = sign_bit(x) ? f.sign() : 0;
  if (magnitude == 0) return To{static_cast<bits>(sign)};

  bool const subnormal = magnitude <= fields::mantissa;
  uint32_t const normal = subnormal ? to_bits(static_cast<float>(magnitude)) : magnitude;
  int const moved = subnormal ? fields::bias + fields::mantissa_bits - 1 : 0;
  uint32_t const significand = (normal & fields::mantissa) | (fields::mantissa + 1);
  int const target = static_cast<int>(normal >> fields::mantissa_bits) - moved + power + f.bias - fields::bias;
  int const below = target < 1 ? 1 - target : 0;
  int const shift = dropped + (below < 64 - dropped ? below : 64 - dropped);

  // The fraction that is lost, as a fixed-point number of 32 bits.
  uint64_t const wide = significand;
  uint64_t const whole = shift < 32 ? wide >> shift : 0;
  uint64_t const lost = shift < 32 ? wide & ((uint64_t(1) << shift) - 1) : wide;
  uint64_t const fraction = shift <= 32 ? lost << (32 - shift) : shift < 64 ? lost >> (shift - 32) : 0;

  uint32_t const base = target < 1 ? 0 : static_cast<uint32_t>(target - 1);
  uint32_t code = static_cast<uint32_t>(whole) + (base << f.mantissa_bits) + (random < fraction);
  if (magnitude == fields::exponent || target > (1 << f.exponent_bits) || code > f.largest()) code = f.largest();
  return To{static_cast<bits>(code | sign)};
}

} // namespace isobit::inline bits1
