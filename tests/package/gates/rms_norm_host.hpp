// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <isobit/reduce.hpp>
#include <vector>

inline std::vector<float> rms_norm_host(std::vector<float> const& x, int columns) {
  std::vector<float> y;
  for (std::size_t r = 0; r < x.size() / columns; ++r) {
    float const* const row = x.data() + r * columns;
    float const squares =
        isobit::reduce(isobit::host(), columns, [=](int c) { return isobit::mul(row[c], row[c]); });
    float const mean = isobit::div(squares, float(columns));
    float const scale = isobit::div(1.0f, isobit::sqrt(isobit::add(mean, 1e-6f)));
    for (int c = 0; c < columns; ++c) y.push_back(isobit::mul(row[c], scale));
  }
  return y;
}
