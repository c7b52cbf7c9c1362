// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A storage of float cannot hold the states of a reduction over double.
// expect: isobit: the block's storage must hold the accumulator's states
#include <isobit/reduce.hpp>

double sum(isobit::block<256>::storage<float>& memory, double const* x, int n) {
  return isobit::reduce(isobit::block(memory), n, [=](int i) { return x[i]; });
}
