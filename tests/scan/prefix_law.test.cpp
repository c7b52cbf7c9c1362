// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The prefix law against `reduce`: at every i for n up to 5000, at random i up to 10^7; sizes past 2^31 by generated
// elements.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/group/threads.hpp>

#include <cstdlib>

using namespace scan_test;

TEST_CASE("every prefix of 5000 elements has the bits of the reduction") {
  auto const x = floats(5000);
  std::vector<double> const d(x.begin(), x.end());
  auto const check = [](auto const& values, auto const& acc) {
    auto const out = host_scan(values, acc);
    for (std::size_t i = 0; i < values.size(); ++i)
      REQUIRE(bits_equal(out[i], isobit::reduce(host(), values.data(), i + 1, acc)));
  };
  check(x, plain<float>{});
  check(x, compensated<float>{});
  check(d, plain<double>{});
  // Control: summed from the left, most prefixes have other bits.
  auto const out = host_scan(x);
  float sum = 0;
  int differ = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum = isobit::add(sum, x[i]);
    differ += !bits_equal(out[i], sum);
  }
  CHECK(differ > 1000);
}

TEST_CASE("random prefixes of 10^7 elements, one thread and many, in place and not") {
  auto x = floats(10'000'000);
  auto const out = host_scan(x); // around the caches
  std::vector<float> many(x.size());
  isobit::inclusive_scan(host(isobit::threads(3)), x.data(), x.size(), many.data());
  CHECK(bits_equal(out, many));
  order_test::dice dice(3);
  for (int k = 0; k < 60; ++k) {
    auto const i = k == 0 ? x.size() - 1 : dice(0, x.size() - 1);
    REQUIRE(bits_equal(out[i], isobit::reduce(host(), x.data(), i + 1)));
  }
  isobit::inclusive_scan(host(), x.data(), x.size(), x.data());
  CHECK(bits_equal(x, out));
}

TEST_CASE("more than 2^31 generated elements: one 1 beyond 2^31 (long: ISOBIT_EXHAUSTIVE)") {
  if (std::getenv("ISOBIT_EXHAUSTIVE") == nullptr) return;
  std::uint64_t const n = (std::uint64_t(1) << 31) + 7, at = (std::uint64_t(1) << 31) + 5;
  std::uint64_t wrong = 0, stored = 0;
  isobit::inclusive_scan(
      host(), n, [=](std::uint64_t i) { return std::uint32_t(i == at); },
      [&](std::uint64_t i, std::uint32_t r) { wrong += r != std::uint32_t(i >= at), ++stored; });
  CHECK(wrong == 0);
  CHECK(stored == n);
}
