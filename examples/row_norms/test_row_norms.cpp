// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the kernel without a GPU: an ordinary g++ program runs it on the CPU, thread by thread.
#include <isobit/simt/cuda.hpp> // __global__, __shared__, blockIdx, ... for a host compiler

#include "row_norms.cuh"

#include <cstdio>
#include <cstring>
#include <vector>

static float host_norm(float const* row, int cols) {
  return isobit::sqrt(isobit::reduce(isobit::host(), cols, [=](int i) { return isobit::mul(row[i], row[i]); }));
}

int main() {
  int const rows = 37, cols = 1000;
  std::vector<float> x(rows * cols), norms(rows);
  for (int i = 0; i < rows * cols; ++i) x[i] = float(i % 1013 - 500) / 64;

  int different = 0;
  for (unsigned width : {1, 32, 96, 100, 256}) {
    isobit::simt::launch(rows, width, row_norms, x.data(), norms.data(), cols);
    for (int r = 0; r < rows; ++r) {
      float const host = host_norm(&x[r * cols], cols);
      different += std::memcmp(&norms[r], &host, sizeof host) != 0;
    }
  }
  std::printf("row_norms on the CPU: same bits as on the host: %s\n", different == 0 ? "yes" : "NO");
  return different != 0;
}
