// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU in several geometries, and compares with the activation followed by the host's cast.
#include <isobit/simt/cuda.hpp>

#include "mxfp8_activation.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  std::size_t const rows = 19, cols = 100, n = rows * cols, blocks = rows * isobit::blocks_per_row<mxfp8_recipe>(cols);
  std::vector<isobit::bf16> gate(n), up(n);
  std::vector<float> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    gate[i] = isobit::encode<isobit::bf16>(float(4 * std::sin(double(i))));
    up[i] = isobit::encode<isobit::bf16>(float(std::cos(double(3 * i)) * std::exp2(double(i % 13))));
    y[i] = activation(gate[i], up[i]);
  }
  gate[150] = isobit::encode<isobit::bf16>(INFINITY); // its block's scale becomes NaN, and no other's
  y[150] = activation(gate[150], up[150]);
  std::vector<isobit::e4m3> codes(n), expected_codes(n);
  std::vector<isobit::e8m0> scales(blocks), expected_scales(blocks);
  isobit::quantize(isobit::host(), mxfp8_recipe{}, y.data(), rows, cols, expected_codes.data(), expected_scales.data());

  int different = 0, nan_scales = 0;
  for (unsigned grid : {1u, 5u})
    for (unsigned width : {8u, 64u, 256u}) {
      std::memset(codes.data(), 0, n);
      std::memset(scales.data(), 0, blocks);
      isobit::simt::launch(grid, width, activate_and_cast, gate.data(), up.data(), rows, cols, codes.data(),
                           scales.data());
      different += std::memcmp(codes.data(), expected_codes.data(), n) != 0;
      different += std::memcmp(scales.data(), expected_scales.data(), blocks) != 0;
    }
  for (isobit::e8m0 s : scales) nan_scales += isobit::is_nan(s);
  std::vector<float> back(n);
  isobit::dequantize(isobit::host(), mxfp8_recipe{}, codes.data(), scales.data(), rows, cols, back.data());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (std::isfinite(back[i])) error += std::pow(double(back[i]) - double(y[i]), 2), size += std::pow(double(y[i]), 2);
  std::printf("mxfp8_activation: same codes and scales as the cast after it: %s; %d block of NaNs, as meant\n",
              different == 0 ? "yes" : "NO", nan_scales);
  return different != 0 || nan_scales != 1 || !(error < 0.002 * size);
}
