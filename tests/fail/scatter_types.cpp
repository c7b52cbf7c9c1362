// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a scatter writes the accumulator's result type, or a narrower float from float
#include <isobit/scatter.hpp>

void scatter(void* w, int const* ids, float const* x, double* out) {
  isobit::scatter_reduce(isobit::host(), w, 100, ids, 10, x, 4, out, 3);
}
