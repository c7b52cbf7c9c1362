// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The 6-bit float E2M3 of OCP MX.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E2M3. One code in the low six bits of a byte; a NaN encodes to
//! the largest number, as in CUDA's `__nv_fp6_e2m3`.
struct e2m3 {
  uint8_t bits;
  static constexpr small_float_format format{2, 3, 1, specials::none};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e2m3 const&, e2m3 const&) = default;
};

} // namespace isobit::inline bits1
