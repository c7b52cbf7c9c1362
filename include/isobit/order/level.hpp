// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Levels of the tree as bit positions: a node of level `l` covers 2^l indices.
#pragma once

#include <isobit/bits/integer.hpp>

namespace isobit::inline bits1::detail {

//! The position of the lowest set bit of `x`; `x` must not be 0.
ISOBIT_HD constexpr int lowest_level(uint64_t x) { return lowest_bit(x); }

//! The position of the highest set bit of `x` (the whole part of log2 x); `x` must not be 0.
ISOBIT_HD constexpr int highest_level(uint64_t x) { return highest_bit(x); }

//! The level of the root over `n` units: the smallest `l` with 2^l >= n. `n` must not be 0.
ISOBIT_HD constexpr int root_level(uint64_t n) { return n == 1 ? 0 : highest_level(n - 1) + 1; }

} // namespace isobit::inline bits1::detail
