// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/reduce.hpp>

#include <cstdio>

int main() {
  float const x[] = {1e8f, 1.0f, -1e8f, 1.0f};
  float const sum = isobit::reduce(isobit::host(), x, 4); // (1e8 + 1) + (-1e8 + 1)
  std::printf("isobit: %g\n", static_cast<double>(sum));
  return isobit::is_zero(sum) ? 0 : 1;
}
