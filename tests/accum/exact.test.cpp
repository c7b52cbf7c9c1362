// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact sum: right values, the same bytes for every order, split and merge, special values in every position.
#include <doctest/doctest.h>

#include "exact_reference.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <type_traits>

namespace {

using isobit::bf16;
using isobit::compensated;
using isobit::exact;
using isobit::exact_dot;
using isobit::f16;
using isobit::testing::bits_equal;

static_assert(isobit::accumulator<exact<float>> && isobit::accumulator<exact<double>> &&
              isobit::accumulator<exact<f16>>);
static_assert(isobit::accumulator<exact<bf16>> && isobit::accumulator<exact<float, double>>);
static_assert(isobit::accumulator<exact_dot<float>> && isobit::accumulator<exact_dot<double>>);
static_assert(isobit::order_free_accumulator<exact<float>> && !isobit::order_free_accumulator<compensated<float>>);
static_assert(std::is_trivial_v<exact<double>::state> && std::is_standard_layout_v<exact<double>::state>);
static_assert(std::has_unique_object_representations_v<exact<f16>::state>);
static_assert(exact<float>::headroom_log2 >= 64 && exact<double>::headroom_log2 >= 64 &&
              exact<f16>::headroom_log2 >= 64 && exact_dot<float>::headroom_log2 >= 64 &&
              exact_dot<double>::headroom_log2 >= 64);
constexpr bool usable_in_constant_expressions() {
  exact<float> const acc;
  return acc.finish(acc.combine(acc.combine(acc.lift(1e30f), acc.lift(1e-40f)), acc.lift(-1e30f))) == 1e-40f;
}
static_assert(usable_in_constant_expressions());

std::vector<float> const case_b03 = {348.6652f,       8.2052361e17f,   -9.615448e24f,   3.4028235e38f,  8.3188725e21f,
                                     -1.86747077e11f, 2.2641698e-5f,   1.8981274e-15f,  -8.9130315e23f, 8.241963e-4f,
                                     -3.4028235e38f,  4.86208753e14f,  2.825404e25f,    9.7615254e-4f,  3.074054e-20f,
                                     1.870257e-19f,   -1.1672826e-14f, -8.2195184e-17f, 5.5520855e20f,  1.751082e-24f};

template <class A, class T> typename A::state deposit_all(A const& acc, std::vector<T> const& x) {
  typename A::state s{};
  for (T const& v : x) acc.deposit(s, v);
  return s;
}
template <class A, class T> typename A::result sum_of(A const& acc, std::vector<T> const& x) {
  return acc.finish(deposit_all(acc, x));
}

// A state of x by random splits and merges of a random permutation.
template <class A, class T> typename A::state scrambled(A const& acc, std::vector<T> x, std::mt19937_64& random) {
  std::shuffle(x.begin(), x.end(), random);
  std::vector<typename A::state> parts;
  for (std::size_t i = 0; i < x.size();) {
    typename A::state s{};
    for (std::size_t n = random() % 5; n > 0 && i < x.size(); --n) acc.deposit(s, x[i++]);
    parts.push_back(s);
  }
  while (parts.size() > 1) {
    std::size_t const at = random() % (parts.size() - 1);
    parts[at] = random() % 2 == 0 ? parts[at] + parts[at + 1] : parts[at + 1] + parts[at];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return parts.empty() ? typename A::state{} : parts[0];
}

template <class T> T from_random(std::uint64_t bits) {
  return isobit::from_bits<T>(static_cast<isobit::float_bits<T>>(bits));
}

// Finite numbers of one of several kinds: all exponents, neighbours, near the largest, subnormal, cancelling.
template <class T> std::vector<T> hard_numbers(std::mt19937_64& random, std::size_t n, int kind) {
  using fields = isobit::float_fields<T>;
  std::vector<T> x(n);
  for (T& v : x) {
    auto b = static_cast<isobit::float_bits<T>>(random());
    isobit::float_bits<T> const e = b & fields::exponent, rest = b & ~fields::exponent;
    if (kind == 1)
      b = rest |
          (isobit::to_bits(T(1)) + ((e >> 2 & fields::exponent) >> (fields::exponent_bits - 3) & fields::exponent));
    if (kind == 2) b = rest | (fields::exponent - fields::mantissa - 1);
    if (kind == 3) b = rest | (e >> (fields::exponent_bits - 1) & fields::exponent);
    if ((b & fields::exponent) == fields::exponent) b = rest;
    v = isobit::from_bits<T>(b);
  }
  if (kind == 4)
    for (std::size_t i = 0; i + 1 < n; i += 2) x[i + 1] = isobit::from_bits<T>(isobit::to_bits(x[i]) ^ fields::sign);
  return x;
}

} // namespace

TEST_CASE("exact: B03 in any order") {
  std::vector<double> const wide(case_b03.begin(), case_b03.end());
  auto x = case_b03;
  std::mt19937_64 random(3);
  exact<float> const acc;
  auto const bytes = deposit_all(acc, x);
  std::set<std::uint32_t> compensated_bits;
  for (int i = 0; i < 2000; ++i) {
    std::shuffle(x.begin(), x.end(), random);
    auto const s = deposit_all(acc, x);
    REQUIRE(bits_equal(s, bytes));
    REQUIRE(isobit::to_bits(acc.finish(s)) == 0x696b003au);
    compensated_bits.insert(isobit::to_bits(isobit::reduce(isobit::host(), x.data(), x.size(), compensated<float>{})));
  }
  CHECK(isobit::to_bits(sum_of(exact<float, double>{}, case_b03)) == 0x452d600740039fd2u);
  CHECK(isobit::to_bits(sum_of(exact<double>{}, wide)) == 0x452d600740039fd2u);
  CHECK(compensated_bits.size() > 1); // control: compensated sums see the order
}

TEST_CASE("exact: B04, 2 for every placement") {
  std::vector<float> x{1e8f, 1.f, -1e8f, 1.f};
  std::sort(x.begin(), x.end());
  do {
    CHECK(sum_of(exact<float>{}, x) == 2.f);
    for (std::size_t ranks = 1; ranks <= 4; ++ranks) {
      exact<float>::state total{};
      for (std::size_t r = ranks; r-- > 0;) {
        exact<float>::state mine{};
        for (std::size_t i = r; i < x.size(); i += ranks) exact<float>{}.deposit(mine, x[i]);
        total += mine;
      }
      CHECK(exact<float>{}.finish(total) == 2.f);
    }
  } while (std::next_permutation(x.begin(), x.end()));
}

TEST_CASE_TEMPLATE("exact: special values at every position and across merges (B08)", T, float, double) {
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  T const big = std::numeric_limits<T>::max();
  auto const bits = [](T v) { return isobit::to_bits(v); };
  auto const quiet = isobit::float_fields<T>::quiet_nan;
  std::vector<std::pair<std::vector<T>, isobit::float_bits<T>>> const cases = {{{1, inf, -1}, bits(inf)},
                                                                               {{-inf, 1, 2, 3}, bits(-inf)},
                                                                               {{inf, 0}, bits(inf)},
                                                                               {{inf, inf}, bits(inf)},
                                                                               {{big, big}, bits(inf)},
                                                                               {{-big, -big}, bits(-inf)},
                                                                               {{inf, 4, -inf}, quiet},
                                                                               {{nan, 1}, quiet},
                                                                               {{inf, nan}, quiet},
                                                                               {{big, -inf}, bits(-inf)},
                                                                               {{big, big, -big}, bits(big)},
                                                                               {{big, big, -big, -big}, 0},
                                                                               {{-T(0)}, bits(-T(0))},
                                                                               {{-T(0), -T(0)}, bits(-T(0))},
                                                                               {{-T(0), T(0)}, 0},
                                                                               {{1, -1, -T(0)}, 0},
                                                                               {{}, 0},
                                                                               {{T(0)}, 0}};
  exact<T> const acc;
  for (auto const& [values, expected] : cases) {
    auto x = values;
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    do {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = values[order[i]];
      CHECK(isobit::to_bits(sum_of(acc, x)) == expected);
      CHECK(isobit::to_bits(isobit::reduce(isobit::host(), x.data(), x.size(), acc)) == expected);
      for (std::size_t cut = 0; cut <= x.size(); ++cut) {
        auto const left = deposit_all(acc, std::vector<T>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(cut)));
        auto const right = deposit_all(acc, std::vector<T>(x.begin() + static_cast<std::ptrdiff_t>(cut), x.end()));
        CHECK(isobit::to_bits(acc.finish(left + right)) == expected);
        CHECK(isobit::to_bits(acc.finish(canonical(canonical(right) + canonical(left)))) == expected);
      }
    } while (std::next_permutation(order.begin(), order.end()));
    // Among many, where the bins are used: in each residue of the tables and in the rest.
    for (std::size_t n : {4096u, 4097u, 70000u}) {
      if (values.size() > 2) continue;
      for (std::size_t at : {std::size_t(0), std::size_t(1), std::size_t(2), std::size_t(3), n / 2, n - 1}) {
        std::vector<T> many(n, values.empty() || values[0] == 0 ? -T(0) : T(0));
        for (std::size_t i = 0; i < values.size(); ++i) many[(at + i * 1031) % n] = values[i];
        auto const direct = deposit_all(acc, many);
        CHECK(bits_equal(isobit::reduce(isobit::host(), many.data(), n, acc), acc.finish(direct)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("exact: the plain reference agrees, any order and split gives the same bytes", T, float, double) {
  std::mt19937_64 random(sizeof(T));
  exact<T> const acc;
  for (int round = 0; round < 600; ++round) {
    auto const x = hard_numbers<T>(random, random() % 40, round % 5);
    auto const s = deposit_all(acc, x);
    T const expected = exact_reference::sum(x);
    CAPTURE(round);
    REQUIRE(bits_equal(acc.finish(s) == 0 ? T(0) : acc.finish(s), expected));
    for (int again = 0; again < 4; ++again) {
      auto const other = scrambled(acc, x, random);
      REQUIRE(bits_equal(other, s));
      REQUIRE(bits_equal(canonical(other), canonical(s)));
    }
  }
}

TEST_CASE_TEMPLATE("exact: long runs through the bins have the bytes of single deposits", T, float, double) {
  std::mt19937_64 random(17);
  exact<T> const acc;
  for (std::size_t n : {std::size_t(32767), std::size_t(40001), std::size_t(600000)})
    for (int kind = 0; kind < 5; ++kind) {
      if (n > 100000 && kind != 2) continue; // one exponent, more than a bin takes
      auto x = hard_numbers<T>(random, n, kind);
      if (kind == 3) x[n / 3] = -T(0);
      typename exact<T>::state s{};
      acc.deposit_range(s, 0, n, isobit::contiguous<T>{x.data()});
      REQUIRE(bits_equal(s, deposit_all(acc, x)));
      // A load that is no array.
      typename exact<T>::state t{};
      acc.deposit_range(t, 5, n - 5, [&](std::uint64_t i) { return x[i]; });
      for (int i = 0; i < 5; ++i) acc.deposit(t, x[static_cast<std::size_t>(i)]);
      REQUIRE(bits_equal(s, t));
    }
}

TEST_CASE("exact: rounding at the edges of the range") {
  exact<float> const acc;
  float const big = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  float const half_ulp = 0x1p103f; // of the largest number
  CHECK(sum_of(acc, std::vector{big, half_ulp}) ==
        std::numeric_limits<float>::infinity()); // a tie goes to the even: 2^128
  CHECK(sum_of(acc, std::vector{big, half_ulp, -tiny}) == big);
  CHECK(sum_of(acc, std::vector{-big, -half_ulp, tiny}) == -big);
  CHECK(sum_of(acc, std::vector{1.f, 0x1p-24f}) == 1.f);
  CHECK(sum_of(acc, std::vector{1.f, 0x1p-24f, tiny}) == 1.f + 0x1p-23f);
  CHECK(sum_of(acc, std::vector{1.f + 0x1p-23f, 0x1p-24f}) == 1.f + 0x1p-22f);
  CHECK(sum_of(acc, std::vector{0x1p-126f, -tiny}) == 0x1p-126f - tiny);
  CHECK(sum_of(acc, std::vector{tiny, tiny, -tiny}) == tiny);
  CHECK(sum_of(exact<double>{}, std::vector{0x1p-1022, 0x0.8p-1022, -0x1p-1074}) == 0x1.8p-1022 - 0x1p-1074);
  // More precision, or less, than the inputs: one rounding.
  CHECK(sum_of(exact<float, double>{}, std::vector{big, tiny}) == double(big));
  CHECK(sum_of(exact<float, double>{}, std::vector{tiny}) == double(tiny));
  CHECK(sum_of(exact<float, double>{}, std::vector{big, big}) == 2 * double(big));
  CHECK(sum_of(exact<double, float>{}, std::vector{1., 0x1p-24, 0x1p-80}) == 1.f + 0x1p-23f); // twice rounded: 1
  CHECK(sum_of(exact<double, float>{}, std::vector{0x1p-150}) == 0.f);
  CHECK(sum_of(exact<double, float>{}, std::vector{0x1p-150, 0x1p-1074}) == tiny);
  CHECK(sum_of(exact<double, float>{}, std::vector{-0x1p-400}) == 0.f);
  CHECK(std::signbit(sum_of(exact<double, float>{}, std::vector{-0x1p-400})));
  CHECK(sum_of(exact<double, float>{}, std::vector{1e300}) == std::numeric_limits<float>::infinity());
}

TEST_CASE_TEMPLATE("exact: narrow types", T, f16, bf16) {
  exact<T> const acc;
  exact<T, T> const narrow;
  // Every pair of neighbouring finite codes, as codes and as the floats that loads give.
  for (std::uint32_t c = 0; c < 65536; ++c) {
    T const x{static_cast<std::uint16_t>(c)};
    float const v = isobit::decode(x);
    if (isobit::is_nan(v)) {
      REQUIRE(isobit::to_bits(acc.finish(acc.lift(x))) == 0x7fc00000u);
      REQUIRE(narrow.finish(narrow.lift(v)).bits == T::format.nan());
      continue;
    }
    REQUIRE(bits_equal(acc.finish(acc.lift(x)), v));
    REQUIRE(bits_equal(acc.lift(x), acc.lift(v)));
    REQUIRE(narrow.finish(narrow.lift(v)) == x);
    T const y{static_cast<std::uint16_t>(c * 40503u)};
    float const w = isobit::decode(y);
    if (!isobit::is_finite(v) || !isobit::is_finite(w)) continue;
    double const exactly = double(v) + double(w);
    if (exactly - double(v) != double(w) || exactly == 0) continue; // a double cannot hold it
    REQUIRE(acc.finish(acc.lift(x) + acc.lift(w)) == static_cast<float>(exactly));
    REQUIRE(narrow.finish(acc.lift(x) + acc.lift(w)) == isobit::encode<T>(exactly));
  }
  // A float that is no value of the format is loud.
  CHECK(isobit::is_nan(acc.finish(acc.lift(1.f + 0x1p-23f))));
  if constexpr (std::is_same_v<T, f16>) {
    CHECK(isobit::is_nan(acc.finish(acc.lift(65536.f))));
    CHECK(isobit::is_nan(acc.finish(acc.lift(0x1p-25f))));
    CHECK(acc.finish(acc.lift(65504.f) + acc.lift(65504.f)) == 131008.f);
    CHECK(narrow.finish(acc.lift(65504.f) + acc.lift(16.f)).bits == 0x7c00u);
  }
  std::mt19937_64 random(5);
  std::vector<T> x(20001);
  for (T& v : x) v.bits = static_cast<std::uint16_t>(random() & 0xbbffu);
  typename exact<T>::state s{};
  for (T v : x) acc.deposit(s, v);
  CHECK(bits_equal(isobit::reduce(isobit::host(), x.data(), x.size(), acc), acc.finish(s)));
}

TEST_CASE("exact: the headroom is enforced, not trusted") {
  exact<float> const acc;
  float const big = std::numeric_limits<float>::max();
  auto s = acc.lift(big), t = acc.lift(-big);
  for (int i = 0; i < exact<float>::headroom_log2; ++i) {
    s += s;
    t += t;
    REQUIRE(acc.finish(s) == std::numeric_limits<float>::infinity());
    REQUIRE(isobit::is_zero(acc.finish(s + t)));
  }
  CHECK(isobit::is_nan(acc.finish(s + s)));
  CHECK(isobit::is_nan(acc.finish(t + t + t)));
  // And for single deposits: at the very top of the integer.
  exact<f16>::state h{};
  h.word[1] = 0x7fffffffffffffffu;
  h.word[0] = ~std::uint64_t(0);
  exact<f16>{}.deposit(h, f16{1});
  CHECK(isobit::is_nan(exact<f16>{}.finish(h)));
}

TEST_CASE("exact: canonical forms") {
  exact<float> const acc;
  float const inf = std::numeric_limits<float>::infinity();
  CHECK(bits_equal(canonical(acc.lift(3.f) + acc.lift(-3.f)), canonical(acc.lift(0.f))));
  CHECK(bits_equal(canonical(acc.lift(1.5f) + acc.lift(1.5f)), canonical(acc.lift(3.f))));
  CHECK(bits_equal(canonical(acc.lift(inf) + acc.lift(1.f)), canonical(acc.lift(inf))));
  CHECK(bits_equal(canonical(acc.lift(inf) + acc.lift(-inf)), canonical(acc.lift(std::nanf("")) + acc.lift(7.f))));
  CHECK(bits_equal(canonical(acc.lift(-0.f) + acc.lift(0.f)), canonical(acc.lift(0.f))));
  CHECK(!bits_equal(canonical(acc.lift(-0.f)), canonical(acc.lift(0.f))));
  CHECK(!bits_equal(canonical(exact<float>::state{}), canonical(acc.lift(0.f)))); // adding -0 tells them apart
  CHECK(!bits_equal(canonical(acc.lift(1.f)), canonical(acc.lift(1.f) + acc.lift(1e-45f)))); // control
}

TEST_CASE_TEMPLATE("exact: products", T, float, double) {
  using pair = isobit::factors<T>;
  exact_dot<T> const acc;
  auto const dot = [&](std::vector<pair> const& x) { return sum_of(acc, x); };
  T const tiny = std::numeric_limits<T>::denorm_min(), big = std::numeric_limits<T>::max();
  T const inf = std::numeric_limits<T>::infinity(), eps = std::numeric_limits<T>::epsilon();
  // B07 (b): the rounding of a product is not lost.
  CHECK(dot({{1 + 2 * eps, 1 + 2 * eps}, {-(1 + 4 * eps), 1}}) == 4 * eps * eps);
  CHECK(dot({{big, big}, {1, 1}, {-big, big}}) == 1);
  CHECK(dot({{tiny, tiny}, {big, 0}}) == 0);
  CHECK(!std::signbit(dot({{tiny, tiny}})));
  CHECK(std::signbit(dot({{tiny, -tiny}})));
  CHECK(dot({{T(0.5), tiny}, {tiny, tiny}}) == tiny); // above the tie
  CHECK(dot({{T(0.5), tiny}}) == 0);                  // the tie, to even
  T const top = 2 / std::numeric_limits<T>::min();    // the power of two below the largest number
  CHECK(dot({{big, 1}, {top, eps / 2}}) == inf);      // the tie, to even: infinity
  CHECK(dot({{big, 1}, {top, eps / 2}, {-tiny, tiny}}) == big);
  CHECK(dot({{big, 1}, {big, eps / 4}}) == big);
  CHECK(isobit::is_nan(dot({{inf, 0}})));
  CHECK(isobit::is_nan(dot({{inf, 1}, {inf, -1}})));
  CHECK(isobit::is_nan(dot({{std::numeric_limits<T>::quiet_NaN(), 0}})));
  CHECK(dot({{inf, -2}, {big, big}}) == -inf);
  CHECK(bits_equal(dot({{-T(0), 3}, {0, -2}}), -T(0)));
  CHECK(isobit::to_bits(dot({{-T(0), 3}, {0, 2}})) == 0);

  std::mt19937_64 random(23);
  for (int round = 0; round < 300; ++round) {
    auto const a = hard_numbers<T>(random, 1 + random() % 20, round % 5);
    auto const b = hard_numbers<T>(random, a.size(), round / 5 % 5);
    std::vector<pair> x;
    for (std::size_t i = 0; i < a.size(); ++i) x.push_back({a[i], b[i]});
    auto const s = deposit_all(acc, x);
    for (int again = 0; again < 3; ++again) REQUIRE(bits_equal(scrambled(acc, x, random), s));
    if constexpr (std::is_same_v<T, float>) { // products are exact in double
      std::vector<long> place(4500);
      for (auto const& p : x) exact_reference::deposit(place, double(p.a) * double(p.b));
      float const expected = exact_reference::round<float>(place);
      REQUIRE(acc.finish(s) == expected);
    }
  }
}

TEST_CASE("exact: the host's executor, fragments, other orders") {
  std::mt19937_64 random(29);
  auto const x = hard_numbers<float>(random, 50001, 0);
  exact<float> const acc;
  auto const expected = isobit::to_bits(sum_of(acc, x));
  auto const backwards = [](std::uint64_t count, auto const& f) {
    for (std::uint64_t i = count; i-- > 0;) f(i);
  };
  CHECK(isobit::to_bits(isobit::reduce(isobit::host(backwards), x.data(), x.size(), acc)) == expected);
  CHECK(isobit::to_bits(isobit::reduce(isobit::thread{}, x.data(), x.size(), acc)) == expected);
  CHECK(isobit::to_bits(isobit::reduce<isobit::lanes<16>>(isobit::host(), x.data(), x.size(), acc)) == expected);
  CHECK(isobit::to_bits(isobit::reduce<isobit::sequential>(isobit::host(), x.data(), x.size(), acc)) == expected);
  CHECK(isobit::reduce(isobit::host(), x.data(), 0, acc) == 0.f);

  isobit::fragment<exact<float>::state, 20> left(0), right(1234);
  for (std::size_t i = 0; i < 1234; ++i) left.append(acc, acc.lift(x[i]));
  for (std::size_t i = 1234; i < 3000; ++i) right.append(acc, acc.lift(x[i]));
  auto const whole = merge(acc, left, right);
  CHECK(acc.finish(whole.root(acc)) == isobit::reduce(isobit::host(), x.data(), 3000, acc));

  auto const products = [&](std::uint64_t i) { return isobit::factors<float>{x[i], x[x.size() - 1 - i]}; };
  exact_dot<float>::state s{};
  for (std::size_t i = 0; i < x.size(); ++i) exact_dot<float>{}.deposit(s, products(i));
  CHECK(bits_equal(isobit::reduce(isobit::host(), x.size(), products, exact_dot<float>{}), exact_dot<float>{}.finish(s)));
}
