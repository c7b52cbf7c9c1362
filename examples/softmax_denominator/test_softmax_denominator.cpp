// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU for several numbers of rows, widths and grids; compares with the host, and the host with exp
// in double.
#include <isobit/simt/cuda.hpp>

#include "softmax_denominator.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  int const most = 257, cols = 130;
  std::vector<float> x(std::size_t(most) * cols), max(most), sum(most), expected_max(most), expected_sum(most);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 10 * float(std::sin(double(i * i % 1013)));
  double worst = 0;
  for (int r = 0; r < most; ++r) {
    auto const* row = &x[std::size_t(r) * cols];
    float const m = isobit::reduce(isobit::host(), row, cols, larger{});
    float const s = isobit::reduce(isobit::host(), cols, isobit::map(row, exp_below{m}));
    expected_max[std::size_t(r)] = m, expected_sum[std::size_t(r)] = s;
    double exact = 0;
    for (int i = 0; i < cols; ++i) exact += std::exp(double(row[i]) - double(m));
    worst = std::fmax(worst, std::fabs(double(s) / exact - 1));
  }
  int different = 0;
  for (int rows : {1, 255, 256, 257})
    for (unsigned width : {32u, 100u, 256u}) {
      isobit::simt::launch(rows < 5 ? 1u : 7u, width, softmax_denominator, x.data(), max.data(), sum.data(), rows,
                           cols);
      different += std::memcmp(max.data(), expected_max.data(), std::size_t(rows) * sizeof(float)) != 0;
      different += std::memcmp(sum.data(), expected_sum.data(), std::size_t(rows) * sizeof(float)) != 0;
    }
  std::printf("softmax denominators: rows keep their bits beside 0 to 256 others: %s\n", different == 0 ? "yes" : "NO");
  std::printf("largest relative error against double: %.1e\n", worst);
  return different != 0 || worst > 1e-6;
}
