// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel as text, and what it must give, from the host.
#pragma once
#include <isobit/reduce.hpp>

#include <cstddef>
#include <vector>

inline char const row_norms_text[] = R"cuda(
#include <isobit/reduce.hpp>

// out[r] = square root of the sum over row r of x^2; one block for each row, at most Block threads wide
template <int Block> __global__ void row_norms(float const* x, float* out, int columns) {
  __shared__ typename isobit::block<Block>::template storage<float> memory;
  auto block = isobit::block(memory);
  float const* const row = x + isobit::size_t(blockIdx.x) * columns;
  float const squares = isobit::reduce(block, columns, [=](int i) { return isobit::mul(row[i], row[i]); });
  if (block.thread_rank() == 0) out[blockIdx.x] = isobit::sqrt(squares);
}
)cuda";

inline std::vector<float> row_norms_on_host(std::vector<float> const& x, int columns) {
  std::vector<float> out;
  for (std::size_t start = 0; start < x.size(); start += std::size_t(columns)) {
    float const* const row = x.data() + start;
    out.push_back(
        isobit::sqrt(isobit::reduce(isobit::host(), columns, [=](int i) { return isobit::mul(row[i], row[i]); })));
  }
  return out;
}
