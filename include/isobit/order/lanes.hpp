// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `lanes<L>`: L interleaved trees, then one tree over them.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The canonical expression of WG21 P4016R0 with `L` lanes. Name: isobit.lanes.L.1.
//!
//! Element i belongs to lane i mod L. Each lane that has elements is reduced by `tree` over them; then the lanes'
//! results, lane 0 first, are reduced by `tree`. Lanes without elements are skipped.
//!
//!     L = 2, n = 7:   ((0 2)(4 6))((1 3) 5)
//!
//! Operands come in another order than the elements, so an operator that does not commute is not computed in index
//! order. `lanes<1>` is `tree`. The bits depend on L, which is therefore part of the type.
//! Cost: n - 1 combines, depth ceil(log2 ceil(n/L)) + ceil(log2 min(n, L)).
template <uint64_t L> struct lanes {
  static_assert(L >= 1, "isobit: lanes<L> needs at least one lane");
  static constexpr uint64_t count = L;
};

} // namespace isobit::inline bits1
