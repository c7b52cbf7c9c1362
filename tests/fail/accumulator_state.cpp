// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the state of an accumulator must be trivially copyable and default-constructible
#include <isobit/reduce.hpp>

struct owning {
  owning(float);
  owning(owning const&);
  float value;
};
struct sum {
  using input = float;
  using state = owning;
  using result = float;
  state lift(input x) const { return x; }
  state combine(state a, state b) const { return isobit::add(a.value, b.value); }
  result finish(state s) const { return s.value; }
  result empty() const { return 0; }
};

float f(float const* x) { return isobit::reduce(isobit::thread(), x, 10, sum{}); }
