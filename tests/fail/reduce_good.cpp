// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the cases beside this one should have been.
// expect: compiles
#include <isobit/reduce.hpp>

double sum(isobit::block<256>::storage<double>& memory, double const* x, int n) {
  return isobit::reduce(isobit::block(memory), n, [=](int i) { return x[i]; });
}
float product(float const* x) {
  return isobit::reduce<isobit::lanes<4>>(isobit::thread(), 10, [=](int i) { return x[i]; },
                                          [](float a, float b) { return isobit::mul(a, b); });
}
isobit::tile<16> t;
