// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans of arrays of float on one CPU thread: isobit beside a copy of the same bytes and std::inclusive_scan.
// In each round every contestant passes over the same arrays, one after the other; its time is this thread's CPU time.
// Counters, from the rounds' medians: ns an element of each contestant, and isobit's speed over the copy's and std's.
#include <isobit/accum/compensated.hpp>
#include <isobit/scan.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <time.h>
#include <vector>

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct contestant {
  char const* name;
  void (*run)(float const* x, std::size_t n, float* out);
  std::vector<double> seconds{};
  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
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
  for (auto& c : all) state.counters[std::string("ns_") + c.name] = c.median() * 1e9 / static_cast<double>(n);
  state.counters["ratio_to_copy"] = all[0].median() / all[2].median();
  state.counters["ratio_to_std"] = all[1].median() / all[2].median();
}

BENCHMARK(scan)->Arg(1 << 13)->Arg(1 << 18)->Arg(1 << 22)->Iterations(50);
BENCHMARK(scan)->Arg(1 << 26)->Iterations(5);

} // namespace

BENCHMARK_MAIN();
