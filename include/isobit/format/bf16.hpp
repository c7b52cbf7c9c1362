// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! bfloat16.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! bfloat16 (CUDA's `__nv_bfloat16`): the upper half of a float, 8 significant bits.
struct bf16 {
  uint16_t bits;
  static constexpr small_float_format format{8, 7, 127, specials::ieee};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(bf16 const&, bf16 const&) = default;
};

} // namespace isobit::inline bits1
