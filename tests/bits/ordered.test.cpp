// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bits/ordered.hpp: the order of numbers as integers, distances and neighbours.
#include <isobit/bits/ordered.hpp>

#include "../arith/adversarial.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace isobit;

namespace {
template <class T> constexpr T inf = from_bits<T>(float_fields<T>::exponent);
template <class T> constexpr T quiet = from_bits<T>(float_fields<T>::quiet_nan);
template <class T> constexpr T minus(T x) { return from_bits<T>(to_bits(x) ^ float_fields<T>::sign); }
template <class T> constexpr T tiny = from_bits<T>(1);

template <class T> constexpr bool edges() {
  constexpr T largest = from_bits<T>(float_fields<T>::exponent - 1);
  static_assert(to_ordered(T(0)) == 0 && to_ordered(minus(T(0))) == -1);
  static_assert(to_ordered(minus(quiet<T>)) < to_ordered(minus(inf<T>)));
  static_assert(to_ordered(minus(inf<T>)) < to_ordered(minus(largest)));
  static_assert(to_ordered(largest) + 1 == to_ordered(inf<T>));
  static_assert(to_ordered(inf<T>) < to_ordered(quiet<T>));
  static_assert(to_ordered_unsigned(minus(T(0))) + 1 == to_ordered_unsigned(T(0)));
  static_assert(to_bits(next_up(T(0))) == 1 && to_bits(next_up(minus(T(0)))) == 1);
  static_assert(to_bits(next_up(minus(tiny<T>))) == float_fields<T>::sign);
  static_assert(to_bits(next_down(tiny<T>)) == 0 && to_bits(next_down(T(0))) == (float_fields<T>::sign | 1));
  static_assert(is_inf(next_up(largest)) && is_inf(next_up(inf<T>)));
  static_assert(to_bits(next_up(minus(inf<T>))) == to_bits(minus(largest)));
  static_assert(to_bits(next_down(inf<T>)) == to_bits(largest) && is_inf(next_down(minus(inf<T>))));
  static_assert(to_bits(next_up(minus(quiet<T>))) == float_fields<T>::quiet_nan);
  static_assert(ulp_distance(T(0), minus(T(0))) == 0 && ulp_distance(tiny<T>, minus(tiny<T>)) == 2);
  static_assert(ulp_distance(largest, inf<T>) == 1 && ulp_distance(inf<T>, largest) == 1);
  static_assert(ulp_distance(T(1), T(1) + std::numeric_limits<T>::epsilon()) == 1);
  static_assert(ulp_distance(minus(inf<T>), inf<T>) == 2 * float_fields<T>::exponent);
  static_assert(ulp_distance(quiet<T>, minus(quiet<T>)) == 0);
  static_assert(ulp_distance(quiet<T>, T(1)) == static_cast<float_bits<T>>(-1));
  static_assert(ulp_distance(T(1), quiet<T>) == static_cast<float_bits<T>>(-1));
  return true;
}
static_assert(edges<float>() && edges<double>());
} // namespace

TEST_CASE("every 16-bit stride of the floats, in order") {
  // All upper halves with the lower halves that matter, walked from the lowest integer to the highest.
  constexpr uint32_t lower_halves[] = {0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff};
  long failures = 0;
  bool first = true;
  float before = 0;
  for (int64_t upper = -32768; upper < 32768; ++upper)
    for (uint32_t const lower : lower_halves) {
      auto const place = static_cast<int32_t>(upper * 65536 + lower);
      float const x = from_ordered<float>(place);
      failures += to_ordered(x) != place;
      failures += from_ordered_unsigned<float>(to_ordered_unsigned(x)) != x && !is_nan(x);
      failures += to_bits(from_ordered_unsigned<float>(to_ordered_unsigned(x))) != to_bits(x);
      if (!first && !is_nan(x) && !is_nan(before)) {
        failures += !(before < x || (before == x && sign_bit(before) && !sign_bit(x)));
        failures += !(to_ordered_unsigned(before) < to_ordered_unsigned(x));
      }
      failures += is_nan(x) != (x != x);
      failures += !test::same(next_up(x), std::nextafter(x, std::numeric_limits<float>::infinity()));
      failures += !test::same(next_down(x), std::nextafter(x, -std::numeric_limits<float>::infinity()));
      first = false;
      before = x;
    }
  CHECK(failures == 0);
}

TEST_CASE_TEMPLATE("neighbours and distances agree", T, float, double) {
  test::source random;
  long failures = 0;
  for (int i = 0; i < 300000; ++i) {
    T const x = random.any<T>(), y = random.any<T>();
    failures += to_bits(from_ordered<T>(to_ordered(x))) != to_bits(x);
    failures += ulp_distance(x, y) != ulp_distance(y, x);
    if (is_nan(x) || is_nan(y)) continue;
    failures += (x < y) != (to_ordered(x) < to_ordered(y) && !(is_zero(x) && is_zero(y)));
    failures += (x == y) != (ulp_distance(x, y) == 0);
    if (is_finite(x)) {
      failures += ulp_distance(x, next_up(x)) != 1 || ulp_distance(next_down(x), x) != 1;
      failures += !(next_down(x) < x && x < next_up(x));
      if (!is_zero(x)) failures += !is_zero(x) && next_down(next_up(x)) != x;
    }
  }
  CHECK(failures == 0);
}

TEST_CASE("control: the raw bit pattern as an integer is not monotone") {
  CHECK_FALSE(static_cast<int32_t>(to_bits(-1.0f)) > static_cast<int32_t>(to_bits(-2.0f)));
  CHECK(to_ordered(-1.0f) > to_ordered(-2.0f));
}
