// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bits/cast.hpp: patterns, fields and classes.
#include <isobit/bits/cast.hpp>

#include "../arith/adversarial.hpp"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>

using namespace isobit;

static_assert(to_bits(1.0f) == 0x3f800000u && to_bits(-2.0) == 0xc000000000000000u);
static_assert(is_zero(-0.0f) && is_zero(0.0) && !is_zero(from_bits<float>(1)) && !is_zero(from_bits<double>(1)));
static_assert(is_nan(from_bits<float>(0x7f800001u)) && is_nan(from_bits<float>(0xffc00000u)));
static_assert(!is_nan(from_bits<float>(0x7f800000u)) && is_inf(from_bits<float>(0xff800000u)));
static_assert(is_subnormal(from_bits<float>(0x807fffffu)) && !is_subnormal(from_bits<float>(0x00800000u)));
static_assert(!is_subnormal(0.0f) && !is_subnormal(1.0));
static_assert(to_bits(canonical(from_bits<float>(0xffc12345u))) == 0x7fc00000u);
static_assert(to_bits(canonical(-0.0f)) == 0x80000000u);

TEST_CASE_TEMPLATE("classes agree with the standard library", T, float, double) {
  test::source random;
  long failures = 0;
  for (int i = 0; i < 200000; ++i) {
    T const x = random.any<T>();
    float_bits<T> copied;
    std::memcpy(&copied, &x, sizeof x);
    failures += to_bits(x) != copied;
    failures += is_nan(x) != std::isnan(x) || is_inf(x) != std::isinf(x) || is_finite(x) != std::isfinite(x);
    failures += is_zero(x) != (x == 0) || sign_bit(x) != std::signbit(x);
    failures += is_subnormal(x) != (std::fpclassify(x) == FP_SUBNORMAL);
    failures += !is_nan(x) && to_bits(canonical(x)) != to_bits(x);
  }
  CHECK(failures == 0);
}
