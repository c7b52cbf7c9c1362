// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The random Hadamard transform of 16 numbers, in a fixed order of additions.
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/format/element.hpp>

namespace isobit::inline bits1 {

//! The signs of Transformer Engine's transform: bit i set where element i is negated.
inline constexpr uint16_t hadamard_signs = 0xd7e8;

namespace detail {
ISOBIT_HD constexpr void hadamard_butterflies(float (&x)[16]) {
  ISOBIT_UNROLL
  for (int step = 1; step < 16; step *= 2) {
    ISOBIT_UNROLL
    for (int i = 0; i < 16; ++i)
      if ((i & step) == 0) {
        float const a = x[i], b = x[i + step];
        x[i] = add(a, b);
        x[i + step] = sub(a, b);
      }
  }
  ISOBIT_UNROLL
  for (int i = 0; i < 16; ++i) x[i] = mul(x[i], 0.25f);
}
} // namespace detail

//! x becomes x * diag(signs) * H / 4, where H[i][j] = (-1)^popcount(i & j) is Sylvester's matrix: orthogonal.
//!
//! Order: the signs; then, for step 1, 2, 4, 8, every pair (i, i + step), i without the bit `step`, becomes (a + b, a - b);
//! then a quarter. Each addition is rounded to float, 64 of them; the quarter is exact unless the result is subnormal.
//! On integers below 2^20 everything is exact. Guarantee: target. Precondition on a host: the default floating-point
//! environment.
ISOBIT_HD constexpr void hadamard16(float (&x)[16], uint16_t signs = hadamard_signs) {
  ISOBIT_UNROLL
  for (int i = 0; i < 16; ++i)
    if ((signs >> i & 1) != 0) x[i] = neg(x[i]);
  detail::hadamard_butterflies(x);
}

//! The inverse: x * H / 4 * diag(signs), in the same order, the signs last. Exact where both directions are.
ISOBIT_HD constexpr void inverse_hadamard16(float (&x)[16], uint16_t signs = hadamard_signs) {
  detail::hadamard_butterflies(x);
  ISOBIT_UNROLL
  for (int i = 0; i < 16; ++i)
    if ((signs >> i & 1) != 0) x[i] = neg(x[i]);
}

//! `hadamard16`, and each result rounded to `To` (bf16, as Transformer Engine stores it) and back to float: a scale is to
//! be taken of these.
template <small_float To> ISOBIT_HD constexpr void hadamard16_as(float (&x)[16], uint16_t signs = hadamard_signs) {
  hadamard16(x, signs);
  ISOBIT_UNROLL
  for (int i = 0; i < 16; ++i) x[i] = decode(encode<To>(x[i]));
}

} // namespace isobit::inline bits1
