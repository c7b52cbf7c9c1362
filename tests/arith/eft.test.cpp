// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arith/eft.hpp: value + error is exact, checked in 113-bit arithmetic.
#include <isobit/arith/eft.hpp>

#include "adversarial.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace isobit;

namespace {
// A number type with 113 bits: __float128 on x86-64, long double on aarch64.
#if defined(__x86_64__)
using exact = __float128;
#else
using exact = long double;
static_assert(std::numeric_limits<long double>::digits >= 113);
#endif

template <class T> constexpr int precision = std::numeric_limits<T>::digits;

static_assert(two_sum(1.0f, 0x1p-30f).value == 1.0f && two_sum(1.0f, 0x1p-30f).error == 0x1p-30f);
static_assert(two_sum(0x1p-30f, 1.0f).error == 0x1p-30f && two_difference(0x1p-30f, 1.0f).error == 0x1p-30f);
static_assert(two_difference(1.0, 0x1p-60).value == 1.0 && two_difference(1.0, 0x1p-60).error == -0x1p-60);
static_assert(fast_two_sum(1.0, 0x1p-60).error == 0x1p-60);
static_assert(two_product(1.0f + 0x1p-12f, 1.0f + 0x1p-12f).error == 0x1p-24f);
static_assert(two_product_split(1.0f + 0x1p-12f, 1.0f + 0x1p-12f).error == 0x1p-24f);
static_assert(split(1.0 + 0x1p-40).high == 1.0 && split(1.0 + 0x1p-40).low == 0x1p-40);

template <class T> bool sums_to(with_error<T> r, exact want) {
  return static_cast<exact>(r.value) + static_cast<exact>(r.error) == want;
}
template <class T> int exponent_of(T x) { return std::ilogb(x); }
} // namespace

TEST_CASE_TEMPLATE("two_sum is exact over the whole range", T, float, double) {
  test::source random{1};
  constexpr int lowest = std::numeric_limits<T>::min_exponent - 1, highest = std::numeric_limits<T>::max_exponent - 2;
  long failures = 0, far = 0, near = 0;
  for (int i = 0; i < 1000000; ++i) {
    T a = i % 8 == 0 ? random.any<T>() : random.between<T>(lowest, highest);
    T b = i % 2 == 0 ? random.any<T>() : random.between<T>(lowest, highest);
    if (i % 2 != 0 && is_finite(a) && !is_zero(a)) { // near in magnitude
      int const e = exponent_of(a), distance = static_cast<int>(random.below(2 * precision<T>)) - precision<T>;
      if (e + distance >= lowest && e + distance <= highest) b = random.between<T>(e + distance, e + distance);
    }
    if (!is_finite(a) || !is_finite(b) || !std::isfinite(a + b)) continue;
    auto const r = two_sum(a, b);
    auto const d = two_difference(a, -b);
    failures += r.value != a + b || d.value != r.value || d.error != r.error;
    auto const swapped = two_sum(b, a);
    failures += swapped.value != r.value || swapped.error != r.error;
    T const larger = std::fabs(a) >= std::fabs(b) ? a : b, smaller = std::fabs(a) >= std::fabs(b) ? b : a;
    auto const fast = fast_two_sum(larger, smaller);
    failures += fast.value != r.value || fast.error != r.error;
    bool const far_apart = larger == 0 || smaller == 0 || exponent_of(larger) - exponent_of(smaller) > precision<T> + 2;
    if (far_apart) { // nothing of the smaller reaches the sum
      failures += r.value != larger || r.error != smaller;
      ++far;
    } else { // at most 53 + 55 + 1 bits: both sides are exact in 113
      failures += !sums_to(r, static_cast<exact>(a) + static_cast<exact>(b));
      ++near;
    }
  }
  CHECK(failures == 0);
  CHECK(far > 1000);
  CHECK(near > 100000);
}

TEST_CASE_TEMPLATE("two_product is exact where its preconditions hold", T, float, double) {
  test::source random{2};
  constexpr int lowest = std::numeric_limits<T>::min_exponent - 1, highest = std::numeric_limits<T>::max_exponent - 1;
  constexpr int least_sum = lowest + precision<T> - 1; // -103 and -970, as documented
  static_assert(least_sum == (sizeof(T) == 4 ? -103 : -970));
  long failures = 0, at_the_edge = 0;
  for (int i = 0; i < 1000000; ++i) {
    T const a = random.between<T>(lowest / 2, highest / 2 - 1);
    int const e = exponent_of(a);
    // Half of the cases are at the lowest allowed exponent.
    int const other = i % 2 == 0 ? least_sum - e : static_cast<int>(random.below(40)) - 20;
    if (other < lowest || e + other < least_sum || e + other > highest - 1) continue;
    T const b = random.between<T>(other, other);
    at_the_edge += e + other == least_sum;
    auto const r = two_product(a, b);
    failures += r.value != a * b || !sums_to(r, static_cast<exact>(a) * static_cast<exact>(b));
    auto const s = two_product_split(a, b);
    failures += s.value != r.value || s.error != r.error;
    auto const parts = split(a);
    failures += static_cast<exact>(parts.high) + static_cast<exact>(parts.low) != static_cast<exact>(a);
  }
  CHECK(failures == 0);
  CHECK(at_the_edge > 100000);
}

TEST_CASE_TEMPLATE("control: one exponent below the precondition, errors are lost", T, float, double) {
  test::source random{3};
  constexpr int least_sum = std::numeric_limits<T>::min_exponent - 1 + precision<T> - 1;
  long lost = 0;
  for (int i = 0; i < 20000; ++i) {
    T const a = random.between<T>(-40, -40), b = random.between<T>(least_sum - 2 + 40, least_sum - 2 + 40);
    lost += !sums_to(two_product(a, b), static_cast<exact>(a) * static_cast<exact>(b));
  }
  CHECK(lost > 0);
}

TEST_CASE_TEMPLATE("control: fast_two_sum needs its order", T, float, double) {
  test::source random{4};
  long lost = 0;
  for (int i = 0; i < 20000; ++i) {
    T const a = random.between<T>(0, 0), b = random.between<T>(10, 10);
    auto const r = fast_two_sum(a, b);
    lost += !sums_to(r, static_cast<exact>(a) + static_cast<exact>(b));
  }
  CHECK(lost > 0);
}

TEST_CASE("outside the preconditions the value still is the IEEE result") {
  constexpr float inf = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  CHECK(two_sum(largest, largest).value == inf);
  CHECK(is_nan(two_sum(inf, 1.0f).error));
  CHECK(two_product(largest, 2.0f).value == inf);
  CHECK(is_nan(two_sum(inf, -inf).value));
}
