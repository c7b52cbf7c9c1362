// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the elements of the load do not convert to the accumulator's input
#include <isobit/algo/products.hpp>

auto f(float const* x) { return isobit::reduce(isobit::thread(), x, 10, isobit::extrema<float>{}); }
