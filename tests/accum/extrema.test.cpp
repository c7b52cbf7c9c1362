// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extrema and their indices: ties, signed zeros, NaN policies, every group, any order.
#include <doctest/doctest.h>

#include "everywhere.hpp"

#include <isobit/accum/extrema.hpp>
#include <isobit/algo/zip.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <limits>
#include <vector>

namespace {

using namespace isobit;
using everywhere::bits_equal;
using everywhere::specification;

template <class Policy = nan_propagate, class T> extrema_result<T> extrema_of(std::vector<T> const& x) {
  return specification(x.size(), with_index(x.data()), extrema<T, Policy>{});
}

// A loop over the elements, with comparisons of its own.
template <class T> extrema_result<T> by_loop(std::vector<T> const& x, bool propagate) {
  T const nan = from_bits<T>(float_fields<T>::quiet_nan);
  extrema_result<T> r{nan, nan, no_index, no_index};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (is_nan(x[i])) {
      if (propagate) return {nan, nan, i, i};
      continue;
    }
    auto const below = [](T a, T b) { return a < b || (a == b && sign_bit(a) && !sign_bit(b)); };
    if (r.argmin == no_index || below(x[i], r.min)) {
      r.min = x[i];
      r.argmin = i;
    }
    if (r.argmax == no_index || below(r.max, x[i])) {
      r.max = x[i];
      r.argmax = i;
    }
  }
  return r;
}

// An element that knows its index, whatever the index that it is asked for.
template <class T> struct numbered_generator {
  testing::every_class<T> of;
  ISOBIT_HD constexpr indexed_value<T> operator()(uint64_t i) const { return {of(i), i}; }
};

} // namespace

TEST_SUITE("extrema") {
  TEST_CASE_TEMPLATE("ties, zeros, magnitudes", T, float, double) {
    auto const r = extrema_of(std::vector<T>{3, -5, 5, -5, 5, 0});
    CHECK(r.min == -5);
    CHECK(r.max == 5);
    CHECK(r.argmin == 1);
    CHECK(r.argmax == 2);
    CHECK(r.absmax() == 5);
    CHECK(r.argabsmax() == 1); // of -5 and 5 the first
    auto const zeros = extrema_of(std::vector<T>{T(0), T(-0.0), T(0), T(-0.0)});
    CHECK(to_bits(zeros.min) == float_fields<T>::sign);
    CHECK(to_bits(zeros.max) == 0);
    CHECK(zeros.argmin == 1);
    CHECK(zeros.argmax == 0);
    T const tiny = from_bits<T>(1);
    auto const subnormal = extrema_of(std::vector<T>{T(0), tiny, -tiny, tiny});
    CHECK(to_bits(subnormal.max) == 1);
    CHECK(subnormal.argmax == 1);
    CHECK(subnormal.argmin == 2);
    T const inf = std::numeric_limits<T>::infinity();
    auto const infinite = extrema_of(std::vector<T>{1, -inf, 2, inf});
    CHECK(infinite.argmin == 1);
    CHECK(infinite.argmax == 3);
    CHECK(infinite.absmax() == inf);
    CHECK(infinite.argabsmax() == 1);
    CHECK(extrema_of(std::vector<T>{-4, -1}).absmax() == 4);
  }

  TEST_CASE_TEMPLATE("no element, only NaNs", T, float, double) {
    T const nan = from_bits<T>(float_fields<T>::quiet_nan | float_fields<T>::sign | 3);
    auto const nothing = extrema_of(std::vector<T>{});
    CHECK(to_bits(nothing.min) == float_fields<T>::quiet_nan);
    CHECK(nothing.argmin == no_index);
    auto const ignored = extrema_of<nan_ignore>(std::vector<T>{nan, nan});
    CHECK(bits_equal(ignored, nothing));
    CHECK(is_nan(ignored.absmax()));
    auto const kept = extrema_of(std::vector<T>{T(1), nan, nan});
    CHECK(to_bits(kept.min) == float_fields<T>::quiet_nan);
    CHECK(to_bits(kept.max) == float_fields<T>::quiet_nan);
    CHECK(kept.argmin == 1);
    CHECK(kept.argmax == 1);
    CHECK(is_nan(kept.absmax()));
  }

  TEST_CASE_TEMPLATE("a NaN, an infinity, a tie at every position", T, float, double) {
    T const inf = std::numeric_limits<T>::infinity();
    T const special[] = {inf, -inf, from_bits<T>(float_fields<T>::quiet_nan), from_bits<T>(float_fields<T>::exponent | 1),
                         from_bits<T>(float_fields<T>::sign | float_fields<T>::quiet_nan), T(3), T(-3), T(-0.0)};
    for (std::size_t n : {1u, 2u, 5u, 9u, 33u})
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = 0; q < n; ++q)
          for (T a : special)
            for (T b : special) {
              std::vector<T> x(n);
              for (std::size_t i = 0; i < n; ++i) x[i] = T(int(i * 5 % 7) - 3);
              x[p] = a;
              x[q] = b;
              REQUIRE(bits_equal(extrema_of(x), by_loop(x, true)));
              REQUIRE(bits_equal(extrema_of<nan_ignore>(x), by_loop(x, false)));
            }
  }

  TEST_CASE_TEMPLATE("every group gives the bits of the definition, from arrays aligned or not", T, float, double) {
    for (uint64_t n : {0, 1, 2, 5, 31, 33, 127, 129, 515, 1031}) {
      CAPTURE(n);
      auto const x = testing::elements(testing::wide_exponents<T>{n + 1, -2, 2}, n + 1);
      auto const y = testing::elements(testing::every_class<T>{n + 2}, n + 1);
      for (auto const* v : {&x, &y})
        for (int offset : {0, 1}) {
          CHECK(everywhere::equal(n, with_index(v->data() + offset), extrema<T>{}, n));
          CHECK(everywhere::equal(n, with_index(v->data() + offset), extrema<T, nan_ignore>{}, n));
        }
    }
  }

  TEST_CASE("narrow elements; a part of a range that knows where it begins") {
    std::vector<bf16> x(100, encode<bf16>(1.f));
    x[77] = encode<bf16>(-2.f);
    x[99] = encode<bf16>(4.f);
    auto const r = reduce(host(), x.size(), with_index(x.data()), extrema<float>{});
    CHECK(r.argmin == 77);
    CHECK(r.argmax == 99);
    auto const part = reduce(host(), 50, with_index(x.data() + 50, 50), extrema<float>{});
    CHECK(part.argmin == 77);
    CHECK(everywhere::equal(50, with_index(x.data() + 50, 50), extrema<float>{}));
    auto const computed = reduce(host(), 100, with_index([](uint64_t i) { return i == 41 ? 1.f : 0.f; }), extrema<float>{});
    CHECK(computed.argmax == 41);
    CHECK(computed.argmin == 0);
  }

  TEST_CASE("indices beyond 2^32") {
    uint64_t const base = (uint64_t(1) << 40) + 5;
    std::vector<float> const x{1, 2, 2, 0};
    auto const r = reduce(host(), 4, with_index(x.data(), base), extrema<float>{});
    CHECK(r.argmax == base + 1);
    CHECK(r.argmin == base + 3);
  }

  TEST_CASE_TEMPLATE("order-free: any order of the same numbered elements", T, float, double) {
    numbered_generator<T> const x{{11}};
    for (uint64_t n : {2u, 33u, 300u})
      for (uint64_t seed = 0; seed < 20; ++seed) {
        auto const y = testing::permute(x, n, seed);
        REQUIRE(bits_equal(specification(n, x, extrema<T>{}), specification(n, y, extrema<T>{})));
        REQUIRE(bits_equal(specification(n, x, extrema<T, nan_ignore>{}),
                           specification(n, y, extrema<T, nan_ignore>{})));
      }
    // Control: indices given by position change with the order.
    std::vector<T> const a{1, 2}, b{2, 1};
    CHECK_FALSE(bits_equal(extrema_of(a), extrema_of(b)));
  }

  TEST_CASE_TEMPLATE("the laws of an accumulator", T, float, double) {
    CHECK(testing::laws(extrema<T>{}, numbered_generator<T>{{7}}));
    CHECK(testing::laws(extrema<T, nan_ignore>{}, numbered_generator<T>{{8}}));
  }
}
