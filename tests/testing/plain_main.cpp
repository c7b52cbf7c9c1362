// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates in a plain program. With the argument `control`, the gate must fail and the program return 1.
#include <isobit/testing/bits_equal.hpp>

#include <iostream>

int main(int count, char**) {
  auto const v = isobit::testing::bits_equal(0.0f, count > 1 ? -0.0f : 0.0f);
  std::cout << v << '\n';
  return v ? 0 : 1;
}
