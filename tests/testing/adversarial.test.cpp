// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/accum/compensated.hpp>
#include <isobit/algo/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace testing = isobit::testing;
using isobit::from_bits;
using isobit::uint64_t;

namespace {

constexpr bool same(testing::philox_block a, testing::philox_block b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
}

// Random123's kat_vectors, philox4x32 with 10 rounds.
static_assert(same(testing::philox4x32_10({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
static_assert(same(testing::philox4x32_10({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u),
                   {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
static_assert(same(testing::philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
                   {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));

} // namespace

TEST_CASE("permutations are permutations") {
  for (uint64_t n : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    for (uint64_t seed : {0, 1, 2}) {
      std::vector<bool> seen(n, false);
      uint64_t moved = 0;
      for (uint64_t i = 0; i < n; ++i) {
        uint64_t const p = testing::permutation{seed, n}(i);
        REQUIRE(p < n);
        CHECK_FALSE(seen[p]);
        seen[p] = true;
        moved += p != i;
      }
      if (n > 16) CHECK(moved > n / 2);
    }
  }
  CHECK(testing::permutation{1, uint64_t(1) << 40}(12345) < uint64_t(1) << 40);
}

TEST_CASE("cancellation: the exact sum is what it says, the condition number near what was asked for") {
  for (int const wanted : {10, 24, 60, 100}) {
    for (uint64_t const n : {uint64_t(3), uint64_t(4), uint64_t(101), uint64_t(1000)}) {
      testing::cancellation<float> const g{7, n, wanted};
      auto x = testing::elements(g, n);
      double const achieved = std::log2(g.condition());
      CHECK(achieved > wanted - 1.5);
      CHECK(achieved < wanted + 1.5);
      // Pairs cancel exactly once they are sorted by magnitude; what is left is the sum.
      std::sort(x.begin(), x.end(), [](float a, float b) {
        return isobit::magnitude_bits(a) != isobit::magnitude_bits(b)
                   ? isobit::magnitude_bits(a) > isobit::magnitude_bits(b)
                   : isobit::to_bits(a) < isobit::to_bits(b);
      });
      float sum = 0;
      for (float const v : x) sum += v;
      CHECK(testing::bits_equal(sum, g.exact_sum()));
    }
  }
  CHECK(testing::cancellation<double>{1, 1, 50}.condition() == 1.0);
}

TEST_CASE("cancellation is as hard as it says: a plain sum loses everything, a compensated one does not") {
  testing::cancellation<float> const g{0, 1001, 40};
  auto const x = testing::elements(g, 1001);
  float const exact = g.exact_sum();
  float const plain = isobit::reduce(isobit::host(), x.data(), 1001);
  float const compensated = isobit::reduce(isobit::host(), x.data(), 1001, isobit::compensated<float>{});
  CHECK(std::abs(plain - exact) > 100 * std::abs(exact));
  CHECK(std::abs(compensated - exact) < 0.05f * std::abs(exact));
}

TEST_CASE("order-sensitive: permutations of wide exponents have other sums") {
  testing::wide_exponents<float> const g{5};
  std::vector<float> sums;
  for (uint64_t seed = 0; seed < 20; ++seed)
    sums.push_back(isobit::reduce(isobit::host(), uint64_t(500), testing::permute(g, 500, seed)));
  std::sort(sums.begin(), sums.end());
  CHECK(std::unique(sums.begin(), sums.end()) - sums.begin() > 3);
}

TEST_CASE("classes are what they are called") {
  bool seen[5] = {};
  for (uint64_t i = 0; i < 400; ++i) {
    CHECK(isobit::magnitude_bits(testing::subnormals<float>{1}(i)) <= 0x7fffffu);
    CHECK(isobit::magnitude_bits(testing::subnormals<double>{1}(i)) <= 0xfffffffffffffu);
    CHECK(isobit::is_zero(testing::signed_zeros<float>{1}(i)));
    CHECK(isobit::to_bits(testing::signed_zeros<float>{1, true}(i)) == 0x80000000u);
    double const w = std::abs(testing::wide_exponents<double>{1, -300, 300}(i));
    CHECK((w >= 0x1p-300 && w < 0x1p301));
    float const c = testing::every_class<float>{1}(i);
    seen[isobit::is_nan(c)         ? 0
         : isobit::is_inf(c)       ? 1
         : isobit::is_zero(c)      ? 2
         : isobit::is_subnormal(c) ? 3
                                   : 4] = true;
  }
  CHECK(std::all_of(seen, seen + 5, [](bool s) { return s; }));
  auto const g = testing::place_special(testing::wide_exponents<float>{1}, 3, from_bits<float>(0x7fc00001u));
  CHECK(isobit::to_bits(g(3)) == 0x7fc00001u);
  CHECK(testing::bits_equal(g(4), testing::wide_exponents<float>{1}(4)));
}

TEST_CASE("a kernel makes the same bits") {
  uint64_t const n = 300;
  auto const check = [&](auto g) {
    auto const host = testing::elements(g, n);
    auto out = host;
    std::fill(out.begin(), out.end(), typename decltype(out)::value_type{});
    isobit::simt::launch(4, 33, [&] {
      uint64_t const step = 4 * 33;
      for (uint64_t i = isobit::machine::block_rank() * 33 + isobit::machine::thread_rank(); i < n; i += step)
        out[i] = g(i);
    });
    CHECK(testing::bits_equal(out, host));
  };
  check(testing::cancellation<float>{1, n, 30});
  check(testing::wide_exponents<double>{1});
  check(testing::every_class<float>{1});
  check(testing::permute(testing::subnormals<float>{1}, n, 9));
}

// The bits themselves: whoever changes a generator changes every baseline made with it.
TEST_CASE("golden bits") {
  CHECK(testing::philox_word(1, 2, 3) == 0x663eff4fde08bf52u);
  CHECK(isobit::to_bits(testing::wide_exponents<float>{1}(5)) == 0x3d6a47f2u);
  CHECK(isobit::to_bits(testing::cancellation<double>{1, 100, 40}(17)) == 0x3ffa46b551d6c172u);
  CHECK(testing::permutation{1, 1000}(17) == 158);
}
