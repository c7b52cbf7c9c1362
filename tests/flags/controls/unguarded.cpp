// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control of the matrix: the same kind of expressions with plain operators. Without optimisation it agrees with the
// guarded operations ("same" lines), and under some flags it must not.
#include "../digest.hpp"

#include <isobit/arith/eft.hpp>

#include <cmath>

using namespace isobit::test;

namespace {
template <class T> T product_plus(T a, T b, T c) { return a * b + c; }
template <class T> T naive_two_sum_error(T a, T b) {
  T const s = a + b, v = s - a;
  return (a - (s - v)) + (b - v);
}
template <class T> T plus_zero(T x) { return x + T(0); }
template <class T> T over_three(T x) { return x / T(3); }

template <class T> void case_of(char const* const (&names)[5]) {
  source random;
  digest plain[5], guarded[5];
  T x[4096];
  for (T& e : x) e = random.between<T>(-8, 8);
  for (int i = 0; i + 2 < 4096; ++i) {
    T const a = x[i], b = x[i + 1], c = x[i + 2], small = i % 4 == 0 ? -T(0) : a;
    plain[0].value(product_plus(a, b, c));
    guarded[0].value(isobit::add(isobit::mul(a, b), c));
    plain[1].value(naive_two_sum_error(a, b));
    guarded[1].value(isobit::two_sum(a, b).error);
    plain[2].value(plus_zero(small));
    guarded[2].value(isobit::add(small, T(0)));
    plain[3].value(over_three(a));
    guarded[3].value(isobit::div(a, T(3)));
  }
  T sum = 0, ordered = 0;
  for (T const e : x) sum += e;
  for (T const e : x) ordered = isobit::add(ordered, e);
  plain[4].value(sum);
  guarded[4].value(ordered);
  for (int i = 0; i < 5; ++i) std::printf("%-28s %s\n", names[i], plain[i].state == guarded[i].state ? "same" : "DIFFERS");
}
} // namespace

int main() {
  return run_case([] {
    case_of<float>({"f32.mul_add", "f32.two_sum", "f32.plus_zero", "f32.over_three", "f32.serial"});
    case_of<double>({"f64.mul_add", "f64.two_sum", "f64.plus_zero", "f64.over_three", "f64.serial"});
  });
}
