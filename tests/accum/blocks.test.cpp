// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Long arrays, which hosts fold in blocks and on vectors: a special value in the first, the last, a ragged or another
// block has the same effect as in a short array, for every accumulator.
#include "everywhere.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/exact_product.hpp>
#include <isobit/algo/products.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <random>

namespace {

using namespace isobit;
using testing::bits_equal;

constexpr std::size_t length = 2 * 32768 + 2048 + 137; // two blocks of the host's sums, a tile and a ragged end
constexpr std::size_t positions[] = {0, 1, 2047, 2048, 32767, 32768, 65535, 65536, 67583, 67584, length - 2, length - 1};

template <class T> constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> constexpr T a_nan = std::numeric_limits<T>::quiet_NaN();

template <class T> std::vector<T> finite_numbers() {
  std::mt19937_64 random(7);
  std::vector<T> x(length);
  for (T& v : x) v = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / T(64);
  return x;
}

template <class T, class Sum> void check_sum(char const* name, std::vector<T> const& clean, Sum const& sum) {
  CAPTURE(name);
  CHECK(is_finite(sum(clean)));
  std::vector<T> x = clean;
  for (std::size_t p : positions) {
    CAPTURE(p);
    for (T special : {infinity<T>, neg(infinity<T>), a_nan<T>, from_bits<T>(to_bits(a_nan<T>) | float_fields<T>::sign | 5)}) {
      x[p] = special;
      CHECK(bits_equal(sum(x), canonical(special)));
    }
    x[p] = infinity<T>;
    std::size_t const q = positions[(p * 7 + 5) % std::size(positions)];
    if (q != p) { // the other infinity in another block
      T const kept = x[q];
      x[q] = neg(infinity<T>);
      CHECK(bits_equal(sum(x), canonical(a_nan<T>)));
      x[q] = kept;
    }
    x[p] = clean[p];
  }
  std::vector<T> const zeros(length, neg(T(0)));
  CHECK(bits_equal(sum(zeros), neg(T(0))));
  std::vector<T> one_positive = zeros;
  one_positive[65536] = T(0);
  CHECK(bits_equal(sum(one_positive), T(0)));
}

} // namespace

TEST_SUITE("long arrays") {
  TEST_CASE_TEMPLATE("sums: special values in every block", T, float, double) {
    auto const clean = finite_numbers<T>();
    auto const by = [](auto acc) {
      return [acc](std::vector<T> const& x) { return reduce(host(), x.data(), x.size(), acc); };
    };
    check_sum<T>("plain", clean, by(plain<T>{}));
    check_sum<T>("compensated", clean, by(compensated<T>{}));
    check_sum<T>("double_float", clean, by(double_float<T>{}));
    check_sum<T>("exact", clean, by(exact<T>{}));
    std::vector<T> const ones(length, T(1));
    check_sum<T>("rounded_product", clean, [&](auto const& x) { return dot(host(), length, x.data(), ones.data()); });
    check_sum<T>("fused_product", clean,
                 [&](auto const& x) { return dot<fused_product>(host(), length, x.data(), ones.data()); });
    check_sum<T>("exact_product", clean,
                 [&](auto const& x) { return dot<exact_product>(host(), length, ones.data(), x.data()); });
  }

  TEST_CASE_TEMPLATE("products of arrays have the bits of products of loads", T, float, double) {
    std::mt19937_64 random(9);
    std::vector<T> x(length), y(length);
    auto const fill = [&](int kind) {
      for (std::size_t i = 0; i < length; ++i)
        for (T* v : {&x[i], &y[i]}) {
          auto const bits = static_cast<float_bits<T>>(random());
          *v = from_bits<T>(bits);
          if (kind == 0 || (!is_finite(*v) && kind == 1)) *v = static_cast<T>(static_cast<int>(random() % 4001) - 2000) / T(32);
        }
      if (kind == 2)
        for (std::size_t i = 0; i < length; i += 1 + random() % 7) x[i] = y[i] = static_cast<T>(3);
    };
    for (int kind : {0, 1, 2}) {
      fill(kind);
      for (std::size_t n : {std::size_t(1), std::size_t(63), std::size_t(64), std::size_t(200), std::size_t(2049), length}) {
        CAPTURE(kind);
        CAPTURE(n);
        T const *a = x.data(), *b = y.data();
        auto const la = [a](uint64_t i) { return a[i]; };
        auto const lb = [b](uint64_t i) { return b[i]; };
        CHECK(bits_equal(dot(host(), n, a, b), dot(host(), n, la, lb)));
        CHECK(bits_equal(dot<fused_product>(host(), n, a, b), dot<fused_product>(host(), n, la, lb)));
        CHECK(bits_equal(sum_of_squares<fused_product>(host(), n, a), dot<fused_product>(host(), n, la, la)));
        CHECK(bits_equal(sum_of_squares(host(), n, a), dot(host(), n, la, la)));
        CHECK(bits_equal(norm2<fused_product>(host(), n, a), norm2<fused_product>(host(), n, la)));
        auto const narrowest = [&](auto recipe) { // the vectors that every processor has
          using r = decltype(recipe);
          using acc = typename r::template accumulator<T>;
          auto const load = zip(a, b, typename r::multiply{});
          return acc{}.finish(detail::fold_blocks<detail::isa_base>(load, 0, n, acc{}));
        };
        CHECK(bits_equal(dot(host(), n, a, b), narrowest(rounded_product{})));
        CHECK(bits_equal(dot<fused_product>(host(), n, a, b), narrowest(fused_product{})));
        {
          typename exact_dot<T>::state s{};
          for (std::size_t i = 0; i < n; ++i) exact_dot<T>{}.deposit(s, a[i], b[i]);
          CHECK(bits_equal(dot<exact_product>(host(), n, a, b), exact_dot<T>{}.finish(s)));
          if constexpr (sizeof(T) == 4) {
            typename exact_dot<T>::state through_bins{};
            exact_dot<T>{}.deposit_range(through_bins, 0, n, zip(a, b, fused_product::multiply{}));
            CHECK(through_bins == s);
          }
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("moments and extrema: special values in every block", T, float, double) {
    auto const clean = finite_numbers<T>();
    std::vector<T> x = clean;
    auto const m = [&] { return reduce(host(), x.data(), x.size(), moments<T>{}); };
    auto const e = [&] { return reduce(host(), length, with_index(x.data()), extrema<T>{}); };
    CHECK(bits_equal(m(), reduce(thread{}, x.data(), x.size(), moments<T>{})));
    for (std::size_t p : positions) {
      CAPTURE(p);
      x[p] = neg(infinity<T>);
      CHECK(m().count == length);
      CHECK(bits_equal(m().mean, neg(infinity<T>)));
      CHECK(bits_equal(m().variance, canonical(a_nan<T>)));
      CHECK(e().argmin == p);
      CHECK(bits_equal(e().min, neg(infinity<T>)));
      CHECK(is_finite(e().max));
      x[p] = a_nan<T>;
      CHECK(bits_equal(m().mean, canonical(a_nan<T>)));
      CHECK(e().argmax == p);
      CHECK(bits_equal(e().max, canonical(a_nan<T>)));
      x[p] = clean[p];
    }
  }
}
