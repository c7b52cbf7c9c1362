// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel, run on the CPU.
#include <isobit/simt/cuda.hpp> // first: CUDA's words for a host compiler
#include "row_sums.cuh"

#include <cstdio>
#include <vector>

int main() {
  int const rows = 3, columns = 777;
  std::vector<float> x(rows * columns), out(rows);
  for (int i = 0; i < rows * columns; ++i) x[std::size_t(i)] = 1.0f / static_cast<float>(i + 1);
  isobit::simt::launch(rows, 96, row_sums, x.data(), out.data(), columns);
  int wrong = 0;
  for (int r = 0; r < rows; ++r)
    wrong += isobit::to_bits(out[std::size_t(r)]) !=
             isobit::to_bits(isobit::reduce(isobit::host(), x.data() + r * columns, columns));
  std::printf("%d of %d rows differ\n", wrong, rows);
  return wrong;
}
