// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The 8-bit float E5M2 of OCP OFP8.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E5M2 (CUDA's `__nv_fp8_e5m2`): largest 57344, smallest 2^-16, infinity 0x7c, NaN above it.
struct e5m2 {
  uint8_t bits;
  static constexpr small_float_format format{5, 2, 15, specials::ieee};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e5m2 const&, e5m2 const&) = default;
};

} // namespace isobit::inline bits1
