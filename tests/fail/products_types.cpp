// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: dot needs two loads of the same floating-point type: float (or narrower) or double
#include <isobit/algo/products.hpp>

float f(float const* x, double const* y) { return isobit::dot(isobit::thread(), 10, x, y); }
