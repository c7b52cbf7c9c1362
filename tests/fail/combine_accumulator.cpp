// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: gather_combine needs an accumulator of floats
#include <isobit/combine.hpp>

void combine(isobit::combine_map<int, int> const& map, float const* x, double* out) {
  isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<float>{x, 4}, 4, out, isobit::plain<double>{});
}
