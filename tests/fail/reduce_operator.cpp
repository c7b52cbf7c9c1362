// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: reduce needs an accumulator, or a binary operator over the element type
#include <isobit/reduce.hpp>

float sum(float const* x) {
  return isobit::reduce(isobit::thread(), 10, [=](int i) { return x[i]; }, [](float only) { return only; });
}
