// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host program that needs the headers only.
#include <isobit/reduce.hpp>
#include <isobit/version.hpp>

#include <cstdio>

int main() {
  float x[1000];
  for (int i = 0; i < 1000; ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  float const one = isobit::reduce(isobit::host(), x, 1000);
  float const other = isobit::reduce(isobit::thread{}, x, 1000);
  std::printf("isobit %d.%d, bits %d: %a %a\n", ISOBIT_VERSION_MAJOR, ISOBIT_VERSION_MINOR, isobit::bits_version, one,
              other);
  return isobit::to_bits(one) == isobit::to_bits(other) && one > 7.48f && one < 7.49f ? 0 : 1;
}
