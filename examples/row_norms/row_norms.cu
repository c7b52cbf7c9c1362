// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on a GPU and compares it bit for bit with the CPU. Exit status 77: no GPU here.
#include "row_norms.cuh"

#include <cstdio>
#include <cstring>
#include <vector>

static float host_norm(float const* row, int cols) {
  return isobit::sqrt(isobit::reduce(isobit::host(), cols, [=](int i) { return isobit::mul(row[i], row[i]); }));
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("no GPU here: skipped"), 77;

  int const rows = 37, cols = 1000;
  std::vector<float> x(rows * cols), norms(rows);
  for (int i = 0; i < rows * cols; ++i) x[i] = float(i % 1013 - 500) / 64;

  float *d_x = nullptr, *d_norms = nullptr;
  cudaMalloc(&d_x, x.size() * sizeof(float));
  cudaMalloc(&d_norms, norms.size() * sizeof(float));
  cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);

  int different = 0;
  for (int width : {1, 32, 96, 100, 256}) {
    row_norms<<<rows, width>>>(d_x, d_norms, cols);
    cudaError_t const error = cudaMemcpy(norms.data(), d_norms, norms.size() * sizeof(float), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return std::printf("%s\n", cudaGetErrorString(error)), 1;
    for (int r = 0; r < rows; ++r) {
      float const host = host_norm(&x[r * cols], cols);
      different += std::memcmp(&norms[r], &host, sizeof host) != 0;
    }
  }
  cudaFree(d_x), cudaFree(d_norms);
  std::printf("row_norms on the GPU: same bits as on the host: %s\n", different == 0 ? "yes" : "NO");
  return different != 0;
}
