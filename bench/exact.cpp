// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact sum of an array on one CPU thread, beside the plain tree over the same array.
//
//   bench_exact      times are this thread's CPU time; counters: ns an element of both, and their ratio
//
// In each iteration both contestants take the same elements, one after the other: all of a small array, or the next 4 MiB
// of one that no cache holds. The counters are medians over the iterations. Data: normal(0, 1), and all finite codes.
#include <isobit/accum/exact.hpp>
#include <isobit/reduce.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <time.h>
#include <vector>

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F> double seconds_of(F const& f) {
  double const before = thread_seconds();
  benchmark::DoNotOptimize(f());
  return thread_seconds() - before;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

enum data { normal, all_exponents };

template <class T> std::vector<T> make(std::size_t n, data kind) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> gauss;
  std::vector<T> x(n);
  for (T& v : x) {
    if constexpr (isobit::ieee_float<T>) {
      auto const b = static_cast<isobit::float_bits<T>>(random());
      v = kind == normal ? static_cast<T>(gauss(random)) : isobit::from_bits<T>(b);
      if (!isobit::is_finite(v)) v = 1;
    } else {
      v = isobit::encode<T>(gauss(random));
      if (kind == all_exponents) v.bits = static_cast<decltype(v.bits)>(random() & (T::format.sign() | T::format.largest()));
    }
  }
  return x;
}

template <class T> void sums(benchmark::State& state, data kind) {
  using accumulator = isobit::exact<T>;
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const x = make<T>(bytes / sizeof(T), kind);
  std::size_t const step = std::min(x.size(), (std::size_t{4} << 20) / sizeof(T));
  std::size_t const passes = std::max<std::size_t>(1, (std::size_t{1} << 20) / (step * sizeof(T)));
  isobit::host const cpu;
  std::vector<double> plain, exact, deposits;
  std::size_t at = 0;
  for (auto _ : state) {
    T const* const p = x.data() + at;
    T const* const q = x.data() + (at + step) % x.size();
    plain.push_back(seconds_of([&] {
      for (std::size_t i = 1; i < passes; ++i) benchmark::DoNotOptimize(isobit::reduce(cpu, p, step));
      return isobit::reduce(cpu, p, step);
    }));
    exact.push_back(seconds_of([&] {
      for (std::size_t i = 1; i < passes; ++i) benchmark::DoNotOptimize(isobit::reduce(cpu, q, step, accumulator{}));
      return isobit::reduce(cpu, q, step, accumulator{});
    }));
    deposits.push_back(seconds_of([&] { // one by one, as a program would without an array
      accumulator const acc;
      typename accumulator::state s{};
      for (std::size_t i = 0; i < std::min<std::size_t>(step, 16384); ++i) acc.deposit(s, q[i]);
      return acc.finish(s);
    }));
    at = (at + 2 * step) % x.size();
  }
  double const scale = 1e9 / static_cast<double>(step * passes);
  double const p = median(plain) * scale, e = median(exact) * scale;
  state.counters["plain_ns"] = p;
  state.counters["exact_ns"] = e;
  state.counters["exact_to_plain"] = e / p;
  state.counters["deposit_ns"] = median(deposits) * 1e9 / static_cast<double>(std::min<std::size_t>(step, 16384));
}

constexpr long small = 16 << 10, middle = 1 << 20, large = 256 << 20;

template <class T> void add_sums(char const* name, data kind) {
  benchmark::RegisterBenchmark(name, sums<T>, kind)->Arg(small)->Arg(middle)->Arg(large)->MinTime(0.3);
}

} // namespace

int main(int argc, char** argv) {
  add_sums<float>("float/normal", normal);
  add_sums<float>("float/all_exponents", all_exponents);
  add_sums<double>("double/normal", normal);
  add_sums<double>("double/all_exponents", all_exponents);
  add_sums<isobit::f16>("f16/normal", normal);
  add_sums<isobit::bf16>("bf16/normal", normal);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
