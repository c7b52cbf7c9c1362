// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The 6-bit float E3M2 of OCP MX.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E3M2. One code in the low six bits of a byte; a NaN encodes to
//! the largest number, as in CUDA's `__nv_fp6_e3m2`.
struct e3m2 {
  uint8_t bits;
  static constexpr small_float_format format{3, 2, 3, specials::none};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e3m2 const&, e3m2 const&) = default;
};

} // namespace isobit::inline bits1
