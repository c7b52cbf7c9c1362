// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host reductions: every order and accumulator, ragged sizes, unaligned arrays. They guard their environment themselves.
#include "../digest.hpp"

#include <isobit/reduce.hpp>

using namespace isobit::test;

namespace {
template <class T> struct fold {
  digest tree, lanes, order, compensated, dot, extreme;
  void array(T const* x, int n) {
    tree.value(isobit::reduce(isobit::host(), x, n));
    lanes.value(isobit::reduce<isobit::lanes<16>>(isobit::host(), x, n));
    order.value(isobit::reduce<isobit::sequential>(isobit::host(), x, n));
    compensated.value(isobit::reduce(isobit::host(), x, n, isobit::compensated<T>{}));
    dot.value(isobit::reduce(isobit::host(), n, [=](int i) { return isobit::mul(x[i], x[n - 1 - i]); }));
    extreme.value(isobit::reduce(isobit::host(), x, n, [](T a, T b) { return isobit::max(a, b); }));
  }
};

template <class T> void case_of(char const* const (&names)[6]) {
  source random;
  fold<T> f;
  static T x[5001];
  for (int n : {0, 1, 2, 3, 7, 16, 31, 100, 255, 1000, 1023, 4096, 5000}) {
    for (int kind = 0; kind < 3; ++kind) {
      for (T& e : x) {
        e = kind == 0 ? random.between<T>(-8, 8) : kind == 1 ? random.between<T>(-60, 60) : random.any<T>();
        if (kind == 2 && !isobit::is_finite(e)) e = isobit::from_bits<T>(isobit::to_bits(e) & isobit::float_fields<T>::mantissa);
      }
      f.array(x + n % 2, n);
      if (kind == 2 && n > 0) { // all subnormal or zero, all -0, one infinity
        for (int i = 0; i < n; ++i) x[i] = isobit::from_bits<T>(isobit::to_bits(x[i]) & ~isobit::float_fields<T>::exponent);
        f.array(x, n);
        // A constant -0 in this file may be +0 under -fno-signed-zeros: the bits come from memory.
        isobit::float_bits<T> volatile const minus_zero = isobit::float_fields<T>::sign;
        for (int i = 0; i < n; ++i) x[i] = isobit::from_bits<T>(minus_zero);
        f.array(x, n);
        x[n / 2] = isobit::from_bits<T>(isobit::float_fields<T>::exponent);
        f.array(x, n);
      }
    }
  }
  digest const* all[] = {&f.tree, &f.lanes, &f.order, &f.compensated, &f.dot, &f.extreme};
  for (int i = 0; i < 6; ++i) all[i]->print(names[i]);
}
} // namespace

int main() {
  case_of<float>({"f32.reduce.tree", "f32.reduce.lanes16", "f32.reduce.sequential", "f32.reduce.compensated",
                  "f32.reduce.dot", "f32.reduce.max"});
  case_of<double>({"f64.reduce.tree", "f64.reduce.lanes16", "f64.reduce.sequential", "f64.reduce.compensated",
                   "f64.reduce.dot", "f64.reduce.max"});
}
