// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The work that is done for every tensor, the same on each target. A target (in host.cpp, simulated.cpp, gpu.cu) has
//! arrays of its own, copies between them and the host, and the five jobs: row sums and norms, a reduction, a scan of
//! every row, an MXFP8 copy, digests.
#pragma once

#include "matrix.hpp"
#include "outputs.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tour {

struct square {
  ISOBIT_HD float operator()(float x) const { return isobit::mul(x, x); }
};

struct larger {
  ISOBIT_HD float operator()(float a, float b) const { return isobit::max(a, b); }
};

//! Loads that compute: differences between two arrays that are never stored anywhere.
struct distance {
  float const *x, *y;
  ISOBIT_HD float operator()(std::uint64_t i) const { return isobit::abs(isobit::sub(x[i], y[i])); }
};
struct squared_distance {
  float const *x, *y;
  ISOBIT_HD float operator()(std::uint64_t i) const {
    float const d = isobit::sub(x[i], y[i]);
    return isobit::mul(d, d);
  }
};

//! `x` in the recipe's format and how far that is from `values`, which are the elements of `x` as floats.
template <class Recipe, class Target, class T>
mx_copy quantized(Target const& on, T const* x, float const* values, std::uint64_t rows, std::uint64_t cols,
                  std::string const& rule, std::vector<named_digests>& digests) {
  std::uint64_t const n = rows * cols;
  auto codes = on.template make<typename Recipe::element>(n);
  auto scales = on.template make<typename Recipe::scale>(rows * isobit::blocks_per_row<Recipe>(cols));
  auto copy = on.template make<float>(n);
  on.quantize(Recipe{}, x, rows, cols, codes.data(), scales.data());
  on.dequantize(Recipe{}, codes.data(), scales.data(), rows, cols, copy.data());
  digests.push_back({rule + " codes", on.digests(codes.data(), n)});
  digests.push_back({rule + " scales", on.digests(scales.data(), scales.size())});

  mx_copy result;
  for (auto const c : on.download(codes)) result.codes.push_back(c.bits);
  for (auto const s : on.download(scales)) result.scales.push_back(s.bits);
  result.largest_error = on.reduce(n, distance{values, copy.data()}, isobit::with_operator<float, larger>{});
  float const noise = on.reduce(n, squared_distance{values, copy.data()}, isobit::plain<float>{});
  float const signal = on.reduce(n, isobit::map(values, square{}), isobit::plain<float>{});
  result.relative_rms = isobit::is_zero(noise) ? 0.0f : isobit::sqrt(isobit::div(noise, signal));
  return result;
}

//! All outputs for `m`, computed by `on`.
template <class Target, class T> outputs compute(Target const& on, matrix<T> const& m) {
  std::uint64_t const rows = m.rows, cols = m.cols, n = rows * cols;
  auto const x = on.upload(m.elements);
  auto const offsets = on.upload(m.row_offsets());
  outputs result;

  result.sum = on.reduce(n, isobit::contiguous{x.data()}, isobit::plain<float>{});
  result.compensated_sum = on.reduce(n, isobit::contiguous{x.data()}, isobit::compensated<float>{});

  auto sums = on.template make<float>(rows), norms = on.template make<float>(rows);
  auto scans = on.template make<float>(n);
  on.sum_rows(x.data(), rows, cols, sums.data(), norms.data());
  on.scan_segments(x.data(), n, offsets.data(), rows, scans.data());
  result.row_sums = on.download(sums);
  result.row_norms = on.download(norms);
  result.row_scans = on.download(scans);

  result.digests = {{"input", on.digests(x.data(), n)},
                    {"row sums", on.digests(sums.data(), rows)},
                    {"row norms", on.digests(norms.data(), rows)},
                    {"row scans", on.digests(scans.data(), n)}};
  using floor = isobit::mxfp8<isobit::e4m3, isobit::mx::floor>;
  using rceil = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  auto const values = on.upload(m.values());
  result.floor = quantized<floor>(on, x.data(), values.data(), rows, cols, "floor", result.digests);
  result.rceil = quantized<rceil>(on, x.data(), values.data(), rows, cols, "rceil", result.digests);
  return result;
}

} // namespace tour
