// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/reduce.hpp>

struct sum {
  using input = float;
  using state = float;
  using result = float;
  state lift(input x) const { return x; }
  state combine(state a, state b) const { return isobit::add(a, b); }
  result finish(state s) const { return s; }
  result empty() const { return 0; }
};

float f(float const* x) { return isobit::reduce(isobit::thread(), x, 10, sum{}); }
