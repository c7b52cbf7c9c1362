// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compensated sum: -Ofast removes the compensation from the textbook's loop, and changes nothing in isobit's.
#include <isobit.hpp>

#include <cstdio>
#include <vector>

float textbook(std::vector<float> const& x) {
  float sum = 0.0f, lost = 0.0f;
  for (float v : x) {
    float const y = v - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum;
}

int main() {
  std::vector<float> x(1 << 20, 0.1f);
  double exact = 0.0;
  for (float v : x) exact += v; // exact: 21 bits more are needed, and there are 29
  std::printf("exact    %.3f\n", exact);
  std::printf("textbook %.3f\n", static_cast<double>(textbook(x)));
  std::printf("isobit   %.3f\n",
              static_cast<double>(isobit::reduce(isobit::host(), x.data(), x.size(), isobit::compensated<float>{})));
}
