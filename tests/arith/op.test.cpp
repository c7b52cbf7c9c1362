// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arith/op.hpp against the processor's own IEEE arithmetic, and as constant expressions.
#include <isobit/arith/op.hpp>

#include "adversarial.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace isobit;

namespace {
// Found before the global functions of the same names.
using isobit::abs;
using isobit::fma;
using isobit::max;
using isobit::min;
using isobit::sqrt;

template <class T> constexpr T inf = std::numeric_limits<T>::infinity();
template <class T> constexpr T largest = std::numeric_limits<T>::max();
template <class T> constexpr T tiny = std::numeric_limits<T>::denorm_min();
template <class T> constexpr T least_normal = std::numeric_limits<T>::min();
template <class T> constexpr T quiet = from_bits<T>(float_fields<T>::quiet_nan);
template <class T> constexpr bool is(T x, T want) { return to_bits(x) == to_bits(want); }

template <class T> constexpr bool constants() {
  constexpr T eps = std::numeric_limits<T>::epsilon();
  // Where compilers refuse the plain operator.
  static_assert(is(add(largest<T>, largest<T>), inf<T>) && is(sub(-largest<T>, largest<T>), -inf<T>));
  static_assert(is_nan(sub(inf<T>, inf<T>)) && is_nan(mul(T(0), inf<T>)) && is_nan(add(quiet<T>, T(1))));
  static_assert(is(mul(largest<T>, T(2)), inf<T>) && is(mul(least_normal<T>, T(0.5)), least_normal<T> / 2));
  static_assert(is(mul(tiny<T>, T(0.5)), T(0)) && is(mul(-tiny<T>, T(0.5)), -T(0)) && is(mul(tiny<T>, T(0.75)), tiny<T>));
  static_assert(is(div(T(1), T(0)), inf<T>) && is(div(-T(1), T(0)), -inf<T>) && is_nan(div(T(0), T(0))));
  static_assert(is(div(T(1), T(3)), T(1) / T(3)) && is(div(tiny<T>, T(2)), T(0)) && is(div(largest<T>, tiny<T>), inf<T>));
  // Zeros keep their signs.
  static_assert(is(add(-T(0), -T(0)), -T(0)) && is(add(-T(0), T(0)), T(0)) && is(sub(T(1), T(1)), T(0)));
  static_assert(is(add(-T(0), T(0)), T(0)) && is(mul(-T(0), T(1)), -T(0)) && is(sub(-T(0), T(0)), -T(0)));
  // Ties to even.
  static_assert(is(add(T(1), eps / 2), T(1)) && is(add(1 + eps, eps / 2), 1 + 2 * eps));
  // One rounding.
  static_assert(is(fma(1 + eps, 1 - eps, -T(1)), -eps * eps) && is(fma(T(2), T(3), T(4)), T(10)));
  static_assert(is(fma(largest<T>, T(2), -largest<T>), largest<T>) && is(fma(-T(0), T(1), -T(0)), -T(0)));
  static_assert(is(fma(T(1), T(1), -T(1)), T(0)) && is_nan(fma(inf<T>, T(0), T(1))) && is(fma(T(2), inf<T>, T(1)), inf<T>));
  static_assert(is(fma(tiny<T>, tiny<T>, T(1)), T(1)) && is(fma(-tiny<T>, tiny<T>, T(0)), -T(0)));
  static_assert(is(fma(-tiny<T>, tiny<T>, 1 + eps), 1 + eps));
  static_assert(is(sqrt(T(2)), T(1.41421356237309504880L)) && is(sqrt(T(9)), T(3)) && is(sqrt(-T(0)), -T(0)));
  static_assert(is_nan(sqrt(-T(1))) && is(sqrt(inf<T>), inf<T>) && is(sqrt(T(0.25)), T(0.5)));
  // On bits.
  static_assert(is(min(-T(0), T(0)), -T(0)) && is(max(-T(0), T(0)), T(0)) && is(max(T(0), -T(0)), T(0)));
  static_assert(is(min(quiet<T>, T(1)), quiet<T>) && is(max(T(1), -quiet<T>), quiet<T>));
  static_assert(is(min(-inf<T>, T(1)), -inf<T>) && is(max(-inf<T>, tiny<T>), tiny<T>));
  static_assert(is(abs(-T(0)), T(0)) && is(neg(T(0)), -T(0)) && is(abs(-tiny<T>), tiny<T>));
  static_assert(!less(-T(0), T(0)) && equal(-T(0), T(0)) && less_equal(T(0), -T(0)) && total_less(-T(0), T(0)));
  static_assert(!less(quiet<T>, T(1)) && !less(T(1), quiet<T>) && !less_equal(quiet<T>, quiet<T>));
  static_assert(!equal(quiet<T>, quiet<T>) && less(T(0), tiny<T>) && !equal(T(0), tiny<T>) && total_less(inf<T>, quiet<T>));
  // Integers, with one rounding.
  static_assert(is(convert<T>(true), T(1)) && is(convert<T>('\1'), T(1)) && is(convert<T>(-3), T(-3)));
  static_assert(is(convert<T>(~uint64_t(0)), T(18446744073709551616.0)));
  static_assert(is(convert<T>(std::numeric_limits<int64_t>::min()), T(-9223372036854775808.0)));
  static_assert(is(convert<T>(uint32_t(4000000000u)), T(4000000000.0)) && is(convert<T>(uint16_t(65535)), T(65535)));
  return true;
}
static_assert(constants<float>() && constants<double>());
static_assert(is(convert<float>(int64_t(0x20000010000000) + 1), 9007199523176448.0f)); // 2^53 + 2^28 + 1: above the tie
static_assert(is(convert<float>(16777217), 16777216.0f) && is(convert<float>(16777219), 16777220.0f));
static_assert(is(convert<float>(1e300), inf<float>) && is(convert<float>(-1e-300), -0.0f));
static_assert(is(convert<float>(0.1), 0.1f) && is(convert<double>(tiny<float>), 0x1p-149));
static_assert(is(convert<float>(0x1.fffffefp127), inf<float>) == false && is(convert<float>(0x1.ffffffp127), inf<float>));
static_assert(is(convert<double>(1.5f), 1.5) && is(convert<float>(1.5f), 1.5f));

template <class T> T plain_fma(T a, T b, T c) { return std::fma(a, b, c); }

template <class T> struct triple {
  T a, b, c;
};
template <class T> triple<T> draw(test::source& random) {
  triple<T> t{random.any<T>(), random.any<T>(), random.any<T>()};
  if (random.below(4) == 0) t.c = -(t.a * t.b); // cancels against the product
  if (random.below(8) == 0) t.c = random.nudged(t.c);
  if (random.below(8) == 0) t.b = random.nudged(t.a);
  return t;
}

TEST_CASE_TEMPLATE("every operation gives the processor's bits", T, float, double) {
  test::source random;
  long failures[12] = {};
  for (int i = 0; i < 1500000; ++i) {
    auto const [a, b, c] = draw<T>(random);
    failures[0] += !test::same(add(a, b), a + b);
    failures[1] += !test::same(sub(a, b), a - b);
    failures[2] += !test::same(mul(a, b), a * b);
    failures[3] += !test::same(div(a, b), a / b);
    failures[4] += !test::same(sqrt(a), std::sqrt(a));
    failures[5] += !test::same(fma(a, b, c), plain_fma(a, b, c));
    failures[6] += less(a, b) != (a < b) || less_equal(a, b) != (a <= b) || equal(a, b) != (a == b);
    bool const nan = a != a || b != b;
    T const lower = a == b ? (sign_bit(a) ? a : b) : a < b ? a : b, upper = a == b ? (sign_bit(a) ? b : a) : a < b ? b : a;
    failures[7] += nan ? !is(min(a, b), quiet<T>) : !is(min(a, b), lower);
    failures[8] += nan ? !is(max(a, b), quiet<T>) : !is(max(a, b), upper);
    failures[9] += !is(abs(a), std::copysign(a, T(1))) || !is(neg(a), -a);
    failures[10] += total_less(a, b) && total_less(b, a);
  }
  for (long const f : failures) CHECK(f == 0);
}

TEST_CASE_TEMPLATE("integers do the same arithmetic", T, float, double) {
  test::source random{77};
  long failures[6] = {};
  for (int i = 0; i < 1000000; ++i) {
    auto const [a, b, c] = draw<T>(random);
    failures[0] += !test::same(soft::add(a, b), a + b);
    failures[1] += !test::same(soft::sub(a, b), a - b);
    failures[2] += !test::same(soft::mul(a, b), a * b);
    failures[3] += !test::same(soft::fma(a, b, c), plain_fma(a, b, c));
    if (i % 4 == 0) failures[4] += !test::same(soft::div(a, b), a / b);
    if (i % 4 == 0) failures[5] += !test::same(soft::sqrt(a), std::sqrt(a));
  }
  for (long const f : failures) CHECK(f == 0);
}

TEST_CASE("float fma by a double sum rounded to odd") {
  test::source random{5};
  long failures = 0, naive_failures = 0;
  for (int i = 0; i < 3000000; ++i) {
    auto [a, b, c] = draw<float>(random);
    if (i % 2 == 0) { // a product near a tie of the float grid, moved by a far smaller addend
      a = random.between<float>(-5, 5);
      b = from_bits<float>(to_bits(random.between<float>(-5, 5)) & 0xfffff000u);
      c = random.between<float>(-40, -24);
    }
    float const want = std::fma(a, b, c);
    failures += !test::same(isobit::detail::fma_by_double(a, b, c), want);
    naive_failures += !test::same(static_cast<float>(static_cast<double>(a) * b + c), want);
  }
  CHECK(failures == 0);
  CHECK(naive_failures > 0); // control: two plain roundings are seen
}

TEST_CASE("double fma by error-free transforms") {
  test::source random{6};
  long failures = 0, naive_failures = 0;
  for (int i = 0; i < 2000000; ++i) {
    auto [a, b, c] = draw<double>(random);
    if (i % 2 == 0) { // few bits, so that ties are common, and an addend far below or about to cancel
      a = from_bits<double>(to_bits(random.between<double>(-5, 5)) & ~((uint64_t(1) << (20 + random.below(32))) - 1));
      b = from_bits<double>(to_bits(random.between<double>(-5, 5)) & ~((uint64_t(1) << (10 + random.below(42))) - 1));
      int const e = -static_cast<int>(random.below(120)) + 10;
      c = random.between<double>(e, e);
      if (random.below(4) == 0) c = random.nudged(-(a * b));
    }
    double const want = std::fma(a, b, c);
    failures += !test::same(isobit::detail::fma_by_errors(a, b, c), want);
    naive_failures += !test::same(a * b + c, want);
  }
  for (int i = 0; i < 300000; ++i) { // at the edges of the moderate exponents
    double const a = random.between<double>(-402, -398), b = random.between<double>(i % 2 == 0 ? -402 : 398, i % 2 == 0 ? -398 : 402);
    double const c = i % 3 == 0 ? random.between<double>(-802, -798) : i % 3 == 1 ? random.between<double>(798, 802)
                                                                                  : random.nudged(-(a * b));
    failures += !test::same(isobit::detail::fma_by_errors(a, b, c), std::fma(a, b, c));
    failures += !test::same(isobit::detail::fma_by_errors(1 / a, b, c), std::fma(1 / a, b, c));
  }
  CHECK(failures == 0);
  CHECK(naive_failures > 0); // control
}

TEST_CASE_TEMPLATE("conversions round once", T, float, double) {
  using other = std::conditional_t<sizeof(T) == 4, double, float>;
  test::source random{11};
  long failures[4] = {};
  for (int i = 0; i < 1000000; ++i) {
    other x = random.any<other>();
    if constexpr (sizeof(other) == 8) {
      if (i % 2 == 0) x = from_bits<double>(to_bits(double(random.any<float>())) + (uint64_t(1) << 28)); // a tie of float
      if (i % 3 == 0) x = random.nudged(x);
    }
    failures[0] += !test::same(convert<T>(x), static_cast<T>(x));
    failures[1] += !test::same(soft::convert<T>(x), static_cast<T>(x));
    uint64_t u = random.next() >> random.below(64);
    if (i % 4 == 0) u |= uint64_t(1) << 63;
    if (i % 5 == 0) u &= ~((uint64_t(1) << random.below(63)) - 1);
    if (i % 7 == 0) ++u;
    auto const s = static_cast<int64_t>(u);
    failures[2] += !is(convert<T>(u), static_cast<T>(u)) || !is(convert<T>(s), static_cast<T>(s)) ||
                   !is(convert<T>(uint32_t(u)), static_cast<T>(uint32_t(u))) ||
                   !is(convert<T>(int32_t(u)), static_cast<T>(int32_t(u))) ||
                   !is(convert<T>(int16_t(u)), static_cast<T>(int16_t(u))) ||
                   !is(convert<T>(uint8_t(u)), static_cast<T>(uint8_t(u)));
    failures[3] += !is(soft::convert<T>(u), static_cast<T>(u)) || !is(soft::convert<T>(s), static_cast<T>(s));
  }
  for (long const f : failures) CHECK(f == 0);
}
} // namespace
