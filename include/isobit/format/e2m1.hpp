// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The 4-bit float E2M1 of OCP MX and NVFP4, alone and two to a byte.
#pragma once

#include <isobit/format/small_float.hpp>

namespace isobit::inline bits1 {

//! OCP E2M1: codes 0 to 7 are 0, 0.5, 1, 1.5, 2, 3, 4, 6; code 8 is the sign. One code in the low four bits of a byte; a
//! NaN encodes to 6, as in CUDA's `__nv_fp4_e2m1`.
struct e2m1 {
  uint8_t bits;
  static constexpr small_float_format format{2, 1, 1, specials::none};
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e2m1 const&, e2m1 const&) = default;
};

//! Two neighbouring codes in a byte, the even element in the low four bits (CUDA's `__nv_fp4x2_e2m1`, Transformer
//! Engine, torchao, vLLM, FlashInfer; llama.cpp pairs other elements).
struct e2m1x2 {
  uint8_t bits;
  ISOBIT_HD constexpr e2m1 even() const { return {static_cast<uint8_t>(bits & 15)}; }
  ISOBIT_HD constexpr e2m1 odd() const { return {static_cast<uint8_t>(bits >> 4)}; }
  //! Equality of bits.
  ISOBIT_HD friend constexpr bool operator==(e2m1x2 const&, e2m1x2 const&) = default;
};

//! The byte of two codes. Precondition: both are below 16.
ISOBIT_HD constexpr e2m1x2 pack(e2m1 even, e2m1 odd) { return {static_cast<uint8_t>(even.bits | odd.bits << 4)}; }

//! How many bytes a row of `cols` packed codes has. A row begins with a byte of its own; when `cols` is odd, the high
//! half of its last byte is 0.
ISOBIT_HD constexpr uint64_t packed_per_row(uint64_t cols) { return cols / 2 + cols % 2; }

} // namespace isobit::inline bits1
