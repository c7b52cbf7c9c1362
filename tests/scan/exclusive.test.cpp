// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exclusive scans of arrays on the host: vector registers, in place, signs of zero, narrow elements.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/group/threads.hpp>

#include <limits>

using namespace scan_test;

TEST_CASE_TEMPLATE("arrays on vector registers, in place as well", T, float, double) {
  std::vector<T> x(3001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(order_test::float_at(i));
  auto const check = [&](auto const& acc, std::size_t at, std::size_t n) {
    auto const load = [&](std::uint64_t i) { return x[at + i]; };
    std::vector<T> excl(n), from(n), out(n);
    T const first = T(0.1);
    isobit::exclusive_scan(isobit::thread{}, n, load, [&](std::uint64_t i, T r) { excl[i] = r; }, acc);
    isobit::exclusive_scan(isobit::thread{}, n, load, [&](std::uint64_t i, T r) { from[i] = r; }, acc, first);
    isobit::exclusive_scan(host(), x.data() + at, n, out.data(), acc);
    CHECK(bits_equal(out, excl));
    isobit::exclusive_scan(host(), x.data() + at, n, out.data(), acc, first);
    CHECK(bits_equal(out, from));
    isobit::exclusive_scan(host(isobit::threads(2), 256), x.data() + at, n, out.data(), acc, first);
    CHECK(bits_equal(out, from));
    std::vector<T> same(x.begin() + static_cast<std::ptrdiff_t>(at), x.begin() + static_cast<std::ptrdiff_t>(at + n));
    isobit::exclusive_scan(host(), same.data(), n, same.data(), acc);
    CHECK(bits_equal(same, excl));
  };
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n : {1u, 255u, 256u, 257u, 511u, 1024u, 2990u})
      for (std::size_t at : {0u, 3u}) {
        check(plain<T>{}, at, n);
        check(compensated<T>{}, at, n);
      }
    x[700] = std::numeric_limits<T>::infinity();
    x[900] = -std::numeric_limits<T>::infinity();
    x[1100] = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t i = 0; i < 300; ++i) x[i] = T(-0.0);
  }
}

TEST_CASE("signs of zero: nothing is padded, an initial value is an operand") {
  std::vector<float> const x(3, -0.f);
  std::vector<float> out(3);
  isobit::exclusive_scan(host(), x.data(), 3, out.data());
  CHECK(bits_equal(out, std::vector<float>{0.f, -0.f, -0.f})); // the sum of nothing is +0
  isobit::exclusive_scan(host(), x.data(), 3, out.data(), plain<float>{}, -0.f);
  CHECK(bits_equal(out, std::vector<float>{-0.f, -0.f, -0.f}));
  isobit::exclusive_scan(host(), x.data(), 3, out.data(), plain<float>{}, 0.f);
  CHECK(bits_equal(out, std::vector<float>{0.f, 0.f, 0.f}));
  int const counts[] = {5, 2, 3, 1};
  int sums[4] = {};
  isobit::exclusive_scan(host(), counts, 4, sums);
  CHECK(std::vector<int>(sums, sums + 4) == std::vector<int>{0, 5, 7, 10});
}

TEST_CASE("narrow elements: the carry stays float, the initial value is decoded") {
  std::vector<isobit::bf16> x(5000, isobit::encode<isobit::bf16>(1.f)), out(5000);
  isobit::exclusive_scan(host(), x.data(), x.size(), out.data(), isobit::detail::plain_sum{},
                         isobit::encode<isobit::bf16>(1.f));
  CHECK(isobit::decode(out[0]) == 1.f);
  CHECK(isobit::decode(out[4999]) == 4992.f); // 5000 rounded once
}
