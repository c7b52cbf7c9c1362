// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Integer helpers: logarithms and rounded division.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

// Without <bit>: NVRTC has none, and its libcu++ form costs more lines than these.

//! The position of the highest set bit of `x`, floor(log2 x); `x` must not be 0.
ISOBIT_HD constexpr int highest_bit(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return 63 - __clzll(static_cast<long long>(x));
#elif !defined(__CUDACC_RTC__)
  return 63 - __builtin_clzll(x);
#endif
  int at = 63;
  while ((x >> at & 1) == 0) --at;
  return at;
}

//! The position of the lowest set bit of `x`; `x` must not be 0.
ISOBIT_HD constexpr int lowest_bit(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return __ffsll(static_cast<long long>(x)) - 1;
#elif !defined(__CUDACC_RTC__)
  return __builtin_ctzll(x);
#endif
  int at = 0;
  while ((x >> at & 1) == 0) ++at;
  return at;
}

//! The number of bits that `x` takes: 0 for 0, floor(log2 x) + 1 otherwise.
ISOBIT_HD constexpr int bit_width(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return 64 - __clzll(static_cast<long long>(x)); // 64 zeros for 0
#endif
  return x == 0 ? 0 : highest_bit(x) + 1;
}

//! `ceil(a / 2^level)`, for any `a`.
ISOBIT_HD constexpr uint64_t ceil_shift(uint64_t a, int level) {
  return (a >> level) + ((a & ((uint64_t(1) << level) - 1)) != 0 ? 1 : 0);
}

} // namespace isobit::inline bits1
