// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Two numbers that are to be multiplied.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! What a load gives to an accumulator of products (`sum_of_products`, `exact_dot`), which decides how a * b is rounded.
template <class T> struct factors {
  T a;
  T b;
};

} // namespace isobit::inline bits1
