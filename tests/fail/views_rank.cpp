// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: row_of takes a view with two dimensions
#include <isobit/interop/views.hpp>

#include "../interop/md_double.hpp"

float x[8];
interop_test::md<float, 3> const cube{x, {2, 2, 2}, {{4, 2, 1}}};
auto row = isobit::row_of(cube, 0);
