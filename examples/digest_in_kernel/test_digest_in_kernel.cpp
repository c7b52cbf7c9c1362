// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU in several geometries, and compares with the digest of the finished array on the host;
// then flips one bit.
#include <isobit/simt/cuda.hpp>

#include "digest_in_kernel.cuh"

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  std::size_t const n = 4000, bytes = n * sizeof(float);
  std::vector<float> x(n), before(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = float(std::sin(double(i))), before[i] = float(std::cos(double(i)));
    expected[i] = isobit::fma(0.3f, x[i], before[i]);
  }
  auto const digest = isobit::digest(isobit::host(), expected.data(), bytes);

  int different = 0;
  for (unsigned grid : {1u, 7u, 16u})
    for (unsigned width : {32u, 100u, 256u}) {
      std::vector<float> y = before;
      std::vector<isobit::digest_sum> sums(grid);
      isobit::simt::launch(grid, width, axpy_with_digest, 0.3f, x.data(), y.data(), n, sums.data());
      isobit::digest_sum whole;
      for (std::size_t b = grid; b-- > 0;) whole += sums[b];
      different += isobit::finish_digest(whole, bytes) != digest;
    }
  expected[1234] = isobit::from_bits<float>(isobit::to_bits(expected[1234]) ^ 1);
  bool const seen = isobit::digest(isobit::host(), expected.data(), bytes) != digest;
  std::printf("digest_in_kernel: the digest of the array in every geometry: %s; a flipped bit is seen: %s\n",
              different == 0 ? "yes" : "NO", seen ? "yes" : "NO");
  return different != 0 || !seen;
}
