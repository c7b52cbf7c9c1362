// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exclusive scans and initial values of operators that do not commute, on the host and by one thread.
#include "initial.hpp"

using namespace scan_test;

namespace {

struct matrix { // 2 x 2, modulo 2^32
  std::uint32_t a, b, c, d;
};
struct multiply {
  matrix operator()(matrix const& l, matrix const& r) const {
    return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d};
  }
};

} // namespace

TEST_CASE("operators that do not commute") {
  order_test::for_each_operator([](auto const& acc, auto const& load) { check_all(acc, load, load(12345), 200); });
  check_all(isobit::with_operator<matrix, multiply>{}, [](std::uint64_t i) {
    auto const m = static_cast<std::uint32_t>(order_test::mixed(i));
    return matrix{m, m >> 3, m >> 7, m * 5 + 1};
  }, matrix{1, 2, 3, 5}, 150);
}
