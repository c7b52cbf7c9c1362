// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans of arrays of float on one CPU thread: isobit beside a copy of the same bytes and std::inclusive_scan.
// In each round every contestant passes over the same arrays, one after the other; its time is this thread's CPU time.
// Counters: ns an element of each contestant (medians of the rounds), and medians of the rounds' ratios: isobit's time over
// the copy's, and over std's.
#include <isobit/accum/compensated.hpp>
#include <isobit/scan.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <time.h>
#include <vector>

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct contestant {
  char const* name;
  void (*run)(float const* x, std::size_t n, float* out);
  std::vector<double> seconds{};
  double over(contestant const& other) const {
    std::vector<double> ratio;
    for (std::size_t i = 0; i < seconds.size(); ++i) ratio.push_back(seconds[i] / other.seconds[i]);
    return median(ratio);
  }
};

void scan(benchmark::State& state) {
  auto const n = static_cast<std::size_t>(state.range(0));
  std::vector<float> x(n), out(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(static_cast<int>(i * 2654435761u) >> 8);
  contestant all[] = {
      {"copy", [](float const* x, std::size_t n, float* out) { std::memcpy(out, x, n * sizeof(float)); }},
      {"std_inclusive_scan", [](float const* x, std::size_t n, float* out) { std::inclusive_scan(x, x + n, out); }},
      {"isobit", [](float const* x, std::size_t n, float* out) { isobit::inclusive_scan(isobit::host(), x, n, out); }},
      {"isobit_exclusive",
       [](float const* x, std::size_t n, float* out) { isobit::exclusive_scan(isobit::host(), x, n, out); }},
      {"isobit_compensated",
       [](float const* x, std::size_t n, float* out) {
         isobit::inclusive_scan(isobit::host(), x, n, out, isobit::compensated<float>{});
       }},
  };
  // Short arrays are passed over several times, so that the clock's cost does not count.
  std::size_t const passes = std::max<std::size_t>(1, (1u << 18) / n);
  for (auto _ : state) {
    for (auto& c : all) {
      double const start = thread_seconds();
      for (std::size_t p = 0; p < passes; ++p) {
        c.run(x.data(), n, out.data());
        benchmark::ClobberMemory();
      }
      c.seconds.push_back((thread_seconds() - start) / static_cast<double>(passes));
    }
  }
  for (auto& c : all) state.counters[std::string("ns_") + c.name] = median(c.seconds) * 1e9 / static_cast<double>(n);
  state.counters["time_over_copy"] = all[2].over(all[0]);
  state.counters["time_over_std"] = all[2].over(all[1]);
}

BENCHMARK(scan)->Arg(1 << 13)->Arg(1 << 18)->Arg(1 << 22)->Iterations(50);
BENCHMARK(scan)->Arg(1 << 26)->Iterations(9);

} // namespace

BENCHMARK_MAIN();
