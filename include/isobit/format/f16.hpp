// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! IEEE 754 binary16.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! IEEE 754 binary16 (CUDA's `__half`): 11 significant bits, largest 65504, smallest 2^-24.
struct f16 {
  uint16_t bits;
  static constexpr small_float_format format{5, 10, 15, specials::ieee};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(f16 const&, f16 const&) = default;
};

} // namespace isobit::inline bits1
