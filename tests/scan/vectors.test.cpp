// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans of arrays on vector registers of the host equal those element by element.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/accum/compensated.hpp>

#include <limits>

using namespace scan_test;

TEST_CASE_TEMPLATE("host: arrays on vector registers equal element by element, special values and all", T, float,
                   double, isobit::f16, isobit::bf16, isobit::e4m3) {
  using value = isobit::element_value<T>;
  std::vector<T> x(5000);
  for (bool special : {false, true}) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto const v = static_cast<value>(order_test::float_at(i));
      auto const m = order_test::mixed(i);
      value special_value = value(-0.0);
      if (m % 997 == 1) special_value = std::numeric_limits<value>::infinity();
      if (m % 997 == 2) special_value = -std::numeric_limits<value>::infinity();
      if (m % 997 == 3) special_value = std::numeric_limits<value>::quiet_NaN();
      if (m % 997 == 4) special_value = std::numeric_limits<value>::max();
      if (m % 997 == 5) special_value = std::numeric_limits<value>::denorm_min();
      value const chosen = special && m % 997 < 200 ? special_value : v;
      if constexpr (isobit::small_float<T>)
        x[i] = isobit::encode<T>(chosen);
      else
        x[i] = chosen;
    }
    auto const check = [&](std::size_t first, std::size_t n, auto const& acc) {
      std::vector<value> fast(n), slow(n);
      isobit::inclusive_scan(host(), x.data() + first, n, fast.data(), acc);
      isobit::inclusive_scan(
          isobit::thread{}, n, [&](std::size_t i) { return isobit::decode_element(x[first + i]); },
          [&](std::size_t i, value r) { slow[i] = r; }, acc);
      if (n > 0) REQUIRE(bits_equal(fast, slow));
    };
    for (std::size_t n = 0; n <= 300; ++n) {
      check(n, n, plain<value>{});
      check(n % 7, n, compensated<value>{});
    }
    check(1, 4999, plain<value>{});
    check(1, 4999, compensated<value>{});
    check(3000, 2000, compensated<value>{});
  }
}
