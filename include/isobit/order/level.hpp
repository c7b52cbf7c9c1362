// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Levels of the tree as bit positions: a node of level `l` covers 2^l indices. Integer helpers without <bit>, because
//! NVRTC has no <bit> and its libcu++ form costs more lines than these.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1::detail {

//! The position of the lowest set bit of `x`; `x` must not be 0.
ISOBIT_HD constexpr int lowest_level(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return __ffsll(static_cast<long long>(x)) - 1;
#elif !defined(__CUDACC_RTC__)
  return __builtin_ctzll(x);
#endif
  int level = 0;
  while ((x >> level & 1) == 0) ++level;
  return level;
}

//! The position of the highest set bit of `x` (the whole part of log2 x); `x` must not be 0.
ISOBIT_HD constexpr int highest_level(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return 63 - __clzll(static_cast<long long>(x));
#elif !defined(__CUDACC_RTC__)
  return 63 - __builtin_clzll(x);
#endif
  int level = 63;
  while ((x >> level & 1) == 0) --level;
  return level;
}

//! The level of the root over `n` units: the smallest `l` with 2^l >= n. `n` must not be 0.
ISOBIT_HD constexpr int root_level(uint64_t n) { return n == 1 ? 0 : highest_level(n - 1) + 1; }

} // namespace isobit::inline bits1::detail
