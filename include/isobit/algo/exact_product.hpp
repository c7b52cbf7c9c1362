// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The recipe of exact dot products: `dot<exact_product>(g, n, x, y)`.
#pragma once

#include <isobit/accum/exact.hpp>
#include <isobit/algo/products.hpp>

namespace isobit::inline bits1 {

//! The recipe "multiply exactly, add exactly, round once" (`exact_dot`): the same bits in any order.
struct exact_product {
  template <class T> using accumulator = exact_dot<T>;
  using multiply = fused_product::multiply;
};

} // namespace isobit::inline bits1
