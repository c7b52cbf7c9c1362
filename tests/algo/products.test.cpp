// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dot products, sums of squares and norms: both recipes, against quadruple precision and the order's definition.
#include <doctest/doctest.h>

#include "../accum/everywhere.hpp"

#include <isobit/algo/exact_product.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace isobit;
using everywhere::bits_equal;

#if defined(__SIZEOF_FLOAT128__)
using quad = __float128;
#else
using quad = long double;
#endif
quad magnitude(quad x) { return x < 0 ? -x : x; }

template <class Recipe, class T> T dot_of(std::vector<T> const& x, std::vector<T> const& y) {
  return dot<Recipe>(host(), x.size(), x.data(), y.data());
}

template <class Recipe, class T>
ISOBIT_KERNEL void block_products(T const* x, T const* y, int n, T* out) {
  using sum = typename Recipe::template accumulator<T>;
  ISOBIT_SHARED block_storage<128, typename sum::state> memory;
  auto const b = block(memory);
  T const d = dot<Recipe>(b, n, x, y);
  T const s = sum_of_squares<Recipe>(b, n, x);
  T const r = norm2<Recipe>(b, n, x);
  T* const mine = out + 3 * b.thread_rank();
  mine[0] = d;
  mine[1] = s;
  mine[2] = r;
}

} // namespace

TEST_SUITE("products") {
  TEST_CASE("B07b: the rounding of a product is the recipe's") {
    std::vector<float> const x{1 + 0x1p-12f, -(1 + 0x1p-11f)}, y{1 + 0x1p-12f, 1};
    CHECK(to_bits(dot_of<rounded_product>(x, y)) == 0);
    CHECK(dot_of<fused_product>(x, y) == 0x1p-24f);
    CHECK(dot(host(), 2, x.data(), y.data()) == 0.f); // the default is rounded_product
    CHECK(dot<fused_product>(thread{}, 2, x.data(), y.data()) == 0x1p-24f);
  }

  TEST_CASE_TEMPLATE("the definition: a load and an accumulator", T, float, double) {
    for (uint64_t n : {0u, 1u, 2u, 33u, 700u}) {
      auto const x = testing::elements(testing::wide_exponents<T>{1, -8, 8}, n + 1);
      auto const y = testing::elements(testing::wide_exponents<T>{2, -8, 8}, n + 1);
      auto const rounded = [&](uint64_t i) { return mul(x[i], y[i]); };
      CHECK(bits_equal(dot(host(), n, x.data(), y.data()), everywhere::specification(n, rounded, plain<T>{})));
      auto const exact = [&](uint64_t i) { return factors<T>{x[i], y[i]}; };
      CHECK(bits_equal(dot<fused_product>(host(), n, x.data(), y.data()),
                       everywhere::specification(n, exact, sum_of_products<T>{})));
      CHECK(bits_equal(sum_of_squares(host(), n, x.data()), dot(host(), n, x.data(), x.data())));
      CHECK(bits_equal(sum_of_squares<fused_product>(host(), n, x.data()),
                       dot<fused_product>(host(), n, x.data(), x.data())));
      CHECK(bits_equal(norm2(host(), n, x.data()), isobit::sqrt(sum_of_squares(host(), n, x.data()))));
      CHECK(bits_equal(norm2<fused_product>(host(), n, x.data()),
                       isobit::sqrt(sum_of_squares<fused_product>(host(), n, x.data()))));
      CHECK(bits_equal(dot<rounded_product, lanes<16>>(host(), n, x.data(), y.data()),
                       reduce<lanes<16>>(host(), n, rounded)));
      // Loads, named arrays and pointers to variables are read alike.
      auto const load = [&](uint64_t i) { return x[i]; };
      CHECK(bits_equal(dot(host(), n, load, y.data()), dot(host(), n, x.data(), y.data())));
    }
  }

  TEST_CASE_TEMPLATE("fused products are within the bound of a double-word sum", T, float, double) {
    std::mt19937_64 random(1);
    quad const u = std::numeric_limits<T>::epsilon() / 2;
    int rounded_within = 0, trials = 0;
    for (int t = 0; t < 1500; ++t) {
      std::size_t const n = 2 + random() % 300;
      std::vector<T> x(n), y(n);
      // Few bits in double, so that quad holds the exact sum.
      auto const number = [&] {
        if constexpr (sizeof(T) == 4)
          return std::ldexp(float(int64_t(random() % (1u << 25)) - (1 << 24)), int(random() % 12) - 30);
        else
          return std::ldexp(double(int64_t(random() % (uint64_t(1) << 47)) - (int64_t(1) << 46)), int(random() % 2) - 46);
      };
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = number();
        y[i] = number();
        if (i % 2 && t % 2) { // nearly cancelling
          x[i] = -x[i - 1];
          y[i] = y[i - 1] * (random() % 8 ? T(1) : T(1.0009765625));
        }
      }
      quad exact = 0, all = 0;
      for (std::size_t i = 0; i < n; ++i) {
        exact += quad(x[i]) * y[i];
        all += magnitude(quad(x[i]) * y[i]);
      }
      quad const bound = u * magnitude(exact) + 4 * quad(std::ceil(std::log2(double(n)))) * u * u * all;
      REQUIRE(magnitude(quad(dot_of<fused_product>(x, y)) - exact) <= bound);
      rounded_within += magnitude(quad(dot_of<rounded_product>(x, y)) - exact) <= bound;
      ++trials;
    }
    CHECK(rounded_within < trials / 2); // control
  }

  TEST_CASE_TEMPLATE("exact products: correctly rounded in any order", T, float, double) {
    std::mt19937_64 random(2);
    for (int t = 0; t < 200; ++t) {
      std::vector<T> x(64), y(64);
      quad exact = 0;
      for (size_t i = 0; i < 64; ++i) {
        x[i] = T(int64_t(random() % 4001) - 2000);
        y[i] = T(int64_t(random() % 4001) - 2000);
        exact += quad(x[i]) * y[i];
      }
      REQUIRE(dot_of<exact_product>(x, y) == static_cast<T>(exact));
    }
    CHECK(dot_of<exact_product>(std::vector<T>{T(1e30), 1, T(-1e30)}, std::vector<T>{T(1e8), 1, T(1e8)}) == 1);
    T const m = std::numeric_limits<T>::max();
    CHECK(norm2<exact_product>(host(), 2, std::vector<T>{3, 4}.data()) == 5);
    CHECK(sum_of_squares<exact_product>(host(), 1, &m) == std::numeric_limits<T>::infinity());
  }

  TEST_CASE_TEMPLATE("overflow, infinities, NaN, zeros", T, float, double) {
    T const m = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    T const nan = std::numeric_limits<T>::quiet_NaN();
    using v = std::vector<T>;
    // Products far beyond the largest number that cancel.
    CHECK(dot_of<fused_product>(v{m, m, 3}, v{m, -m, 2}) == 6);
    CHECK(dot_of<fused_product>(v{m, m, m, m, 5}, v{m, m, -m, -m, 1}) == 5);
    CHECK(is_nan(dot_of<rounded_product>(v{m, m, 3}, v{m, -m, 2}))); // IEEE: inf - inf
    CHECK(dot_of<fused_product>(v{m}, v{m}) == inf);
    CHECK(dot_of<fused_product>(v{m}, v{-m}) == -inf);
    CHECK(dot_of<fused_product>(v{m, -m}, v{T(1.5), T(0.5)}) == m);
    CHECK(norm2<fused_product>(host(), 4, v{m / 4, m / 4, m / 4, m / 4}.data()) == m / 2);
    CHECK(norm2(host(), 1, v{m / 4}.data()) == inf);
    CHECK(norm2<fused_product>(host(), 2, v{m, m}.data()) == inf);
    CHECK(std::abs(norm2<fused_product>(host(), 2, v{m / 2, m / 2}.data()) / (m / 2) - std::sqrt(T(2))) <
          2 * std::numeric_limits<T>::epsilon());
    CHECK(norm2<fused_product>(host(), 2, v{3, 4}.data()) == 5);
    for (std::size_t n : {1u, 2u, 7u, 33u})
      for (std::size_t p = 0; p < n; ++p)
        for (T a : {inf, -inf, nan, m})
          for (T b : {T(2), T(-2), T(0), inf, nan}) {
            v x(n, T(0.25)), y(n, T(-3));
            x[p] = a;
            y[p] = b;
            T const product = mul(a, b);
            T const d = dot_of<fused_product>(x, y), r = dot_of<rounded_product>(x, y);
            if (!is_finite(product)) REQUIRE(bits_equal(r, canonical(product)));
            if (!is_finite(a) || !is_finite(b)) REQUIRE(bits_equal(d, canonical(product)));
            if (is_finite(a) && is_finite(b)) REQUIRE_FALSE(is_nan(d));
          }
    CHECK(to_bits(dot_of<fused_product>(v{T(-0.0), T(0)}, v{1, T(-1)})) == float_fields<T>::sign);
    CHECK(to_bits(dot_of<rounded_product>(v{T(-0.0), T(0)}, v{1, T(-1)})) == float_fields<T>::sign);
    CHECK(to_bits(dot_of<fused_product>(v{T(-0.0), T(0)}, v{1, T(1)})) == 0);
    CHECK(to_bits(dot_of<fused_product>(v{}, v{})) == 0);
    // Subnormal products are kept.
    T const tiny = from_bits<T>(1);
    CHECK(dot_of<fused_product>(v{tiny, tiny}, v{1, 2}) == from_bits<T>(3));
    CHECK(dot_of<rounded_product>(v{tiny, tiny}, v{1, 2}) == from_bits<T>(3));
  }

  TEST_CASE_TEMPLATE("blocks of any width, aligned arrays or not", T, float, double) {
    auto const x = testing::elements(testing::wide_exponents<T>{1, -20, 20}, 1100);
    auto const y = testing::elements(testing::wide_exponents<T>{2, -20, 20}, 1100);
    auto const check = [&]<class Recipe>(Recipe) {
      for (int n : {0, 1, 7, 128, 129, 515, 1030})
        for (int offset : {0, 1}) {
          T const *a = x.data() + offset, *b = y.data() + 2 * offset;
          CAPTURE(n);
          CAPTURE(offset);
          CHECK(testing::same_as_host(
              [&](simt::config const& c) {
                auto out = testing::filled<std::array<T, 3>>(c.block.x, 0xff);
                simt::launch(c, block_products<Recipe, T>, a, b, n, out[0].data());
                return everyone(out);
              },
              [&] {
                return all_received(std::array{dot<Recipe>(host(), n, a, b), sum_of_squares<Recipe>(host(), n, a),
                                               norm2<Recipe>(host(), n, a)});
              },
              {.blocks = {1, 33, 96, 128}, .grids = {1}, .schedules = 3}));
        }
    };
    check(rounded_product{});
    check(fused_product{});
  }

  TEST_CASE("every group; the zipped load in vectors") {
    for (uint64_t n : {0, 1, 5, 33, 129, 1031}) {
      CAPTURE(n);
      auto const x = testing::elements(testing::wide_exponents<float>{n, -40, 40}, n + 1);
      auto const y = testing::elements(testing::every_class<float>{n}, n + 1);
      for (int offset : {0, 1}) {
        auto const pairs = zip(x.data() + offset, y.data() + offset, fused_product::multiply{});
        CHECK(everywhere::equal(n, pairs, sum_of_products<float>{}, n));
        CHECK(everywhere::equal(n, pairs, root_of<sum_of_products<float>>{}, n));
        CHECK(everywhere::equal(n, zip(x.data(), y.data() + offset, rounded_product::multiply{}), plain<float>{}));
      }
    }
    static_assert(detail::has_vector_form<zipped<contiguous<float>, contiguous<float>, fused_product::multiply>>);
    static_assert(!detail::has_vector_form<zipped<contiguous<float>, contiguous<bf16>, fused_product::multiply>>);
  }

  TEST_CASE("B05: a row's sum of squares does not know its neighbours; narrow elements are floats") {
    constexpr int columns = 1000; // rows are not aligned to 16 bytes
    std::vector<bf16> rows(5 * columns + 3);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = encode<bf16>(std::sin(float(i % columns)));
    float const first = sum_of_squares(host(), columns, rows.data());
    std::vector<float> wide(columns);
    for (int i = 0; i < columns; ++i) wide[i] = decode(rows[i]);
    CHECK(bits_equal(first, sum_of_squares(host(), columns, wide.data())));
    for (int r = 0; r < 5; ++r) {
      CHECK(bits_equal(sum_of_squares(host(), columns, rows.data() + r * columns), first));
      CHECK(bits_equal(dot(host(), columns, rows.data() + r * columns, wide.data()), first));
    }
  }

  TEST_CASE_TEMPLATE("the laws of an accumulator", T, float, double) {
    auto const pairs = [](uint64_t i) {
      return factors<T>{testing::every_class<T>{1}(i), testing::wide_exponents<T>{2, -90, 90}(i)};
    };
    CHECK(testing::laws(sum_of_products<T>{}, pairs));
    CHECK(testing::laws(root_of<sum_of_products<T>>{}, pairs));
  }

  TEST_CASE("refused before anything is read") {
    float const x[2] = {1, 2};
    float const* const none = nullptr;
    CHECK_THROWS_AS((void)dot(host(), 2, none, x), invalid_argument);
    CHECK_THROWS_AS((void)dot(host(), 2, x, none), invalid_argument);
    CHECK_THROWS_AS((void)dot(host(), -1, x, x), invalid_argument);
    CHECK_THROWS_AS((void)norm2(host(), 2, none), invalid_argument);
    CHECK_THROWS_AS((void)sum_of_squares(host(), -1, x), invalid_argument);
    auto const* const crooked = reinterpret_cast<float const*>(reinterpret_cast<uintptr_t>(x) + 1);
    CHECK_THROWS_AS((void)dot(host(), 1, x, crooked), invalid_argument);
    CHECK(dot(host(), 0, none, none) == 0.f);
  }
}
