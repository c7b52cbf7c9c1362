// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exclusive scans and initial values of every accumulator, on the host and by one thread.
#include "initial.hpp"

#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>

using namespace scan_test;

TEST_CASE("every accumulator") {
  auto const load = [](std::uint64_t i) { return order_test::float_at(i); };
  check_all(plain<float>{}, load, 3.25f, 300);
  check_all(compensated<float>{}, load, 3.25f, 300);
  check_all(isobit::double_float<float>{}, load, 3.25f, 200);
  check_all(isobit::moments<float>{}, load, 3.25f, 200);
  check_all(isobit::exact<float>{}, load, 3.25f, 100);
  check_all(isobit::extrema<float>{}, [](std::uint64_t i) { return isobit::indexed_value<float>{order_test::float_at(i), i}; },
            isobit::indexed_value<float>{0.5f, 77}, 200);
}
