// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Integer helpers: logarithms and rounded division.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The number of bits that `x` takes: 0 for 0, floor(log2 x) + 1 otherwise.
ISOBIT_HD constexpr int bit_width(uint64_t x) {
#if defined(ISOBIT_ON_DEVICE)
  if (!__builtin_is_constant_evaluated()) return 64 - __clzll(static_cast<long long>(x));
#endif
  int width = 0;
  for (int step = 32; step > 0; step /= 2)
    if ((x >> step) != 0) {
      x >>= step;
      width += step;
    }
  return width + static_cast<int>(x);
}

//! `ceil(a / 2^level)`, for any `a`.
ISOBIT_HD constexpr uint64_t ceil_shift(uint64_t a, int level) {
  return (a >> level) + ((a & ((uint64_t(1) << level) - 1)) != 0 ? 1 : 0);
}

} // namespace isobit::inline bits1
