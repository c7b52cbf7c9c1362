// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compensated sum: right values, error bound, special values at every position and across every bracketing.
#include <doctest/doctest.h>
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using isobit::compensated;
using isobit::plain;
using isobit::testing::bits_equal;

// The tree over [first, last), written as its definition: the left part is the largest power of two below the size.
template <class Acc, class T> typename Acc::state tree_state(T const* x, std::size_t n, Acc const& acc) {
  if (n == 1) return acc.lift(x[0]);
  std::size_t half = 1;
  while (half * 2 < n) half *= 2;
  return acc.combine(tree_state(x, half, acc), tree_state(x + half, n - half, acc));
}
template <class Acc, class T> T tree_sum(std::vector<T> const& x, Acc const& acc) {
  return x.empty() ? acc.empty() : acc.finish(tree_state(x.data(), x.size(), acc));
}
// The left fold.
template <class Acc, class T> T loop_sum(std::vector<T> const& x, Acc const& acc) {
  auto s = acc.lift(x[0]);
  for (std::size_t i = 1; i < x.size(); ++i) s = acc.combine(s, acc.lift(x[i]));
  return acc.finish(s);
}

#if defined(__SIZEOF_FLOAT128__)
using quad = __float128;
#else
using quad = long double; // 113 bits on aarch64
#endif

enum class kind { finite, plus_infinity, minus_infinity, nan };
template <class T> kind kind_of(T x) {
  if (isobit::is_nan(x)) return kind::nan;
  if (isobit::is_inf(x)) return isobit::sign_bit(x) ? kind::minus_infinity : kind::plus_infinity;
  return kind::finite;
}

template <class T> T infinity() { return std::numeric_limits<T>::infinity(); }

static_assert(isobit::accumulator<compensated<float>> && isobit::accumulator<compensated<double>>);
constexpr bool usable_in_constant_expressions() {
  compensated<float> const acc;
  auto const s = acc.combine(acc.combine(acc.lift(1e8f), acc.lift(1.f)), acc.combine(acc.lift(-1e8f), acc.lift(1.f)));
  return acc.finish(s) == 2.f;
}
static_assert(usable_in_constant_expressions());

std::vector<float> const case_b03 = {348.6652f,       8.2052361e17f,   -9.615448e24f,   3.4028235e38f,  8.3188725e21f,
                                     -1.86747077e11f, 2.2641698e-5f,   1.8981274e-15f,  -8.9130315e23f, 8.241963e-4f,
                                     -3.4028235e38f,  4.86208753e14f,  2.825404e25f,    9.7615254e-4f,  3.074054e-20f,
                                     1.870257e-19f,   -1.1672826e-14f, -8.2195184e-17f, 5.5520855e20f,  1.751082e-24f};

} // namespace

TEST_CASE("B03: twenty floats whose largest two cancel") {
  CHECK(isobit::to_bits(tree_sum(case_b03, compensated<float>{})) == 0x696b003au);
  CHECK(isobit::to_bits(loop_sum(case_b03, compensated<float>{})) == 0x696b003au);
  std::vector<double> const wide(case_b03.begin(), case_b03.end());
  CHECK(isobit::to_bits(tree_sum(wide, compensated<double>{})) == 0x452d600740039fd2ull);
  // Control: the plain sum is visibly wrong.
  CHECK(isobit::to_bits(tree_sum(case_b03, plain<float>{})) != 0x696b003au);
}

TEST_CASE("B04: 1e8, 1, -1e8, 1 is 2 in all 24 orders and over every bracketing") {
  float x[4] = {1e8f, 1.f, -1e8f, 1.f};
  int plain_right = 0;
  int order[4] = {0, 1, 2, 3};
  do {
    std::vector<float> const p = {x[order[0]], x[order[1]], x[order[2]], x[order[3]]};
    CHECK(tree_sum(p, compensated<float>{}) == 2.f);
    CHECK(loop_sum(p, compensated<float>{}) == 2.f);
    plain_right += tree_sum(p, plain<float>{}) == 2.f;
  } while (std::next_permutation(order, order + 4));
  CHECK(plain_right < 24);
}

TEST_CASE("B07: 1e8 and ten thousand ones; subnormal sums") {
  std::vector<float> x(10001, 1.f);
  x[0] = 1e8f;
  CHECK(loop_sum(x, compensated<float>{}) == 100010000.f);
  CHECK(tree_sum(x, compensated<float>{}) == 100010000.f);
  CHECK(loop_sum(x, plain<float>{}) == 1e8f);
  std::vector<float> const tiny(4, 0x1p-128f);
  CHECK(bits_equal(tree_sum(tiny, compensated<float>{}), 0x1p-126f));
}

TEST_CASE("B02: 250000 times 0.1 is 25000") {
  std::vector<double> const x(250000, 0.1);
  CHECK(tree_sum(x, compensated<double>{}) == 25000.0);
  CHECK(loop_sum(x, compensated<double>{}) == 25000.0);
  CHECK(loop_sum(x, plain<double>{}) != 25000.0);
}

TEST_CASE("B01: fractional parts of multiples of pi") {
  std::vector<float> x(1000000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const v = double(i) * 3.14159265358979323846;
    x[i] = static_cast<float>(v - std::floor(v));
  }
  CHECK(tree_sum(x, compensated<float>{}) == 500018.5625f);
  CHECK(loop_sum(x, plain<float>{}) != 500018.5625f);
}

TEST_CASE_TEMPLATE("B08: special values keep the class of the plain sum, wherever they stand", T, float, double) {
  T const inf = infinity<T>();
  T const nan = std::numeric_limits<T>::quiet_NaN();
  T const big = std::numeric_limits<T>::max();
  T const most = big / 2 + big / 4;
  auto const check = [](std::vector<T> const& x, kind wanted) {
    INFO("n = ", x.size());
    CHECK(kind_of(tree_sum(x, compensated<T>{})) == wanted);
    CHECK(kind_of(loop_sum(x, compensated<T>{})) == wanted);
  };
  check({T(1), inf, T(-1)}, kind::plus_infinity);
  check({-inf, T(1), T(2), T(3)}, kind::minus_infinity);
  check({inf, T(0)}, kind::plus_infinity);
  check({inf, inf}, kind::plus_infinity);
  check({most, most}, kind::plus_infinity);
  check({inf, T(4), -inf}, kind::nan);
  check({nan, T(1)}, kind::nan);

  // Each one and each pair at every position of sizes around the ragged ends of the tree.
  T const special[] = {inf, -inf, nan, big, -big, most, -most};
  int seen[4] = {0, 0, 0, 0};
  for (std::size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 31u, 33u}) {
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p; q < n; ++q)
        for (T a : special)
          for (T b : special) {
            std::vector<T> x(n);
            for (std::size_t i = 0; i < n; ++i) x[i] = T(0.1) * T(int(i % 7) - 3);
            x[p] = a;
            x[q] = b;
            auto const wanted = kind_of(tree_sum(x, plain<T>{}));
            auto const got = kind_of(tree_sum(x, compensated<T>{}));
            ++seen[static_cast<int>(wanted)];
            REQUIRE(got == wanted);
            REQUIRE(kind_of(loop_sum(x, compensated<T>{})) == kind_of(loop_sum(x, plain<T>{})));
            // The error part is finite whatever happened: states can be stored and merged.
            REQUIRE(isobit::is_finite(tree_state(x.data(), n, compensated<T>{}).error));
          }
  }
  for (int s : seen) CHECK(s > 0);
  // A NaN result is the one canonical NaN.
  CHECK(isobit::to_bits(tree_sum(std::vector<T>{inf, -inf}, compensated<T>{})) == isobit::float_fields<T>::quiet_nan);
}

TEST_CASE_TEMPLATE("finite numbers at the edge of overflow", T, float, double) {
  T const big = std::numeric_limits<T>::max();
  T const ulp = big - std::nextafter(big, T(0));
  // The one pair for which TwoSum overflows although the sum does not.
  for (T y : {T(-1.5) * ulp, T(-ulp), T(-0.5) * ulp, T(0.25) * ulp}) {
    CHECK(isobit::is_finite(tree_sum(std::vector<T>{y, big}, compensated<T>{})));
    CHECK(isobit::is_finite(tree_sum(std::vector<T>{big, y}, compensated<T>{})));
    CHECK(bits_equal(tree_sum(std::vector<T>{y, big}, compensated<T>{}), tree_sum(std::vector<T>{y, big}, plain<T>{})));
  }
  // The plain partial sums decide: tree order overflows here, and the opposite infinities meet.
  CHECK(kind_of(tree_sum(std::vector<T>{big, big, -big, -big}, compensated<T>{})) == kind::nan);
  CHECK(tree_sum(std::vector<T>{big, -big, big, -big}, compensated<T>{}) == T(0));
}

TEST_CASE_TEMPLATE("B10: zeros keep their sign", T, float, double) {
  for (std::size_t n : {1u, 2u, 3u, 31u, 33u, 1000u}) {
    std::vector<T> x(n, T(-0.0));
    CHECK(isobit::to_bits(tree_sum(x, compensated<T>{})) == isobit::float_fields<T>::sign);
    CHECK(isobit::to_bits(loop_sum(x, compensated<T>{})) == isobit::float_fields<T>::sign);
    x[n / 2] = T(0);
    CHECK(isobit::to_bits(tree_sum(x, compensated<T>{})) == 0);
  }
  CHECK(isobit::to_bits(tree_sum(std::vector<T>{}, compensated<T>{})) == 0);
}

TEST_CASE("error bound against quadruple precision, and the control that the plain sum breaks it") {
  std::mt19937_64 random(1);
  auto const trial = [&](auto tag, std::size_t n, int spread, auto const& acc) {
    using T = decltype(tag);
    std::vector<T> x(n);
    quad exact = 0, magnitude = 0;
    for (auto& v : x) {
      double const m = double(int64_t(random() >> 11) - (int64_t(1) << 52)) / double(int64_t(1) << 52);
      v = static_cast<T>(std::ldexp(m, int(random() % unsigned(spread)) - spread / 2));
    }
    // Half of the vectors nearly cancel.
    if (random() % 2)
      for (std::size_t i = 1; i < n; i += 2) x[i] = -x[i - 1] * (random() % 8 ? T(1) : T(1.000001));
    for (T v : x) {
      exact += v;
      magnitude += v < 0 ? -(quad)v : (quad)v;
    }
    quad const u = std::numeric_limits<T>::epsilon() / 2;
    quad const h = std::ceil(std::log2(double(n)));
    quad const error = (quad)tree_sum(x, acc) - exact;
    quad const size = exact < 0 ? -exact : exact;
    return (error < 0 ? -error : error) <= u * size + 3 * h * h * u * u * magnitude;
  };
  int plain_within = 0;
  for (int t = 0; t < 2000; ++t) {
    std::size_t const n = 2 + random() % 700;
    REQUIRE(trial(1.f, n, 24, compensated<float>{}));
    REQUIRE(trial(1.0, n, 40, compensated<double>{}));
    plain_within += trial(1.f, n, 24, plain<float>{});
  }
  CHECK(plain_within < 1500);
}

TEST_CASE("the sum part has the bits of the plain sum") {
  std::mt19937 random(2);
  for (int t = 0; t < 200; ++t) {
    std::vector<float> x(1 + random() % 300);
    for (auto& v : x) v = float(random()) * 0x1p-31f - 1.f;
    CHECK(bits_equal(tree_state(x.data(), x.size(), compensated<float>{}).sum, tree_sum(x, plain<float>{})));
  }
}
