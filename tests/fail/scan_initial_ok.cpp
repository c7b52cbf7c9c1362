// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/scan.hpp>
void f(float const* x, float* out) { isobit::exclusive_scan(isobit::host(), x, 8, out, isobit::plain<float>{}, 1.5f); }
