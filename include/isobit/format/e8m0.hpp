// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scale of an OCP MX block: a power of two in 8 bits.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E8M0: byte b = 0..254 means 2^(b - 127); 255 is NaN. No sign, no zero, no infinity.
struct e8m0 {
  uint8_t bits;
  static constexpr uint8_t nan = 0xff;
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e8m0 const&, e8m0 const&) = default;
};

ISOBIT_HD constexpr bool is_nan(e8m0 s) { return s.bits == e8m0::nan; }

//! The scale's value, exactly: byte 0 is the subnormal 2^-127.
ISOBIT_HD constexpr float decode(e8m0 s) {
  uint32_t const b = s.bits;
  return from_bits<float>(b == e8m0::nan ? float_fields<float>::quiet_nan : b == 0 ? 0x00400000u : b << 23);
}

//! 2^(127 - b), exactly: byte 254 gives the subnormal 2^-127, byte 0 gives 2^127. NaN for NaN.
ISOBIT_HD constexpr float reciprocal(e8m0 s) {
  uint32_t const b = s.bits;
  return from_bits<float>(b == e8m0::nan ? float_fields<float>::quiet_nan : b == 254 ? 0x00400000u : (254 - b) << 23);
}

//! Which power of two a number between two of them becomes; there is no default. Libraries differ: CUDA offers `down`
//! (its round to zero) and `up`, ml_dtypes and torch round to the nearest.
enum class e8m0_rounding {
  down,   //!< the power of two below
  up,     //!< the one above
  nearest //!< the nearer one in value; of two that are equally near the larger (IEEE 754-2019 4.3.1, for one digit)
};

//! The power of two for |x|, in one rounding, from float or double. Zero and what is below 2^-127 become byte 0; NaN
//! becomes NaN; what rounds beyond 2^127, and infinity, become NaN, or byte 254 under `overflow::saturate`.
//! Source: `__nv_cvt_float_to_e8m0` and `__nv_cvt_double_to_e8m0`, with which `down` and `up` agree.
template <e8m0_rounding Rounding, overflow Overflow = overflow::to_special, ieee_float From>
ISOBIT_HD constexpr e8m0 encode_e8m0(From x) {
  using fields = float_fields<From>;
  using word = float_bits<From>;
  word const magnitude = magnitude_bits(x);
  if (magnitude > fields::exponent) return {e8m0::nan};
  if (magnitude == 0) return {0};
  // A subnormal number is an integer times a power of two; as a number of its own the integer is normal.
  bool const subnormal = magnitude <= fields::mantissa;
  word const normal = subnormal ? to_bits(static_cast<From>(magnitude)) : magnitude;
  int const moved = subnormal ? fields::bias + fields::mantissa_bits - 1 : 0;
  int const byte = static_cast<int>(normal >> fields::mantissa_bits) - moved - fields::bias + 127;
  word const rest = normal & fields::mantissa, half = (fields::mantissa + 1) / 2;
  bool const step = Rounding == e8m0_rounding::up        ? rest != 0
                    : Rounding == e8m0_rounding::nearest ? rest >= half
                                                         : false;
  int const rounded = byte + step;
  if (magnitude == fields::exponent || rounded > 254)
    return {Overflow == overflow::saturate ? uint8_t(254) : e8m0::nan};
  return {static_cast<uint8_t>(rounded < 0 ? 0 : rounded)};
}

} // namespace isobit::inline bits1
