// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs both kernels on the CPU in several geometries, compares with the host's quantisation, and reads the codes back.
#include <isobit/simt/cuda.hpp>

#include "nvfp4_weights.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  std::size_t const rows = 48, cols = 64, n = rows * cols;
  std::vector<float> w(n), back(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = float(std::sin(double(i * i)) * (i % 97 == 0 ? 0.4 : 0.05));

  nvfp4_recipe const recipe{isobit::from_bits<float>(isobit::amax<nvfp4_recipe>(isobit::host(), w.data(), n))};
  std::vector<isobit::e2m1x2> codes(n / 2), expected_codes(n / 2);
  std::vector<isobit::e4m3> scales(n / 16), expected_scales(n / 16);
  isobit::quantize(isobit::host(), recipe, w.data(), rows, cols, expected_codes.data(), expected_scales.data());

  int different = 0;
  for (unsigned grid : {1u, 3u, 8u})
    for (unsigned width : {32u, 100u, 256u}) {
      unsigned largest = 0;
      std::memset(codes.data(), 0xff, codes.size());
      isobit::simt::launch(grid, width, largest_magnitude, w.data(), n, &largest);
      isobit::simt::launch(grid, width, quantize_weights, w.data(), n, &largest, codes.data(), scales.data());
      different += largest != isobit::to_bits(recipe.tensor_amax);
      different += std::memcmp(codes.data(), expected_codes.data(), codes.size()) != 0;
      different += std::memcmp(scales.data(), expected_scales.data(), scales.size()) != 0;
    }
  isobit::dequantize(isobit::host(), recipe, codes.data(), scales.data(), rows, cols, back.data());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    error += std::pow(double(back[i]) - double(w[i]), 2);
    size += std::pow(double(w[i]), 2);
  }
  std::printf("nvfp4_weights: %zu floats in %zu bytes, relative error %.3f; same bytes as on the host: %s\n", n,
              codes.size() + scales.size(), std::sqrt(error / size), different == 0 ? "yes" : "NO");
  return different != 0 || !(error < 0.04 * size);
}
