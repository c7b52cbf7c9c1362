// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arith/env.hpp: a hostile environment is set by hand, and the guard undoes and restores it.
#include <isobit/arith/env.hpp>
#include <isobit/arith/op.hpp>

#include <cfenv>
#include <doctest/doctest.h>
#include <stdexcept>

using namespace isobit;

namespace {
#if defined(__x86_64__)
constexpr isobit::detail::environment_word flush = 0x8040;
#elif defined(__aarch64__)
constexpr isobit::detail::environment_word flush = 1u << 24;
#else
constexpr isobit::detail::environment_word flush = 0;
#endif

float volatile smallest_normal = 0x1p-126f, half = 0.5f, one = 1.0f, three = 3.0f;

float subnormal_product() { return mul(smallest_normal, half); }
float third() { return div(one, three); }

// Without the sticky exception flags, which the controls raise.
auto control_bits() { return isobit::detail::read_environment() & isobit::detail::environment_control; }

struct restore_at_end {
  isobit::detail::environment_word word = isobit::detail::read_environment();
  ~restore_at_end() { isobit::detail::write_environment(word); }
};
} // namespace

TEST_CASE("the environment of an ordinary program is the default") { CHECK(environment_is_default()); }

TEST_CASE("flush-to-zero is undone within the guard and restored after it") {
  restore_at_end const restore;
  isobit::detail::write_environment(isobit::detail::read_environment() | flush);
  auto const hostile = control_bits();
  CHECK_FALSE(environment_is_default());
  CHECK(to_bits(subnormal_product()) == 0); // control: without a guard the product is flushed
  {
    environment_guard const guard;
    CHECK(environment_is_default());
    CHECK(to_bits(subnormal_product()) == 0x00400000u);
  }
  CHECK(control_bits() == hostile);
  CHECK(to_bits(with_default_environment([] { return subnormal_product(); })) == 0x00400000u);
  CHECK(control_bits() == hostile);
}

TEST_CASE("every rounding mode is undone and restored") {
  int const modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  restore_at_end const restore;
  auto const nearest = to_bits(third());
  bool any_differs = false;
  for (int const mode : modes) {
    REQUIRE(std::fesetround(mode) == 0);
    CHECK(environment_is_default() == (mode == FE_TONEAREST));
    any_differs = any_differs || to_bits(third()) != nearest; // control
    CHECK(to_bits(with_default_environment([] { return third(); })) == nearest);
    CHECK(std::fegetround() == mode);
  }
  CHECK(any_differs);
}

TEST_CASE("guards nest, and an exception passes through with the environment restored") {
  restore_at_end const restore;
  isobit::detail::write_environment(isobit::detail::read_environment() | flush);
  auto const hostile = control_bits();
  CHECK_THROWS_AS(with_default_environment([] {
                    environment_guard const inner;
                    if (!environment_is_default()) throw std::logic_error("not reached");
                    throw std::runtime_error("expected");
                  }),
                  std::runtime_error);
  CHECK(control_bits() == hostile);
}

TEST_CASE("results of any kind come back: void and references too") {
  int n = 0;
  with_default_environment([&] { ++n; });
  int& same = with_default_environment([&]() -> int& { return n; });
  CHECK(&same == &n);
  CHECK(n == 1);
}
