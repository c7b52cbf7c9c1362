// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs both kernels on the CPU, in blocks of several widths, and compares them bit for bit with the host.
#include <isobit/simt/cuda.hpp>

#include "own_operator.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  int const n = 1001;
  std::vector<step> steps(n);
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) {
    steps[i] = {1.0f - float(i % 17) / 1024, float(i % 13 - 6) / 8};
    x[i] = i % 10 == 3 ? std::nanf("") : float(i % 101 - 50) / 7;
  }
  step const host_step = isobit::reduce(isobit::host(), steps.data(), n, then{});
  float const host_mean = isobit::reduce(isobit::host(), x.data(), n, mean_of_numbers{});

  int different = 0;
  for (unsigned width : {1, 32, 96, 100, 256}) {
    step whole;
    isobit::simt::launch(1, width, run_recurrence, steps.data(), n, &whole);
    different += std::memcmp(&whole, &host_step, sizeof whole) != 0;
    float mean;
    isobit::simt::launch(1, width, mean_kernel, x.data(), n, &mean);
    different += std::memcmp(&mean, &host_mean, sizeof mean) != 0;
  }
  // The recurrence one step after the other rounds differently, but not far from it.
  float y = 0;
  for (step const& s : steps) y = s.scale * y + s.shift;
  bool const close = std::fabs(y - host_step.shift) < 1e-4f;

  std::printf("recurrence %.9g (step by step %.9g), mean %.9g\n", host_step.shift, y, host_mean);
  std::printf("own operator and accumulator: same bits as on the host: %s\n", different == 0 ? "yes" : "NO");
  return different != 0 || !close;
}
