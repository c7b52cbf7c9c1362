// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A split of n indices over ranks. Any other split gives the same bits; this one is even.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The half-open range of indices [first, last).
struct index_range {
  uint64_t first = 0, last = 0;
  ISOBIT_HD constexpr uint64_t size() const { return last - first; }
  ISOBIT_HD constexpr bool empty() const { return first == last; }
};

//! The part of [0, n) that `rank` of `ranks` holds when it is split evenly: the first n % ranks ranks hold one index
//! more. Ranks in rising order hold adjacent ranges; with more ranks than indices the last ones are empty.
//! Preconditions: rank < ranks.
ISOBIT_HD constexpr index_range rank_range(uint64_t n, uint64_t rank, uint64_t ranks) {
  uint64_t const each = n / ranks, more = n % ranks;
  uint64_t const first = rank * each + (rank < more ? rank : more);
  return {first, first + each + (rank < more ? 1 : 0)};
}

} // namespace isobit::inline bits1
