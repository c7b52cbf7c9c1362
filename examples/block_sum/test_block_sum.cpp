// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU with several block widths and schedules, and compares with the host's sums.
#include <isobit/simt/cuda.hpp>

#include "block_sum.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

int main() {
  int const rows = 3, cols = 1000;
  std::vector<float> x(std::size_t(rows) * cols), sums(rows), expected(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(std::sin(double(i)));
  int loops = 0; // rows on which a loop over the elements gives other bits
  for (std::size_t r = 0; r < std::size_t(rows); ++r) {
    float const* const row = &x[r * cols];
    expected[r] = isobit::reduce(isobit::host(), row, cols);
    float const loop = std::accumulate(row, row + cols, 0.0f);
    loops += std::memcmp(&loop, &expected[r], sizeof loop) != 0;
  }

  int different = 0;
  for (unsigned width : {1u, 32u, 100u, 128u, 256u})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      isobit::simt::launch({.grid = {unsigned(rows)}, .block = {width}, .seed = seed}, block_sum, x.data(), cols,
                           sums.data());
      different += std::memcmp(sums.data(), expected.data(), rows * sizeof(float)) != 0;
    }
  std::printf("block_sum: %.9g %.9g %.9g; same bits in every block width: %s\n", expected[0], expected[1], expected[2],
              different == 0 ? "yes" : "NO");
  return different != 0 || loops == 0;
}
