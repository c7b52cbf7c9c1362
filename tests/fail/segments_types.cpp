// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a segmented reduction writes the accumulator's result type, or a narrower float from float
#include <isobit/segments.hpp>

void sums(float const* x, unsigned const* offsets, double* out) {
  isobit::segmented_reduce(isobit::host(), x, 10, offsets, 3, out);
}
