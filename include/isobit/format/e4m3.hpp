// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The 8-bit float E4M3 of OCP OFP8.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E4M3 (CUDA's `__nv_fp8_e4m3`): largest 448, smallest 2^-9, NaN 0x7f and 0xff, no infinity.
struct e4m3 {
  uint8_t bits;
  static constexpr small_float_format format{4, 3, 7, specials::one_nan};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e4m3 const&, e4m3 const&) = default;
};

} // namespace isobit::inline bits1
