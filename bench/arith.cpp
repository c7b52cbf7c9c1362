// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What flag-proof arithmetic costs: the same loops with isobit's vector operations and with plain operators. Built with
// -ffast-math or contraction, the plain loops compute something else.
#include <isobit/arith/eft.hpp>

#include <benchmark/benchmark.h>
#include <vector>

namespace {

using v = isobit::native<float>;
constexpr int width = isobit::width_of<v>;
constexpr int count = 8192;

struct guarded {
  static v add(v const& a, v const& b) { return isobit::add(a, b); }
  static v sub(v const& a, v const& b) { return isobit::sub(a, b); }
  static v mul(v const& a, v const& b) { return isobit::mul(a, b); }
};
struct plain {
  static v add(v const& a, v const& b) { return a + b; }
  static v sub(v const& a, v const& b) { return a - b; }
  static v mul(v const& a, v const& b) { return a * b; }
};

template <class Ops> v lane_sum(float const* x) {
  v s[8];
  for (v& e : s) e = isobit::broadcast<v>(0);
  for (int i = 0; i < count; i += 8 * width)
    for (int j = 0; j < 8; ++j) s[j] = Ops::add(s[j], isobit::load<v>(x + i + j * width));
  for (int j = 1; j < 8; ++j) s[0] = s[0] + s[j];
  return s[0];
}
template <class Ops> v pairwise(float const* x) {
  auto const pairs = [](v const& a, v const& b) {
    return Ops::add(isobit::deinterleave_even(a, b), isobit::deinterleave_odd(a, b));
  };
  v t = isobit::broadcast<v>(0);
  for (int i = 0; i < count; i += 4 * width) {
    v const a = pairs(isobit::load<v>(x + i), isobit::load<v>(x + i + width));
    v const b = pairs(isobit::load<v>(x + i + 2 * width), isobit::load<v>(x + i + 3 * width));
    t = Ops::add(t, pairs(a, b));
  }
  return t;
}
template <class Ops> v polynomial(float const* x) {
  v s[4];
  for (v& e : s) e = isobit::broadcast<v>(0);
  for (int i = 0; i < count; i += 4 * width)
    for (int j = 0; j < 4; ++j) {
      v const y = isobit::load<v>(x + i + j * width);
      s[j] = Ops::add(s[j], Ops::mul(Ops::add(Ops::mul(y, y), y), y));
    }
  return s[0] + s[1] + s[2] + s[3];
}
template <class Ops> v compensated(float const* x) {
  v s[4], e[4];
  for (int j = 0; j < 4; ++j) s[j] = e[j] = isobit::broadcast<v>(0);
  for (int i = 0; i < count; i += 4 * width)
    for (int j = 0; j < 4; ++j) {
      v const y = isobit::load<v>(x + i + j * width), t = Ops::add(s[j], y), u = Ops::sub(t, s[j]);
      e[j] = Ops::add(e[j], Ops::add(Ops::sub(s[j], Ops::sub(t, u)), Ops::sub(y, u)));
      s[j] = t;
    }
  return s[0] + s[1] + s[2] + s[3] + e[0] + e[1] + e[2] + e[3];
}

template <v (*Loop)(float const*)> void run(benchmark::State& state) {
  std::vector<float> const x(count, 1.25f);
  for (auto _ : state) benchmark::DoNotOptimize(Loop(x.data()));
  state.SetItemsProcessed(state.iterations() * count);
}

void run_fma(benchmark::State& state) {
  double x = 1.1;
  for (auto _ : state) benchmark::DoNotOptimize(x = isobit::fma(x, 0.99, 0.011));
}

} // namespace

BENCHMARK(run<lane_sum<plain>>)->Name("lane_sum/plain");
BENCHMARK(run<lane_sum<guarded>>)->Name("lane_sum/guarded");
BENCHMARK(run<pairwise<plain>>)->Name("pairwise/plain");
BENCHMARK(run<pairwise<guarded>>)->Name("pairwise/guarded");
BENCHMARK(run<polynomial<plain>>)->Name("polynomial/plain");
BENCHMARK(run<polynomial<guarded>>)->Name("polynomial/guarded");
BENCHMARK(run<compensated<plain>>)->Name("compensated/plain");
BENCHMARK(run<compensated<guarded>>)->Name("compensated/guarded");
BENCHMARK(run_fma)->Name("fma/double");
BENCHMARK_MAIN();
