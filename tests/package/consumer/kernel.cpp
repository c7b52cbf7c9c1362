// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel, run on the CPU.
#include <isobit/reduce.hpp>
#include <isobit/simt/cuda.hpp>

#include <cstdio>
#include <vector>

__global__ void row_sums(float const* x, float* out, int columns) {
  __shared__ isobit::block<128>::storage<float> memory;
  auto block = isobit::block(memory);
  float const sum = isobit::reduce(block, x + blockIdx.x * columns, columns);
  if (block.thread_rank() == 0) out[blockIdx.x] = sum;
}

int main() {
  int const rows = 3, columns = 777;
  std::vector<float> x(rows * columns), out(rows);
  for (int i = 0; i < rows * columns; ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  isobit::simt::launch(rows, 96, row_sums, x.data(), out.data(), columns);
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    wrong += isobit::to_bits(out[r]) != isobit::to_bits(isobit::reduce(isobit::host(), x.data() + r * columns, columns));
  std::printf("%d of %d rows differ\n", wrong, rows);
  return wrong;
}
