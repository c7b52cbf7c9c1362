// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scale of an OCP MX block: a power of two in 8 bits.
#pragma once

#include <isobit/bits/cast.hpp>

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

} // namespace isobit::inline bits1
