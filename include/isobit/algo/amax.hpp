// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The largest magnitude of many numbers, by any group. An unsigned maximum of bits has no order: how the numbers are
//! shared out, to lanes, blocks, devices or ranks, cannot change it.
#pragma once

#include <isobit/algo/reduce.hpp>

namespace isobit::inline bits1 {

//! The greater of two magnitudes, as bits without sign; an operator for `reduce`, and for `max` over ranks.
struct larger_magnitude {
  ISOBIT_HD constexpr uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? b : a; }
};

//! The largest `Recipe::magnitude` of `load(0) .. load(n - 1)`, as the bits of a float: NaN above infinity above numbers,
//! and NaNs left out where the recipe ignores them. 0 for n = 0. `from_bits<float>(amax)` is what NVFP4's recipes take.
//! Every member of the group receives it; a `grid` receives a `grid_result`. Guarantee: order-free.
ISOBIT_CALLS_USER_CODE
template <class Recipe, class Group, stl::integral Index, class Load>
ISOBIT_HD auto amax(Group const& group, Index n, Load const& load) {
  return reduce(group, n, [&load](Index i) { return Recipe::magnitude(decode_element(load(i))); }, larger_magnitude{});
}

//! The same for an array of n elements.
template <class Recipe, class Group, class T, stl::integral Index>
ISOBIT_HD auto amax(Group const& group, T const* x, Index n) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    if (x == nullptr && n > 0) throw invalid_argument("amax", "x", "non-null when n > 0");
    if (reinterpret_cast<stl::uintptr_t>(x) % alignof(T) != 0)
      throw invalid_argument("amax", "x", "aligned to", alignof(T), "bytes");
  }
#endif
  return amax<Recipe>(group, n, [x](Index i) { return x[i]; });
}

} // namespace isobit::inline bits1
