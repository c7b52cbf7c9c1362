// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every vector operation, 64 bytes at a time whatever the registers' width, and loops over the native width.
#include "../digest.hpp"

#include <isobit/arith/eft.hpp>

#pragma GCC diagnostic ignored "-Wpsabi"

using namespace isobit::test;

namespace {
template <class V> [[gnu::always_inline]] inline void add_to(digest& d, V const& v) {
  using T = isobit::element_of<V>;
  T out[isobit::width_of<V>];
  isobit::store<V>(out, v);
  for (T const x : out) d.value(x);
}
// The digests do not depend on V: 64 bytes of inputs are done in as many vectors as it takes.
template <class V> void case_of(char const* const (&names)[17]) {
  using T = isobit::element_of<V>;
  constexpr int n = 64 / sizeof(T), step = isobit::width_of<V>;
  source random;
  digest d[17];
  T a[n + 1], b[n + 1], c[n + 1];
  for (int round = 0; round < 4000; ++round) {
    for (int i = 0; i <= n; ++i) {
      a[i] = random.any<T>();
      b[i] = random.any<T>();
      c[i] = random.any<T>();
    }
    for (int i = 0; i < n; i += step) {
      V const x = isobit::load<V>(a + 1 + i), y = isobit::load<V>(b + 1 + i), z = isobit::load<V>(c + 1 + i);
      add_to(d[0], isobit::add(x, y));
      add_to(d[1], isobit::sub(x, isobit::add(x, isobit::broadcast<V>(T(0)))));
      auto const minus_zero = isobit::broadcast<V>(-T(0));
      add_to(d[16], isobit::add(minus_zero, minus_zero));
      add_to(d[2], isobit::mul(x, y));
      add_to(d[3], isobit::add(isobit::mul(x, y), z));
      add_to(d[4], isobit::fma(x, y, z));
      add_to(d[5], isobit::div(x, y));
      add_to(d[6], isobit::sqrt(x));
      add_to(d[7], isobit::min(x, y));
      add_to(d[8], isobit::max(x, y));
      add_to(d[9], isobit::neg(isobit::abs(x)));
      auto const s = isobit::two_sum(x, y);
      add_to(d[10], s.value);
      add_to(d[11], s.error);
      auto const p = isobit::two_product(x, y);
      add_to(d[12], p.value);
      add_to(d[13], p.error);
    }
  }
  // Dot products in 64 bytes of lanes, compensated.
  for (int round = 0; round < 64; ++round) {
    constexpr int k = n / step;
    V sum[k], error[k];
    for (int j = 0; j < k; ++j) sum[j] = error[j] = isobit::broadcast<V>(T(0));
    for (int i = 0; i < 512; ++i) {
      for (int j = 0; j < n; ++j) {
        a[j] = random.between<T>(-8, 8);
        b[j] = random.between<T>(-8, 8);
      }
      for (int j = 0; j < k; ++j) {
        auto const product = isobit::mul(isobit::load<V>(a + j * step), isobit::load<V>(b + j * step));
        auto const s = isobit::two_sum(sum[j], product);
        sum[j] = s.value;
        error[j] = isobit::add(error[j], s.error);
      }
    }
    for (int j = 0; j < k; ++j) {
      add_to(d[14], sum[j]);
      add_to(d[15], error[j]);
    }
  }
  for (int i = 0; i < 17; ++i) d[i].print(names[i]);
}
} // namespace

int main() {
  return run_case([] {
    constexpr char const* f32[17] = {
        "f32.vector.add", "f32.vector.sub", "f32.vector.mul", "f32.vector.mul_add", "f32.vector.fma",
        "f32.vector.div", "f32.vector.sqrt", "f32.vector.min", "f32.vector.max", "f32.vector.neg_abs",
        "f32.vector.sum", "f32.vector.sum_error", "f32.vector.product", "f32.vector.product_error", "f32.vector.dot",
        "f32.vector.dot_error",
        "f32.vector.constants"};
    constexpr char const* f64[17] = {
        "f64.vector.add", "f64.vector.sub", "f64.vector.mul", "f64.vector.mul_add", "f64.vector.fma",
        "f64.vector.div", "f64.vector.sqrt", "f64.vector.min", "f64.vector.max", "f64.vector.neg_abs",
        "f64.vector.sum", "f64.vector.sum_error", "f64.vector.product", "f64.vector.product_error", "f64.vector.dot",
        "f64.vector.dot_error",
        "f64.vector.constants"};
    case_of<isobit::native<float>>(f32);
    case_of<isobit::native<double>>(f64);
  });
}
