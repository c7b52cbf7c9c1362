// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch invariance (B05): a row's sum, sum of squares, extrema and moments have the same bits for every number of rows
// beside it, every block width and alignment; a sum whose order follows the block width has not.
#include "common.hpp"

#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/zip.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace {

using namespace segment_test;
using isobit::bf16;
using isobit::host;
using isobit::plain;

struct square {
  float operator()(float x) const { return isobit::mul(x, x); }
};

// Rows of bf16, at any offset from an aligned address.
template <class Load, class Acc>
std::vector<typename Acc::result> on_rows(Load const& load, uint64_t rows, uint64_t columns, Acc const& acc,
                                          uint32_t width, int level) {
  using result = typename Acc::result;
  workspace_memory<typename Acc::state> memory(rows * columns, rows, level);
  std::vector<result> out(rows);
  auto const store = [&](uint64_t s, result const& r) { out[s] = r; };
  simt::launch({.grid = {3}, .block = {width}, .seed = width},
               isobit::device::segmented_reduce_kernel<isobit::fixed_rows, Load, decltype(store), Acc>,
               isobit::fixed_rows(rows, columns), load, store, memory.get(), acc, nullptr);
  return out;
}

// Control: each thread adds up every width-th element, then the threads' sums are added.
float by_width(bf16 const* row, uint64_t columns, uint32_t width) {
  std::vector<float> sum(width, 0.0f);
  for (uint64_t i = 0; i < columns; ++i)
    sum[i % width] = isobit::add(sum[i % width], square{}(isobit::decode_element(row[i])));
  for (uint32_t step = width / 2; step > 0; step /= 2)
    for (uint32_t t = 0; t < step; ++t) sum[t] = isobit::add(sum[t], sum[t + step]);
  return sum[0];
}

} // namespace

TEST_SUITE("batch invariance") {
  TEST_CASE("B05: sums of squares of 1, 255, 256 and 257 rows of 4096") {
    uint64_t const columns = 4096;
    std::vector<bf16> x(257 * columns + 8);
    int different = 0;
    for (uint64_t offset : {0u, 1u, 3u}) {
      for (uint64_t r = 0; r < 257; ++r)
        for (uint64_t j = 0; j < columns; ++j)
          x[offset + r * columns + j] =
              isobit::encode<bf16>(static_cast<float>(std::sin(static_cast<double>(j + 37 * r))));
      std::vector<float> alone(257);
      for (uint64_t r = 0; r < 257; ++r)
        alone[r] = isobit::reduce(host(), columns, isobit::map(x.data() + offset + r * columns, square{}));
      if (offset == 0)
        for (uint64_t r = 0; r < 257; ++r)
          different += !bits_equal(by_width(&x[r * columns], columns, 1024), by_width(&x[r * columns], columns, 256));
      auto const load = isobit::map(x.data() + offset, square{});
      for (uint64_t rows : {1u, 255u, 256u, 257u}) {
        std::vector<float> out(rows);
        isobit::segmented_reduce(host(), isobit::fixed_rows(rows, columns), load,
                                 [&](uint64_t s, float v) { out[s] = v; });
        CHECK(std::equal(out.begin(), out.end(), alone.begin(), [](float a, float b) { return bits_equal(a, b); }));
      }
      for (uint64_t rows : {1u, 9u})
        for (uint32_t width : {32u, 100u, 256u}) {
          auto const out = on_rows(load, rows, columns, plain<float>{}, width, rows == 1 ? 9 : 12);
          CHECK(std::equal(out.begin(), out.end(), alone.begin(), [](float a, float b) { return bits_equal(a, b); }));
        }
    }
    CHECK(different > 0); // control: the width decides the bits of some of the 257 rows
  }

  TEST_CASE("extrema and moments of rows") {
    uint64_t const columns = 700;
    auto const x = wild(40 * columns, 3);
    isobit::moments<float> const acc;
    for (uint64_t rows : {1u, 7u, 40u}) {
      auto const out =
          on_rows(isobit::contiguous<float>{x.data()}, rows, columns, acc, rows == 7 ? 33 : 128, rows == 1 ? 6 : 12);
      isobit::extrema<float> const ends;
      auto const numbered = isobit::detail::as_load<uint64_t>(isobit::with_index(x.data()));
      auto const extremes = on_rows(numbered, rows, columns, ends, 96, 7);
      for (uint64_t r = 0; r < rows; ++r) {
        auto const expected = isobit::reduce(host(), x.data() + r * columns, columns, acc);
        CHECK(bits_equal(out[r].mean, expected.mean));
        CHECK(bits_equal(out[r].variance, expected.variance));
        auto const row = std::span(x).subspan(r * columns, columns);
        CHECK(extremes[r].max == *std::max_element(row.begin(), row.end()));
        CHECK(extremes[r].argmin / columns == r); // the index in the whole array
      }
    }
  }
}
