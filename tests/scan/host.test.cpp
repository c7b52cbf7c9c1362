// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on a host: every prefix against the definition of the tree; arrays on vector registers; public cases.
#include "../golden/p4016.hpp"
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/accum/compensated.hpp>
#include <isobit/group/threads.hpp>

#include <cmath>
#include <limits>
#include <numeric>

using namespace scan_test;

TEST_CASE("host and thread: every prefix of every length to 300, for every operator") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using result = typename std::remove_cvref_t<decltype(acc)>::result;
    std::vector<result> wanted;
    for (std::uint64_t i = 0; i < 300; ++i) wanted.push_back(prefix(i + 1, load, acc));
    for (std::uint64_t n = 0; n <= 300; ++n) {
      recorder<result> h(n), t(n);
      isobit::inclusive_scan(host(), n, load, h.store(), acc);
      isobit::inclusive_scan(isobit::thread{}, n, load, t.store(), acc);
      REQUIRE(h.once());
      REQUIRE(t.once());
      if (n == 0) continue;
      std::span const first(wanted.data(), n);
      REQUIRE(bits_equal(h.value, first));
      REQUIRE(bits_equal(t.value, first));
    }
  });
}

TEST_CASE("host: long arrays, one thread and executors, sampled prefixes") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using result = typename std::remove_cvref_t<decltype(acc)>::result;
    for (std::uint64_t n : {1023u, 1024u, 1025u, 4097u, 33333u, 100000u}) {
      recorder<result> one(n), many(n);
      isobit::inclusive_scan(host(), n, load, one.store(), acc);
      isobit::inclusive_scan(host(isobit::threads(3), 1000), n, load, many.store(), acc);
      REQUIRE(one.once());
      REQUIRE(many.once());
      REQUIRE(bits_equal(one.value, many.value));
      order_test::dice dice(n);
      for (int k = 0; k < 40; ++k) {
        auto const i = k == 0 ? n - 1 : dice(0, n - 1);
        REQUIRE(bits_equal(one.value[i], prefix(i + 1, load, acc)));
      }
    }
  });
}

TEST_CASE("the golden prefixes of P4016, and the control that std::inclusive_scan has other bits") {
  std::vector<float> x(golden::p4016::count);
  golden::p4016::generator next;
  for (auto& v : x) v = static_cast<float>(next());
  auto const out = host_scan(x);
  std::vector<float> peer(x.size());
  std::inclusive_scan(x.begin(), x.end(), peer.begin());
  int differs = 0;
  for (auto const& g : golden::p4016::prefix_sums) {
    CHECK(isobit::to_bits(out[g.n - 1]) == g.bits);
    CHECK(isobit::to_bits(isobit::reduce(host(), x.data(), g.n)) == g.bits);
    differs += isobit::to_bits(peer[g.n - 1]) != g.bits;
  }
  CHECK(differs > 4);
  std::vector<float> shared(x.size());
  isobit::inclusive_scan(host(isobit::threads(4)), x.data(), x.size(), shared.data());
  CHECK(bits_equal(shared, out));
  // In place.
  isobit::inclusive_scan(host(), x.data(), x.size(), x.data());
  CHECK(bits_equal(x, out));
}

TEST_CASE("B01 and B02: inner prefixes equal reductions; compensated totals are right") {
  std::vector<float> x(1000000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const v = double(i) * 3.14159265358979323846;
    x[i] = static_cast<float>(v - std::floor(v));
  }
  auto const plain_out = host_scan(x);
  auto const fine = host_scan(x, compensated<float>{});
  CHECK(fine.back() == 500018.5625f);
  order_test::dice dice(1);
  for (int k = 0; k < 300; ++k) {
    auto const i = k == 0 ? 38400 : dice(0, x.size() - 1);
    REQUIRE(bits_equal(plain_out[i], isobit::reduce(host(), x.data(), i + 1)));
    REQUIRE(bits_equal(fine[i], isobit::reduce(host(), x.data(), i + 1, compensated<float>{})));
  }
  CHECK(host_scan(std::vector<double>(250000, 0.1), compensated<double>{}).back() == 25000.0);
}

TEST_CASE("B08, B09, B10: special values in scans") {
  float const inf = std::numeric_limits<float>::infinity(), big = std::numeric_limits<float>::max();
  float const nan = isobit::from_bits<float>(isobit::float_fields<float>::quiet_nan);
  using list = std::vector<float>;
  CHECK(bits_equal(host_scan(list{-0.f, -0.f, 0.f, -0.f}), list{-0.f, -0.f, 0.f, 0.f}));
  CHECK(bits_equal(host_scan(list{inf, 4, -inf, 1}), list{inf, inf, nan, nan}));
  CHECK(bits_equal(host_scan(list{big, big, -big, -big}), list{big, inf, inf, nan}));
  // A special value at each position: what comes before is untouched, everything after has the class of the sum.
  for (std::size_t p = 0; p < 70; ++p) {
    auto x = floats(70);
    auto const before = host_scan(x);
    x[p] = inf;
    for (auto const& out : {host_scan(x), host_scan(x, compensated<float>{})})
      for (std::size_t i = p; i < 70; ++i) REQUIRE(isobit::to_bits(out[i]) == 0x7f800000u);
    auto const after = host_scan(x);
    for (std::size_t i = 0; i < p; ++i) REQUIRE(bits_equal(after[i], before[i]));
  }
}

TEST_CASE("B11: narrow inputs scan in float and are rounded once") {
  std::vector<isobit::f16> half(5000, isobit::encode<isobit::f16>(1.f)), half_out(5000);
  isobit::inclusive_scan(host(), half.data(), half.size(), half_out.data());
  CHECK(isobit::decode(half_out[4999]) == 5000.f);
  std::vector<isobit::bf16> brain(5000, isobit::encode<isobit::bf16>(1.f)), brain_out(5000);
  isobit::inclusive_scan(host(), brain.data(), brain.size(), brain_out.data());
  CHECK(isobit::decode(brain_out[4999]) == 4992.f);
  std::vector<float> wide(5000);
  isobit::inclusive_scan(host(), brain.data(), brain.size(), wide.data());
  CHECK(wide[4999] == 5000.f);
}

TEST_CASE("sizes past 2^32, by generated elements: the last prefixes of a chunk far out") {
  // scan_range continues from the node of everything before: here 2^33 ones, which an integer sum knows.
  isobit::counter<std::uint64_t> pending;
  constexpr int level = isobit::detail::scan_level<plain<std::uint64_t>>;
  pending.push(plain<std::uint64_t>{}, std::uint64_t(1) << 33, 33 - level);
  std::vector<std::uint64_t> seen;
  isobit::detail::scan_range(
      std::uint64_t(1) << 33, 5000, 0, isobit::detail::scan_form<false>{}, [](std::uint64_t) { return std::uint64_t(1); },
      [&](std::uint64_t i, std::uint64_t r) { seen.push_back(r - i); }, plain<std::uint64_t>{}, pending);
  CHECK(seen == std::vector<std::uint64_t>(5000, 1));
}
