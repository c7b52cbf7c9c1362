// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernels on the CPU for several numbers of rows, block widths and grids, and compares with the host.
#include <isobit/simt/cuda.hpp>

#include "rms_norm.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  int const most = 257, cols = 96;
  float const eps = 1e-6f;
  std::size_t const n = std::size_t(most) * cols;
  std::vector<isobit::bf16> x(n), dy(n), y(n), expected(n);
  std::vector<float> weight(cols), scale(most), expected_scale(most), dweight(cols);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = isobit::encode<isobit::bf16>(float(std::sin(double(i))));
    dy[i] = isobit::encode<isobit::bf16>(float(std::cos(double(3 * i))));
  }
  for (int i = 0; i < cols; ++i) weight[std::size_t(i)] = 1 + float(i) / 64;

  for (int r = 0; r < most; ++r) { // the host's rows, one by one
    auto const* row = &x[std::size_t(r) * cols];
    float const s = inverse_rms(isobit::reduce(isobit::host(), cols, isobit::map(row, square{})), cols, eps);
    expected_scale[std::size_t(r)] = s;
    for (int i = 0; i < cols; ++i)
      expected[std::size_t(r) * cols + std::size_t(i)] =
          isobit::encode<isobit::bf16>(isobit::mul(isobit::mul(isobit::decode(row[i]), s), weight[std::size_t(i)]));
  }

  int different = 0;
  for (int rows : {1, 255, 256, 257})
    for (unsigned width : {32u, 100u, 256u}) {
      std::memset(static_cast<void*>(y.data()), 0xff, n * sizeof y[0]);
      isobit::simt::launch(rows < 5 ? 1u : 7u, width, rms_norm, x.data(), weight.data(), y.data(), scale.data(), rows,
                           cols, eps);
      different += std::memcmp(y.data(), expected.data(), std::size_t(rows) * cols * sizeof y[0]) != 0;
      different += std::memcmp(scale.data(), expected_scale.data(), std::size_t(rows) * sizeof(float)) != 0;
    }
  std::printf("rms_norm: rows keep their bits beside 0 to 256 others: %s\n", different == 0 ? "yes" : "NO");

  weight_gradient const load{x.data(), dy.data(), scale.data(), cols};
  std::vector<float> expected_dweight(cols);
  isobit::reduce_columns(isobit::host(), isobit::fixed_rows(1, most), cols, load, to_array{expected_dweight.data()});
  using space = isobit::column_workspace<float>;
  std::vector<double> memory(space::bytes(most, 1, cols) / sizeof(double) + 4);
  for (unsigned grid : {1u, 3u, 9u}) {
    void* const at = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16);
    isobit::simt::launch(grid, 64u, rms_norm_dweight, load, std::uint64_t(most), space::at(at, most, 1, cols),
                         dweight.data());
    different += std::memcmp(dweight.data(), expected_dweight.data(), cols * sizeof(float)) != 0;
  }
  std::printf("gradient of the weight, any grid: same bits as on the host: %s\n", different == 0 ? "yes" : "NO");
  return different != 0;
}
