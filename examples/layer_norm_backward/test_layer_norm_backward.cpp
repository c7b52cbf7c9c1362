// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs both kernels on the CPU for several numbers of rows, grids and widths, over memory full of NaNs, and compares
// with one tree over all rows on the host.
#include <isobit/simt/cuda.hpp>

#include "layer_norm_backward.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  std::size_t const most = 1000, cols = 40;
  std::vector<isobit::bf16> x(most * cols), dy(most * cols);
  std::vector<float> mean(most), scale(most);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = isobit::encode<isobit::bf16>(float(std::sin(double(i)) * 3));
    dy[i] = isobit::encode<isobit::bf16>(float(std::cos(double(7 * i))));
  }
  for (std::size_t r = 0; r < most; ++r) {
    mean[r] = isobit::div(isobit::reduce(isobit::host(), &x[r * cols], cols), float(cols));
    scale[r] = 0.5f + float(r % 7) / 8;
  }
  norm_gradient const g{x.data(), dy.data(), mean.data(), scale.data(), cols};

  int different = 0;
  for (std::size_t rows : {std::size_t(1), std::size_t(64), std::size_t(65), most}) {
    std::vector<float> dweight(cols), dbias(cols), expected_dweight(cols), expected_dbias(cols);
    for (std::size_t c = 0; c < cols; ++c) {
      expected_dweight[c] = isobit::reduce(isobit::host(), rows, [=](std::size_t r) { return g.weight(r, c); });
      expected_dbias[c] = isobit::reduce(isobit::host(), rows, [=](std::size_t r) { return g.bias(r, c); });
    }
    std::size_t const slots = (rows + rows_of_slot - 1) / rows_of_slot;
    for (unsigned grid : {1u, 3u, 16u})
      for (unsigned width : {32u, 100u}) {
        std::vector<float> memory(slots * 2 * cols, std::nanf(""));
        auto const parts = isobit::private_slots<float>::at(memory.data(), slots, 2 * cols);
        isobit::simt::launch(grid, width, sum_rows, g, rows, parts);
        isobit::simt::launch(grid, width, merge_rows, parts, dweight.data(), dbias.data());
        different += std::memcmp(dweight.data(), expected_dweight.data(), cols * sizeof(float)) != 0;
        different += std::memcmp(dbias.data(), expected_dbias.data(), cols * sizeof(float)) != 0;
      }
    if (rows == most) std::printf("dweight[0] = %.9g, dbias[0] = %.9g\n", dweight[0], dbias[0]);
  }
  std::printf("layer_norm_backward: same bits in every grid, and on the host: %s\n", different == 0 ? "yes" : "NO");
  return different != 0;
}
