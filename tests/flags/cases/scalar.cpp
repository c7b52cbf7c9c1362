// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every scalar operation and error-free transform, and expressions that compilers like to rewrite.
#include "../digest.hpp"

#include <isobit/arith/eft.hpp>

using namespace isobit::test;

namespace {
template <class T> void case_of(char const* const (&names)[21]) {
  source random;
  digest d[21];
  auto const zero = T(0), one = T(1);
  for (int i = 0; i < 60000; ++i) {
    T const a = random.any<T>(), b = i % 8 == 0 ? random.nudged(a) : random.any<T>(), c = random.any<T>();
    d[0].value(isobit::add(a, b));
    d[1].value(isobit::sub(a, b));
    d[2].value(isobit::mul(a, b));
    d[3].value(isobit::fma(a, b, c));
    d[4].value(isobit::div(a, b));
    d[5].value(isobit::sqrt(a));
    d[6].value(isobit::min(a, b));
    d[7].value(isobit::max(a, b));
    d[8].value(isobit::neg(isobit::abs(a)));
    d[9].word(isobit::less(a, b) + 2 * isobit::less_equal(a, b) + 4 * isobit::equal(a, b) + 8 * isobit::total_less(a, b));
    d[10].value(isobit::add(isobit::mul(a, b), c));                   // not contracted
    d[11].value(isobit::add(a, zero));                                // -0 + 0 is +0
    d[11].value(isobit::add(isobit::neg(zero), isobit::neg(zero)));   // constants
    d[11].value(isobit::sqrt(isobit::neg(zero)));
    d[11].value(isobit::div(isobit::neg(zero), one));
    d[11].value(isobit::fma(isobit::neg(zero), one, isobit::neg(zero)));
    d[12].value(isobit::sub(a, a));                                   // NaN for infinities
    d[13].value(isobit::mul(a, zero));                                // -0, NaN
    d[14].value(isobit::mul(isobit::mul(a, one), isobit::div(one, b))); // not a / b
    d[15].value(isobit::add(isobit::add(a, b), c));                   // not reassociated
    d[15].value(isobit::add(a, isobit::add(b, c)));
    auto const sum = isobit::two_sum(a, b);
    d[16].value(sum.value);
    d[16].value(sum.error);
    auto const fast = isobit::fast_two_sum(a, b);
    d[17].value(fast.error);
    d[17].value(isobit::two_difference(a, b).error);
    auto const product = isobit::two_product(a, b);
    d[18].value(product.value);
    d[18].value(product.error);
    d[18].value(isobit::two_product_split(a, b).error);
    auto const u = random.next() >> random.below(64);
    d[19].value(isobit::convert<T>(u));
    d[19].value(isobit::convert<T>(static_cast<int64_t>(u)));
    d[19].value(isobit::convert<T>(static_cast<uint32_t>(u)));
    d[19].value(isobit::convert<T>(static_cast<int32_t>(u)));
    if constexpr (sizeof(T) == 8) {
      d[19].value(isobit::convert<float>(a));
      d[20].word(isobit::ulp_distance(a, b));
    } else {
      d[19].value(isobit::convert<double>(a));
      d[20].word(isobit::ulp_distance(a, b));
    }
    d[20].value(isobit::next_up(a));
  }
  for (int i = 0; i < 21; ++i) d[i].print(names[i]);
}
// A long serial sum, as a reduction's inner loop: the thing that vectorisers reorder.
template <class T> void serial(char const* name) {
  source random{3};
  digest d;
  T x[4096], y[4096];
  for (int round = 0; round < 16; ++round) {
    for (int i = 0; i < 4096; ++i) {
      x[i] = random.between<T>(-8, 8);
      y[i] = random.between<T>(-8, 8);
    }
    T sum = 0, dot = 0, error = 0;
    for (int i = 0; i < 4096; ++i) {
      auto const s = isobit::two_sum(sum, x[i]);
      sum = s.value;
      error = isobit::add(error, s.error);
      dot = isobit::add(dot, isobit::mul(x[i], y[i]));
    }
    d.value(sum);
    d.value(error);
    d.value(dot);
  }
  d.print(name);
}
} // namespace

int main() {
  return run_case([] {
    case_of<float>({"f32.add", "f32.sub", "f32.mul", "f32.fma", "f32.div", "f32.sqrt", "f32.min", "f32.max", "f32.neg_abs",
                    "f32.compare", "f32.mul_add", "f32.plus_zero", "f32.self_difference", "f32.times_zero",
                    "f32.reciprocal", "f32.three_terms", "f32.two_sum", "f32.fast_two_sum", "f32.two_product",
                    "f32.convert", "f32.ordered"});
    case_of<double>({"f64.add", "f64.sub", "f64.mul", "f64.fma", "f64.div", "f64.sqrt", "f64.min", "f64.max",
                     "f64.neg_abs", "f64.compare", "f64.mul_add", "f64.plus_zero", "f64.self_difference",
                     "f64.times_zero", "f64.reciprocal", "f64.three_terms", "f64.two_sum", "f64.fast_two_sum",
                     "f64.two_product", "f64.convert", "f64.ordered"});
    serial<float>("f32.serial");
    serial<double>("f64.serial");
  });
}
