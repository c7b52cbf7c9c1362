// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Count, mean, variance, range: right values, error, empty nodes, special values at every position, every group.
#include <doctest/doctest.h>

#include "everywhere.hpp"

#include <isobit/accum/moments.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace isobit;
using everywhere::bits_equal;
using everywhere::specification;

#if defined(__SIZEOF_FLOAT128__)
using quad = __float128;
#else
using quad = long double;
#endif
quad magnitude(quad x) { return x < 0 ? -x : x; }

template <class T> auto moments_of(std::vector<T> const& x) {
  return specification(x.size(), contiguous<T>{x.data()}, moments<T>{});
}
template <class T> auto range_of(std::vector<T> const& x) {
  return specification(x.size(), contiguous<T>{x.data()}, ranged_moments<T>{});
}
template <class T> T naive_variance(std::vector<T> const& x) {
  T s = 0, q = 0;
  for (T v : x) {
    s = add(s, v);
    q = add(q, mul(v, v));
  }
  T const n = static_cast<T>(x.size()), mean = div(s, n);
  return sub(div(q, n), mul(mean, mean));
}

} // namespace

TEST_SUITE("moments") {
  TEST_CASE("B13: a large mean does not cancel") {
    std::vector<float> const x{40000, 40001, 40002, 40003};
    auto const m = moments_of(x);
    CHECK(m.count == 4);
    CHECK(m.mean == 40001.5f);
    CHECK(m.mean_rest == 0.f);
    CHECK(m.variance == 1.25f);
    CHECK(m.sample_variance == div(5.f, 3.f));
    float const scale = div(1.f, isobit::sqrt(add(m.variance, 1e-5f)));
    float const expected[] = {-1.3416354f, -0.4472118f, 0.4472118f, 1.3416354f};
    for (int i = 0; i < 4; ++i) CHECK(std::abs(mul(sub(x[i], m.mean), scale) - expected[i]) < 2e-7f);
    CHECK(naive_variance(x) == -128.f); // control: the one-pass formula

    for (float base : {0.f, 100.f, 1000.f, 10000.f, 1449.5f}) {
      std::vector<float> row(16);
      for (int i = 0; i < 16; ++i) row[i] = base + float(i) * 1e-3f;
      auto const r = moments_of(row);
      quad mean = 0, squares = 0;
      for (float v : row) mean += v;
      mean /= 16;
      for (float v : row) squares += (v - mean) * (v - mean);
      CHECK(magnitude(r.variance - squares / 16) <= quad(0x1p-21) * squares / 16);
      CHECK(magnitude(quad(r.mean) + r.mean_rest - mean) <= quad(0x1p-24 * 0.016));
      float const inverse = div(1.f, isobit::sqrt(add(r.variance, 1e-5f)));
      float const first = mul(sub(sub(row[0], r.mean), r.mean_rest), inverse);
      if (base == 100 || base == 1000) CHECK(std::abs(first + 1.3415f) < 2e-4f);
      if (base == 10000) CHECK(std::abs(first + 1.3313f) < 1e-4f);
      // Control: without the rest of the mean the largest base is visibly off.
      if (base == 10000) CHECK(std::abs(mul(sub(row[0], r.mean), inverse) + 1.3313f) > 1e-2f);
      CHECK(everywhere::equal(16, contiguous<float>{row.data()}, moments<float>{}));
    }
  }

  TEST_CASE_TEMPLATE("error against quadruple precision, and a variance that is never negative", T, float, double) {
    std::mt19937_64 random(1);
    quad const u = std::numeric_limits<T>::epsilon() / 2;
    int naive_negative = 0;
    for (int t = 0; t < 2000; ++t) {
      std::size_t const n = 1 + random() % 400;
      T const base = std::ldexp(T(1) + T(random() % 1000) / 1000, int(random() % 16));
      std::vector<T> x(n);
      for (auto& v : x) v = t % 5 == 0 ? base : base + T(int64_t(random() % 2001) - 1000) / 1000;
      quad mean = 0, squares = 0, least = x[0], greatest = x[0];
      for (T v : x) {
        mean += v;
        if (v < least) least = v;
        if (v > greatest) greatest = v;
      }
      mean /= quad(n);
      for (T v : x) squares += (v - mean) * (v - mean);
      auto const m = moments_of(x);
      quad const h = std::ceil(std::log2(double(n))), variance = squares / quad(n);
      quad const E = h * (3 * u * (greatest - least) + 4 * u * u * greatest);
      REQUIRE(m.count == n);
      REQUIRE(magnitude(quad(m.mean) + m.mean_rest - mean) <= E);
      REQUIRE(magnitude(m.variance - variance) <= 10 * u * variance + E * quad(std::sqrt(double(h * variance))) + h * E * E);
      REQUIRE(m.variance >= 0);
      if (n > 1) REQUIRE(m.sample_variance >= m.variance);
      if (t % 5 == 0) REQUIRE(m.variance == 0); // equal elements: exactly none
      naive_negative += naive_variance(x) < 0;
    }
    CHECK(naive_negative > 50); // control
  }

  TEST_CASE_TEMPLATE("nodes without elements change nothing", T, float, double) {
    moments<T> const acc;
    auto const s = acc.combine(acc.lift(T(3)), acc.lift(T(5)));
    moments_state<T> const none{};
    CHECK(bits_equal(acc.combine(none, s), s));
    CHECK(bits_equal(acc.combine(s, none), s));
    auto const nothing = acc.finish(acc.combine(none, none));
    CHECK(nothing.count == 0);
    CHECK(to_bits(nothing.mean) == float_fields<T>::quiet_nan);
    CHECK(to_bits(nothing.variance) == float_fields<T>::quiet_nan);
    CHECK(to_bits(nothing.sample_variance) == float_fields<T>::quiet_nan);
    CHECK(bits_equal(nothing, acc.empty()));
    auto const one = acc.finish(acc.lift(T(-0.0)));
    CHECK(to_bits(one.mean) == float_fields<T>::sign);
    CHECK(one.variance == 0);
    for (std::size_t n : {2u, 3u, 7u, 1000u}) {
      std::vector<T> zeros(n, T(-0.0));
      CHECK(to_bits(moments_of(zeros).mean) == float_fields<T>::sign);
      zeros[n / 2] = T(0);
      CHECK(to_bits(moments_of(zeros).mean) == 0);
    }
    CHECK(is_nan(one.sample_variance));
    ranged_moments<T> const ranged;
    ranged_moments_state<T> const empty{};
    CHECK(bits_equal(ranged.combine(empty, ranged.lift(T(-2))), ranged.lift(T(-2))));
    CHECK(bits_equal(ranged.combine(ranged.lift(T(-2)), empty), ranged.lift(T(-2))));
    CHECK(is_nan(ranged.empty().min));
  }

  TEST_CASE_TEMPLATE("symmetry as documented", T, float, double) {
    moments<T> const acc;
    testing::wide_exponents<T> const x{4, -3, 3};
    for (uint64_t i = 0; i < 2000; ++i) {
      auto const a = acc.combine(acc.lift(x(4 * i)), acc.lift(x(4 * i + 1)));
      auto const b = acc.combine(acc.lift(x(4 * i + 2)), acc.lift(x(4 * i + 3)));
      auto const ab = acc.combine(a, b), ba = acc.combine(b, a);
      REQUIRE(ab.count == ba.count);
      REQUIRE(bits_equal(ab.squares, ba.squares));
    }
  }

  TEST_CASE_TEMPLATE("special values at every position", T, float, double) {
    T const inf = std::numeric_limits<T>::infinity(), nan = from_bits<T>(float_fields<T>::quiet_nan | 9);
    for (std::size_t n : {1u, 2u, 3u, 5u, 8u, 31u, 33u})
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = p; q < n; ++q)
          for (T a : {inf, -inf, nan})
            for (T b : {inf, -inf, nan, T(1)}) {
              std::vector<T> x(n);
              for (std::size_t i = 0; i < n; ++i) x[i] = T(0.5) * T(int(i % 7) - 3);
              x[p] = a;
              if (p != q) x[q] = b;
              auto const m = moments_of(x);
              T const sum = p != q && !is_finite(b) ? add(a, b) : a;
              REQUIRE(bits_equal(m.mean, canonical(sum)));
              REQUIRE(to_bits(m.variance) == float_fields<T>::quiet_nan);
              REQUIRE(m.count == n);
            }
  }

  TEST_CASE_TEMPLATE("finite inputs whose difference or squares overflow", T, float, double) {
    T const m = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    auto const far = moments_of(std::vector<T>{m, -m});
    CHECK(far.mean == 0);
    CHECK(far.variance == inf);
    auto const equal = moments_of(std::vector<T>(1000, m)); // a sum would overflow
    CHECK(equal.mean == m);
    CHECK(equal.variance == 0);
    auto const mixed = moments_of(std::vector<T>{m, -m, m, -m, 1, 2, 3});
    CHECK(is_finite(mixed.mean));
    CHECK(mixed.variance == inf);
    T const half = std::numeric_limits<T>::max() / 4;
    CHECK(moments_of(std::vector<T>{half, -half}).variance == inf); // delta is finite, its square is not
    // An infinity makes the variance NaN, whatever overflowed before.
    CHECK(is_nan(moments_of(std::vector<T>{m, -m, inf, 1}).variance));
  }

  TEST_CASE_TEMPLATE("the range", T, float, double) {
    auto const r = range_of(std::vector<T>{T(0), T(-0.0), T(3), T(-7), T(2)});
    CHECK(r.min == -7);
    CHECK(r.max == 3);
    auto const zeros = range_of(std::vector<T>{T(0), T(-0.0)});
    CHECK(to_bits(zeros.min) == float_fields<T>::sign);
    CHECK(to_bits(zeros.max) == 0);
    CHECK(is_nan(range_of(std::vector<T>{T(1), std::numeric_limits<T>::quiet_NaN(), T(2)}).min));
    auto const x = testing::elements(testing::wide_exponents<T>{3, -8, 8}, 777);
    auto const with = range_of(x);
    auto const without = moments_of(x);
    CHECK(bits_equal(with.mean, without.mean));
    CHECK(bits_equal(with.sample_variance, without.sample_variance));
  }

  TEST_CASE_TEMPLATE("every group gives the bits of the definition", T, float, double) {
    for (uint64_t n : {0, 1, 2, 5, 31, 33, 127, 129, 515, 1031}) {
      CAPTURE(n);
      auto const x = testing::elements(testing::wide_exponents<T>{n + 1, -10, 10}, n + 1);
      auto const y = testing::elements(testing::every_class<T>{n + 2}, n + 1);
      for (auto const* v : {&x, &y})
        for (int offset : {0, 1}) {
          CHECK(everywhere::equal(n, contiguous<T>{v->data() + offset}, moments<T>{}, n));
          CHECK(everywhere::equal(n, contiguous<T>{v->data() + offset}, ranged_moments<T>{}, n));
        }
    }
  }

  TEST_CASE_TEMPLATE("host: each set of vector instructions makes the nodes of the definition", T, float, double) {
    constexpr uint64_t count = 1024;
    int made = 0, left = 0;
    auto const check = [&]<class Isa>(Isa) {
      for (int kind = 0; kind < 8; ++kind) {
        auto x = testing::elements(testing::wide_exponents<T>{77, -30, 30}, count);
        testing::every_class<T> const any{5};
        if (kind == 1) x = std::vector<T>(count, T(-0.0));
        if (kind == 2) x = std::vector<T>(count, T(0.1f));
        if (kind == 3)
          for (auto& v : x) v = T(10000) + v * T(0x1p-40f);
        if (kind == 4) x[700] = from_bits<T>(float_fields<T>::exponent);
        if (kind == 5) x = testing::elements(testing::wide_exponents<T>{78, sizeof(T) == 4 ? 60 : 500, sizeof(T) == 4 ? 127 : 1023}, count);
        if (kind == 6)
          for (uint64_t i = 0; i < count; ++i) x[i] = is_finite(any(i)) ? any(i) : T(-0.0);
        if (kind == 7)
          for (uint64_t i = 0; i < count; i += 2) x[i] = T(-0.0);
        moments_state<T> node{};
        if (!Isa::template full_moments<count>(x.data(), node)) {
          ++left;
          continue;
        }
        ++made;
        auto const expected = interpret<tree>(count, contiguous<T>{x.data()}, moments<T>{});
        CAPTURE(kind);
        REQUIRE(node.count == expected.count);
        REQUIRE(bits_equal(node.mean, expected.mean));
        REQUIRE(bits_equal(node.mean_rest, expected.mean_rest));
        REQUIRE(bits_equal(node.squares, expected.squares));
        REQUIRE(bits_equal(node.squares_rest, expected.squares_rest));
      }
    };
    check(detail::isa_base{});
#if defined(ISOBIT_HAS_ISA_AVX2)
    if (detail::has_avx2()) check(detail::isa_avx2{});
#endif
    CHECK(made >= 5);
    CHECK(left >= 2); // the infinity, and squares that overflow
    for (uint64_t n : {1023, 1024, 1025, 3071, 5000})
      for (uint64_t at : {uint64_t(0), n / 2, n - 1, n}) {
        auto x = testing::elements(testing::wide_exponents<T>{n, -20, 20}, n + 1);
        x[at] = from_bits<T>(float_fields<T>::exponent | (n % 2));
        CHECK(bits_equal(reduce(host(), x.data(), n, moments<T>{}),
                         specification(n, contiguous<T>{x.data()}, moments<T>{})));
      }
  }

  TEST_CASE("B11: narrow elements") {
    std::vector<f16> const ones(65520, encode<f16>(1.f));
    auto const m = reduce(host(), ones.data(), ones.size(), moments<float>{});
    CHECK(m.mean == 1.f); // their sum is not a finite f16
    CHECK(m.variance == 0.f);
    std::vector<bf16> const many(70000, encode<bf16>(1.f));
    CHECK(reduce(host(), many.data(), many.size(), moments<float>{}).mean == 1.f);
  }

  TEST_CASE_TEMPLATE("the laws of an accumulator", T, float, double) {
    CHECK(testing::laws(moments<T>{}, testing::wide_exponents<T>{7}));
    CHECK(testing::laws(moments<T>{}, testing::every_class<T>{8}));
    CHECK(testing::laws(ranged_moments<T>{}, testing::every_class<T>{8}));
  }
}
