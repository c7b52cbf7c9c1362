// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arith/vector.hpp: every vector width against the scalar operations, unaligned, with every class of number.
#include <isobit/arith/eft.hpp>
#include <isobit/arith/vector.hpp>

#include "adversarial.hpp"

#include <doctest/doctest.h>

// Vectors wider than the registers are tested too; here nothing of them crosses a call between translation units.
#pragma GCC diagnostic ignored "-Wpsabi"

using namespace isobit;

static_assert(sizeof(native<float>) == register_bytes && width_of<native<double>> == register_bytes / 8);
static_assert(std::is_same_v<element_of<vec<double, 4>>, double> && width_of<vec<float, 8>> == 8);

namespace {
template <class V> struct fixture {
  using T = element_of<V>;
  static constexpr int n = width_of<V>;
  T a[n + 1], b[n + 1], c[n + 1];
  long failures = 0;

  void fill(test::source& random) {
    for (int i = 0; i <= n; ++i) {
      a[i] = random.any<T>();
      b[i] = random.below(8) == 0 ? random.nudged(a[i]) : random.any<T>();
      c[i] = random.below(4) == 0 ? -(a[i] * b[i]) : random.any<T>();
    }
  }
  template <class F> void expect(V const& v, F f) {
    T out[n + 1];
    store<V>(out + 1, v);
    for (int i = 0; i < n; ++i) failures += !test::same(out[i + 1], f(i + 1)) || !test::same(T(v[i]), f(i + 1));
  }
};
} // namespace

TEST_CASE_TEMPLATE("element by element the scalar bits", V, vec<float, 4>, vec<float, 8>, vec<float, 16>, vec<double, 2>,
                   vec<double, 4>, vec<double, 8>) {
  using T = element_of<V>;
  constexpr int n = width_of<V>;
  test::source random{n + sizeof(T)};
  fixture<V> f;
  for (int round = 0; round < 20000; ++round) {
    f.fill(random);
    auto const &a = f.a, &b = f.b, &c = f.c;
    V const x = load<V>(a + 1), y = load<V>(b + 1), z = load<V>(c + 1); // offset 1: never aligned to the vector
    f.expect(add(x, y), [&](int i) { return isobit::add(a[i], b[i]); });
    f.expect(sub(x, y), [&](int i) { return isobit::sub(a[i], b[i]); });
    f.expect(mul(x, y), [&](int i) { return isobit::mul(a[i], b[i]); });
    f.expect(div(x, y), [&](int i) { return isobit::div(a[i], b[i]); });
    f.expect(isobit::fma(x, y, z), [&](int i) { return isobit::fma(a[i], b[i], c[i]); });
    f.expect(isobit::sqrt(x), [&](int i) { return isobit::sqrt(a[i]); });
    f.expect(isobit::min(x, y), [&](int i) { return isobit::min(a[i], b[i]); });
    f.expect(isobit::max(x, y), [&](int i) { return isobit::max(a[i], b[i]); });
    f.expect(isobit::abs(x), [&](int i) { return isobit::abs(a[i]); });
    f.expect(neg(x), [&](int i) { return isobit::neg(a[i]); });
    f.expect(canonical(x), [&](int i) { return isobit::canonical(a[i]); });
    f.expect(broadcast<V>(a[1]), [&](int) { return a[1]; });
    auto const pair = [&](int i, int odd) { // element i of the deinterleaved 2n elements
      int const k = 2 * (i - 1) + odd;
      return k < n ? a[k + 1] : b[k - n + 1];
    };
    f.expect(deinterleave_even(x, y), [&](int i) { return pair(i, 0); });
    f.expect(deinterleave_odd(x, y), [&](int i) { return pair(i, 1); });
    if constexpr (sizeof(V) > 16) f.expect(join(low_half(x), high_half(x)), [&](int i) { return a[i]; });
  }
  CHECK(f.failures == 0);
}

TEST_CASE_TEMPLATE("vector error-free transforms are the scalar ones", V, vec<float, 4>, vec<float, 8>, vec<double, 2>,
                   vec<double, 4>) {
  using T = element_of<V>;
  test::source random{99};
  fixture<V> f;
  for (int round = 0; round < 20000; ++round) {
    f.fill(random);
    auto const &a = f.a, &b = f.b;
    V const x = load<V>(a + 1), y = load<V>(b + 1);
    auto const both = [&](with_error<V> const& v, auto scalar) {
      f.expect(v.value, [&](int i) { return scalar(a[i], b[i]).value; });
      f.expect(v.error, [&](int i) { return scalar(a[i], b[i]).error; });
    };
    both(two_sum(x, y), [](T p, T q) { return two_sum(p, q); });
    both(two_difference(x, y), [](T p, T q) { return two_difference(p, q); });
    both(fast_two_sum(x, y), [](T p, T q) { return fast_two_sum(p, q); });
    both(two_product(x, y), [](T p, T q) { return two_product(p, q); });
    both(two_product_split(x, y), [](T p, T q) { return two_product_split(p, q); });
    f.expect(split(x).high, [&](int i) { return split(a[i]).high; });
    f.expect(split(x).low, [&](int i) { return split(a[i]).low; });
  }
  CHECK(f.failures == 0);
}
