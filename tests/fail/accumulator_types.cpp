// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: an accumulator names three types: input, state and result
#include <isobit/reduce.hpp>

struct sum {
  using input = float;
  using state = float;
  state lift(input x) const { return x; }
  state combine(state a, state b) const { return isobit::add(a, b); }
  float finish(state s) const { return s; }
  float empty() const { return 0; }
};

float f(float const* x) { return isobit::reduce(isobit::thread(), x, 10, sum{}); }
