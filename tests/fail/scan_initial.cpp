// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the initial value of a scan is an element, or a state of the accumulator
#include <isobit/scan.hpp>
struct other {};
void f(float const* x, float* out) {
  isobit::exclusive_scan(isobit::host(), x, 8, out, isobit::plain<float>{}, other{});
}
