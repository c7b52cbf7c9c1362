// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The laws of every accumulator of the library, over every class of number.
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <doctest/doctest.h>

namespace testing = isobit::testing;
using isobit::uint64_t;

namespace {
template <class Acc, class T> void keeps_the_laws() {
  CHECK(testing::laws(Acc{}, testing::every_class<T>{1}));
  CHECK(testing::laws(Acc{}, testing::wide_exponents<T>{2}));
  CHECK(testing::laws(Acc{}, testing::subnormals<T>{3}));
  CHECK(testing::laws(Acc{}, testing::cancellation<T>{4, 300, 40}));
}
template <class T> struct with_place {
  testing::every_class<T> x{1};
  isobit::indexed_value<T> operator()(uint64_t i) const { return {x(i), i}; }
};
struct claims : isobit::plain<float> {
  static constexpr bool order_free = true;
};
} // namespace

TEST_CASE_TEMPLATE("laws", T, float, double) {
  keeps_the_laws<isobit::plain<T>, T>();
  keeps_the_laws<isobit::compensated<T>, T>();
  keeps_the_laws<isobit::double_float<T>, T>();
  keeps_the_laws<isobit::moments<T>, T>();
  keeps_the_laws<isobit::exact<T>, T>();
  CHECK(testing::laws(isobit::extrema<T>{}, with_place<T>{}));
  CHECK(testing::laws(isobit::extrema<T, isobit::nan_ignore>{}, with_place<T>{}));
}

TEST_CASE("order_invariant: exact sums pass, plain ones do not") {
  auto const x = testing::elements(testing::wide_exponents<float>{9}, 500);
  auto const sum = [&](auto acc) {
    return testing::order_invariant([&, acc](testing::ordering const& o) {
      return isobit::reduce(isobit::host(), o.apply(x).data(), x.size(), acc);
    });
  };
  CHECK(sum(isobit::exact<float>{}));
  auto const v = sum(isobit::plain<float>{});
  CHECK_FALSE(v);
  CHECK(v.text().find("again: call the function with isobit::testing::ordering(") != std::string::npos);
  CHECK_FALSE(testing::order_invariant([](auto const&) { return 1; }, 1));
}

TEST_CASE("an order that is declared free and is not") {
  testing::law_options o;
  o.simulate = false;
  auto const v = testing::laws(claims{}, testing::wide_exponents<float>{9}, o);
  CHECK_FALSE(v);
  CHECK(v.text().find("the order is free, as declared") != std::string::npos);
}
