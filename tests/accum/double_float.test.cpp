// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The double-word sum: right values, its error bound, overflow, special values at every position, every group.
#include <doctest/doctest.h>

#include "everywhere.hpp"

#include <isobit/accum/double_float.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <algorithm>
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
using quad = long double; // 113 bits on aarch64
#endif
quad magnitude(quad x) { return x < 0 ? -x : x; }

template <class T> T infinity() { return std::numeric_limits<T>::infinity(); }
template <class T> T largest() { return std::numeric_limits<T>::max(); }

template <class T> T sum(std::vector<T> const& x) {
  return specification(x.size(), contiguous<T>{x.data()}, double_float<T>{});
}

// The class of the result that IEEE addition gives when nothing finite overflows.
enum class kind { finite, plus_infinity, minus_infinity, nan };
template <class T> kind kind_of(T x) {
  if (is_nan(x)) return kind::nan;
  if (is_inf(x)) return sign_bit(x) ? kind::minus_infinity : kind::plus_infinity;
  return kind::finite;
}
template <class T> kind kind_of_inputs(std::vector<T> const& x) {
  T s = 0;
  for (T v : x)
    if (!is_finite(v)) s = add(s, v);
  return kind_of(s);
}

} // namespace

TEST_SUITE("double_float") {
  TEST_CASE("B03, B04, B07a, B07c") {
    std::vector<float> const b03{348.6652f,      8.2052361e17f, -9.615448e24f,   3.4028235e38f,    8.3188725e21f,
                                 -1.86747077e11f, 2.2641698e-5f, 1.8981274e-15f,  -8.9130315e23f,   8.241963e-4f,
                                 -3.4028235e38f,  4.86208753e14f, 2.825404e25f,   9.7615254e-4f,    3.074054e-20f,
                                 1.870257e-19f,   -1.1672826e-14f, -8.2195184e-17f, 5.5520855e20f,  1.751082e-24f};
    std::vector<double> const wide(b03.begin(), b03.end());
    CHECK(to_bits(sum(wide)) == 0x452d600740039fd2u);
    // In single precision the 3.4e38 leave 2^78 units of doubt: within the bound, which is not within an ulp.
    quad const off = magnitude(quad(sum(b03)) - quad(1.7756164845547208e25));
    CHECK(off <= quad(0x1p-24) * quad(1.8e25) + quad(4 * 5 * 0x1p-48) * quad(6.9e38));

    for (std::vector<float> x{1e8f, 1, -1e8f, 1};;) {
      CHECK(sum(x) == 2.f);
      if (!std::next_permutation(x.begin(), x.end())) break;
    }
    std::vector<float> ones(10001, 1.f);
    ones[0] = 1e8f;
    CHECK(sum(ones) == 100010000.f);
    CHECK(sum(std::vector<float>(4, 0x1p-128f)) == 0x1p-126f);
    // Control: the plain sum of the first is another number.
    std::vector<float> const y{1e8f, 1, -1e8f, 1};
    CHECK(specification(4, contiguous<float>{y.data()}, plain<float>{}) != 2.f);
  }

  TEST_CASE_TEMPLATE("the error bound against quadruple precision", T, float, double) {
    std::mt19937_64 random(1);
    quad const u = std::numeric_limits<T>::epsilon() / 2;
    int beyond_plain = 0, beyond_tighter = 0;
    for (int t = 0; t < 3000; ++t) {
      std::size_t const n = 2 + random() % 500;
      int const spread = sizeof(T) == 4 ? 30 : 12; // quad's 113 bits hold the exact sum
      std::vector<T> x(n);
      for (auto& v : x) {
        double const m = double(int64_t(random() >> 11) - (int64_t(1) << 52)) / double(int64_t(1) << 52);
        v = static_cast<T>(std::ldexp(m, int(random() % unsigned(spread)) - spread / 2));
      }
      if (t % 2) // nearly cancelling
        for (std::size_t i = 1; i < n; i += 2) x[i] = -x[i - 1] * (random() % 8 ? T(1) : T(1.000001));
      if (t % 4 == 3) std::shuffle(x.begin(), x.end(), random);
      quad exact = 0, all = 0;
      for (T v : x) {
        exact += v;
        all += magnitude(v);
      }
      quad const h = std::ceil(std::log2(double(n)));
      quad const bound = u * magnitude(exact) + 4 * h * u * u * all;
      REQUIRE(magnitude(quad(sum(x)) - exact) <= bound);
      beyond_plain += magnitude(quad(specification(n, contiguous<T>{x.data()}, plain<T>{})) - exact) > bound;
      // Control: against a bound 1/64 as large the check fails.
      beyond_tighter += magnitude(quad(sum(x)) - exact) > bound / 64;
    }
    CHECK(beyond_plain > 1000);
    CHECK(beyond_tighter > 1000);
  }

  TEST_CASE_TEMPLATE("a node is within 3u^2 of the sum of its children", T, float) {
    std::mt19937_64 random(3);
    double_float<T> const acc;
    quad const u2 = quad(0x1p-24) * quad(0x1p-24);
    quad worst = 0;
    auto const word = [&] {
      T const high = from_bits<T>((static_cast<uint32_t>(random()) & 0x807fffffu) | static_cast<uint32_t>(120u + random() % 14) << 23);
      T const low = high * T(0x1p-24) * T(double(int64_t(random())) * 0x1p-63) * T(0.999);
      auto const s = fast_two_sum(high, low);
      return double_word<T>{s.value, s.error};
    };
    for (int t = 0; t < 200000; ++t) {
      auto const a = word(), b = word(), c = acc.combine(a, b), d = acc.combine(b, a);
      quad const exact = (quad(a.high) + a.low) + (quad(b.high) + b.low);
      quad const error = magnitude(quad(c.high) + c.low - exact);
      REQUIRE(error <= 3 * u2 / (1 - 4 * quad(0x1p-24)) * magnitude(exact));
      REQUIRE(bits_equal(c, d));
      REQUIRE(add(c.high, c.low) == c.high); // renormalised
      if (exact != 0 && error / magnitude(exact) > worst) worst = error / magnitude(exact);
    }
    CHECK(worst > u2); // the bound is not idle
  }

  TEST_CASE_TEMPLATE("B09: no overflow before the result", T, float, double) {
    T const m = largest<T>(), ulp = m - std::nextafter(m, T(0));
    CHECK(to_bits(sum(std::vector<T>{m, m, -m, -m})) == 0);
    CHECK(to_bits(sum(std::vector<T>{-m, m, m, -m})) == 0);
    CHECK(sum(std::vector<T>{m, m, -m}) == m);
    CHECK(sum(std::vector<T>{m, -m, m}) == m);
    CHECK(sum(std::vector<double>{1e308, 1e308, -1e308}) == 1e308);
    CHECK(sum(std::vector<T>{m, m}) == infinity<T>());
    CHECK(sum(std::vector<T>{-m, -m, T(1)}) == -infinity<T>());
    // To the last place at the edge: less than half a unit beyond the largest number rounds to it, half does not.
    CHECK(sum(std::vector<T>{m, ulp / 4}) == m);
    CHECK(sum(std::vector<T>{m, ulp / 4, ulp / 8}) == m);
    CHECK(sum(std::vector<T>{m, ulp / 2}) == infinity<T>());
    CHECK(sum(std::vector<T>{m, ulp / 2, -ulp / 1024}) == m);
    // TwoSum's own overflow.
    for (T y : {T(-1.5) * ulp, -ulp, T(-0.5) * ulp, T(0.25) * ulp}) {
      CHECK(sum(std::vector<T>{y, m}) == add(y, m));
      CHECK(sum(std::vector<T>{m, y}) == add(y, m));
    }
    // Thousands of the largest number, then taken away again: what is left is exact.
    for (std::size_t n : {1u, 5u, 1000u, 4099u}) {
      std::vector<T> x;
      for (std::size_t i = 0; i < n; ++i) x.push_back(m);
      for (std::size_t i = 0; i < n; ++i) x.push_back(-m);
      CHECK(to_bits(sum(x)) == 0);
      x.push_back(T(-3) * ulp);
      CHECK(sum(x) == T(-3) * ulp);
      x.push_back(T(1.5));
      x.push_back(T(3) * ulp);
      CHECK(magnitude(quad(sum(x)) - T(1.5)) <= quad(1e-10) * ulp);
    }
    // Control: plain and compensated sums overflow.
    std::vector<T> const x{m, m, -m, -m};
    CHECK(is_nan(specification(4, contiguous<T>{x.data()}, plain<T>{})));
    CHECK(is_nan(specification(4, contiguous<T>{x.data()}, compensated<T>{})));
  }

  TEST_CASE_TEMPLATE("large numbers keep the bound of small ones", T, float, double) {
    // x * 2^k for numbers x of few bits: the sum must scale with it, but for overflow.
    std::mt19937_64 random(5);
    int const top = sizeof(T) == 4 ? 127 : 1023;
    int scaled_states = 0;
    for (int t = 0; t < 3000; ++t) {
      std::size_t const n = 2 + random() % 40;
      std::vector<T> small(n), big(n);
      for (std::size_t i = 0; i < n; ++i) {
        T const v = T(int64_t(random() % 0xffffff) - 0x800000) * T(std::ldexp(1, -23 - int(random() % 30)));
        small[i] = v;
        big[i] = std::ldexp(v, top);
      }
      auto const s = interpret<tree>(n, contiguous<T>{big.data()}, double_float<T>{});
      scaled_states += detail::is_scaled(s);
      T const expected = std::ldexp(sum(small), top); // infinite where it overflows
      REQUIRE(bits_equal(double_float<T>{}.finish(s), is_zero(expected) ? T(0) : expected));
    }
    CHECK(scaled_states > 200);
  }

  TEST_CASE_TEMPLATE("B08: special values at every position and across merges", T, float, double) {
    T const inf = infinity<T>(), nan = from_bits<T>(float_fields<T>::quiet_nan | float_fields<T>::sign | 5);
    CHECK(sum(std::vector<T>{1, inf, -1}) == inf);
    CHECK(sum(std::vector<T>{-inf, 1, 2, 3}) == -inf);
    CHECK(sum(std::vector<T>{inf, 0}) == inf);
    CHECK(sum(std::vector<T>{inf, inf}) == inf);
    CHECK(is_nan(sum(std::vector<T>{inf, 4, -inf})));
    CHECK(to_bits(sum(std::vector<T>{nan, 1})) == float_fields<T>::quiet_nan);
    CHECK(to_bits(sum(std::vector<T>{nan})) == float_fields<T>::quiet_nan);
    T const m = largest<T>();
    int seen[4] = {0, 0, 0, 0};
    for (std::size_t n : {1u, 2u, 3u, 4u, 5u, 7u, 9u, 31u, 33u})
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = p; q < n; ++q)
          for (T a : {inf, -inf, nan, m, -m})
            for (T b : {inf, -inf, nan, m, -m}) {
              std::vector<T> x(n);
              for (std::size_t i = 0; i < n; ++i) x[i] = T(0.1) * T(int(i % 7) - 3);
              x[p] = a;
              x[q] = b;
              auto const wanted = kind_of_inputs(x);
              ++seen[static_cast<int>(wanted)];
              auto const s = interpret<tree>(n, contiguous<T>{x.data()}, double_float<T>{});
              if (wanted != kind::finite) REQUIRE(kind_of(double_float<T>{}.finish(s)) == wanted);
              if (wanted == kind::finite && (is_finite(a) && is_finite(b) && sign_bit(a) != sign_bit(b)))
                REQUIRE(is_finite(double_float<T>{}.finish(s)));
              REQUIRE(is_finite(s.low));
            }
    for (int k : seen) CHECK(k > 0);
  }

  TEST_CASE_TEMPLATE("B10: zeros keep their sign", T, float, double) {
    for (std::size_t n : {1u, 2u, 3u, 31u, 33u, 1000u}) {
      std::vector<T> x(n, T(-0.0));
      CHECK(to_bits(sum(x)) == float_fields<T>::sign);
      CHECK(everywhere::equal(n, contiguous<T>{x.data()}, double_float<T>{}));
      x[n / 2] = T(0);
      CHECK(to_bits(sum(x)) == 0);
    }
    CHECK(to_bits(sum(std::vector<T>{})) == 0);
    CHECK(to_bits(sum(std::vector<T>{-0.0, T(1), T(-1)})) == 0);
  }

  TEST_CASE("B11: narrow elements, each result rounded once") {
    auto const half = [](float v) { return encode<f16>(v); };
    std::vector<f16> ones(4096, half(1));
    CHECK(reduce(host(), ones.data(), ones.size(), double_float<float>{}) == 4096.f);
    std::vector<bf16> many(70000, encode<bf16>(1.f));
    float const s = reduce(host(), many.data(), many.size(), double_float<float>{});
    CHECK(s == 70000.f);
    CHECK(decode(encode<bf16>(s)) == 70144.f);
    CHECK(div(s, 70000.f) == 1.f);
    std::vector<f16> x(8, half(0x1p-11f));
    x[0] = half(1);
    float const forwards = reduce(host(), x.data(), x.size(), double_float<float>{});
    std::reverse(x.begin(), x.end());
    CHECK(forwards == 1.00341796875f);
    CHECK(reduce(host(), x.data(), x.size(), double_float<float>{}) == forwards);
    CHECK(decode(half(forwards)) == 1.00390625f);
  }

  TEST_CASE("control: elements that are others on the simulator, or each time") {
    auto const elsewhere = [](uint64_t) { return simulator::current == nullptr ? 1.f : 2.f; };
    auto const v = everywhere::equal(100, elsewhere, double_float<float>{});
    CHECK_FALSE(v);
    CHECK(v.gate() == "same_as_host");
    uint64_t calls = 0;
    CHECK_FALSE(everywhere::equal(100, [&](uint64_t) { return float(++calls); }, double_float<float>{}));
  }

  TEST_CASE_TEMPLATE("every group gives the bits of the definition", T, float, double) {
    for (uint64_t n : {0, 1, 2, 5, 31, 32, 33, 127, 129, 515, 1031}) {
      CAPTURE(n);
      auto const x = testing::elements(testing::wide_exponents<T>{n + 1, -60, 60}, n + 1);
      auto const y = testing::elements(testing::every_class<T>{n + 2}, n + 1);
      auto const z = testing::elements(testing::wide_exponents<T>{n + 3, sizeof(T) == 4 ? 100 : 990, sizeof(T) == 4 ? 127 : 1023}, n + 1);
      for (auto const* v : {&x, &y, &z})
        for (int offset : {0, 1})
          CHECK(everywhere::equal(n, contiguous<T>{v->data() + offset}, double_float<T>{}, n));
    }
  }

  TEST_CASE_TEMPLATE("host: each set of vector instructions makes the nodes of the definition", T, float, double) {
    int scaled = 0;
    auto const check = [&]<class Isa>(Isa) {
      for (uint64_t n : {1, 63, 64, 65, 500, 2047, 2048, 2049, 5000, 32768, 40001})
        for (int kind = 0; kind < 6; ++kind) {
          bool const narrow = sizeof(T) == 4;
          auto x = testing::elements(testing::wide_exponents<T>{n + 1, -60, 60}, n);
          testing::every_class<T> const any{n};
          if (kind == 1) x = std::vector<T>(n, T(-0.0));
          if (kind == 2) x[n / 2] = largest<T>(); // one tile of many
          if (kind == 3) x = testing::elements(testing::wide_exponents<T>{n, narrow ? 100 : 1000, narrow ? 127 : 1023}, n);
          if (kind == 4)
            for (uint64_t i = 0; i < n; i += 97) x[i] = is_finite(any(i)) ? any(i) : T(-0.0);
          if (kind == 5) x[n - 1 - n / 3] = from_bits<T>(float_fields<T>::exponent);
          double_float<T> const acc;
          auto const expected = interpret<tree>(n, contiguous<T>{x.data()}, acc);
          auto const got = detail::fold_blocks<Isa>(contiguous<T>{x.data()}, 0, n, acc);
          CAPTURE(n);
          CAPTURE(kind);
          REQUIRE(bits_equal(canonical(got.high), canonical(expected.high)));
          REQUIRE(bits_equal(got.low, expected.low));
          scaled += detail::is_scaled(expected);
        }
    };
    check(detail::isa_base{});
#if defined(ISOBIT_HAS_ISA_AVX2)
    if (detail::has_avx2()) check(detail::isa_avx2{});
#endif
    CHECK(scaled > 0);
    std::vector<bf16> narrow(5000);
    for (size_t i = 0; i < narrow.size(); ++i) narrow[i].bits = static_cast<uint16_t>(i * 40503u);
    for (auto& v : narrow)
      if (!is_finite(decode(v))) v.bits = 0x7f7f; // the largest
    CHECK(bits_equal(reduce(host(), narrow.data(), narrow.size(), double_float<float>{}),
                     specification(narrow.size(), contiguous<bf16>{narrow.data()}, double_float<float>{})));
  }

  TEST_CASE_TEMPLATE("the laws of an accumulator", T, float, double) {
    CHECK(testing::laws(double_float<T>{}, testing::wide_exponents<T>{7}));
    CHECK(testing::laws(double_float<T>{}, testing::every_class<T>{8}));
    CHECK(testing::laws(double_float<T>{}, testing::subnormals<T>{9}));
  }

  TEST_CASE("control: a sum in another order is told apart") {
    testing::wide_exponents<float> const x{1, -30, 30};
    auto const y = testing::permute(x, 4096, 2);
    CHECK_FALSE(bits_equal(interpret<tree>(4096, x, double_float<float>{}),
                                       interpret<tree>(4096, y, double_float<float>{})));
  }
}

static_assert(double_float<float>{}.finish(double_float<float>{}.combine({0x1.fffffep127f, 0}, {0x1p103f, 0})) ==
              from_bits<float>(0x7f800000u));
