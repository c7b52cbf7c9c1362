// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel, run on a GPU where there is one. Exit code 77: there is none, so that only its build was shown.
#include "row_sums.cuh"

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("built by nvcc; no GPU to run on\n");
    return 77;
  }
  int const rows = 3, columns = 777;
  std::vector<float> x(rows * columns), out(rows);
  for (int i = 0; i < rows * columns; ++i) x[std::size_t(i)] = 1.0f / static_cast<float>(i + 1);
  float *in = nullptr, *sums = nullptr;
  cudaMalloc(&in, x.size() * sizeof(float));
  cudaMalloc(&sums, out.size() * sizeof(float));
  cudaMemcpy(in, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  row_sums<<<rows, 96>>>(in, sums, columns);
  if (cudaMemcpy(out.data(), sums, out.size() * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    wrong += isobit::to_bits(out[std::size_t(r)]) !=
             isobit::to_bits(isobit::reduce(isobit::host(), x.data() + r * columns, columns));
  std::printf("%d of %d rows differ from the host's\n", wrong, rows);
  cudaFree(in);
  cudaFree(sums);
  return wrong;
}
