// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of arrays on one CPU thread: isobit beside a read of the same bytes, std::reduce and std::accumulate.
//
// One benchmark for each element type and array size. In each iteration (a round) every contestant takes about 4 MiB, one
// after the other: many passes over a small array, or the next 4 MiB of an array that no cache holds. Its time is this
// thread's CPU time. Two threads of one processor core slow each other's arithmetic, not their reads of memory; so a loop
// that reads the first-level cache is timed before and after each round, and rounds in which it was more than 8 % slower
// than at its best are dropped. Counters, medians over the rounds kept:
//   GBps_*               10^9 bytes a second of each contestant
//   ratio_to_read        isobit's speed over that of the fastest form of read (the form with the least median)
//   ratio_to_std_reduce  isobit's speed over std::reduce's
//   compensated_to_read  the compensated sum's speed over the read's
//   rounds_kept          out of the iterations
// `bench/run` builds this with several compilers, runs it and writes docs/measurements/cpu-reduce.md.
#include <isobit/reduce.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <time.h>
#include <vector>

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// ---- Reads: every byte into a vector register, nothing else (`load`), or OR-ed together (`or`). ----

using vector16 = isobit::vec<std::uint32_t, 4>;
using vector32 = isobit::vec<std::uint32_t, 8>;

void read_load16(void const* data, std::size_t bytes) {
  auto const* p = static_cast<char const*>(data);
  for (char const* const end = p + bytes; p != end; p += 256) {
#pragma GCC unroll 16
    for (int k = 0; k < 256; k += 16) {
      vector16 v;
      std::memcpy(&v, p + k, sizeof v);
#if defined(__x86_64__)
      asm volatile("" : : "x"(v));
#else
      asm volatile("" : : "w"(v));
#endif
    }
  }
}
void read_or16(void const* data, std::size_t bytes) {
  auto const* p = static_cast<char const*>(data);
  vector16 a{}, b{}, c{}, d{};
  for (char const* const end = p + bytes; p != end; p += 256) {
#pragma GCC unroll 4
    for (int k = 0; k < 256; k += 64) {
      vector16 v[4];
      std::memcpy(v, p + k, sizeof v);
      a |= v[0], b |= v[1], c |= v[2], d |= v[3];
    }
  }
  a |= b | c | d;
  benchmark::DoNotOptimize(a[0] | a[1] | a[2] | a[3]);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void read_load32(void const* data, std::size_t bytes) {
  auto const* p = static_cast<char const*>(data);
  for (char const* const end = p + bytes; p != end; p += 256) {
#pragma GCC unroll 8
    for (int k = 0; k < 256; k += 32) {
      vector32 v;
      std::memcpy(&v, p + k, sizeof v);
      asm volatile("" : : "x"(v));
    }
  }
}
[[gnu::target("avx2")]] void read_or32(void const* data, std::size_t bytes) {
  auto const* p = static_cast<char const*>(data);
  vector32 a{}, b{}, c{}, d{};
  for (char const* const end = p + bytes; p != end; p += 256) {
#pragma GCC unroll 2
    for (int k = 0; k < 256; k += 128) {
      vector32 v[4];
      std::memcpy(v, p + k, sizeof v);
      a |= v[0], b |= v[1], c |= v[2], d |= v[3];
    }
  }
  a |= b | c | d;
  benchmark::DoNotOptimize(a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7]);
}
#endif

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// ---- Contestants and rounds. ----

template <class T> struct contestant {
  std::string name;
  void (*run)(T const*, std::size_t);
};
template <class T> std::vector<contestant<T>> contestants() {
  return {
    {"isobit", [](T const* p, std::size_t n) { benchmark::DoNotOptimize(isobit::reduce(isobit::host(), p, n)); }},
        {"compensated",
         [](T const* p, std::size_t n) {
           benchmark::DoNotOptimize(isobit::reduce(isobit::host(), p, n, isobit::compensated<T>{}));
         }},
        {"std_reduce", [](T const* p, std::size_t n) { benchmark::DoNotOptimize(std::reduce(p, p + n, T(0))); }},
        {"accumulate", [](T const* p, std::size_t n) { benchmark::DoNotOptimize(std::accumulate(p, p + n, T(0))); }},
        {"read load16", [](T const* p, std::size_t n) { read_load16(p, n * sizeof(T)); }},
        {"read or16", [](T const* p, std::size_t n) { read_or16(p, n * sizeof(T)); }},
#if defined(__x86_64__)
        {"read load32", [](T const* p, std::size_t n) { read_load32(p, n * sizeof(T)); }}, {
      "read or32", [](T const* p, std::size_t n) { read_or32(p, n * sizeof(T)); }
    }
#endif
  };
}

template <class T> void sum(benchmark::State& state) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return state.SkipWithError("this benchmark reads with AVX2");
#endif
  auto const bytes = static_cast<std::size_t>(state.range(0));
  std::size_t const n = bytes / sizeof(T);
  std::vector<T> x(n);
  std::mt19937 engine(1);
  for (T& v : x) v = static_cast<T>(static_cast<std::int32_t>(engine())) / T(1 << 30);
  auto const bits = isobit::to_bits(isobit::reduce(isobit::host(), x.data(), n));
  if (bits != isobit::to_bits(isobit::reduce(isobit::thread{}, x.data(), n))) // the same tree, element by element
    return state.SkipWithError("the bits differ from the tree's");

  std::size_t const stretch = bytes > (std::size_t{32} << 20) ? (std::size_t{4} << 20) / sizeof(T) : n;
  std::size_t const passes = std::max<std::size_t>(1, (std::size_t{4} << 20) / (stretch * sizeof(T)));
  std::size_t next = 0;
  std::vector<char> const near(16 << 10, 1);
  auto const calibrate = [&] {
    double const start = thread_seconds();
    for (int i = 0; i < 64; ++i) read_load16(near.data(), near.size());
    return thread_seconds() - start;
  };

  auto const all = contestants<T>();
  std::vector<std::vector<double>> seconds(all.size());
  std::vector<double> calibration;
  std::size_t rounds = 0;
  for (auto _ : state) {
    double const before = calibrate();
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::size_t const who = (k + rounds) % all.size();
      double const start = thread_seconds();
      for (std::size_t i = 0; i < passes; ++i) all[who].run(x.data() + next, stretch);
      seconds[who].push_back((thread_seconds() - start) / static_cast<double>(passes));
      next = next + 2 * stretch > n ? 0 : next + stretch;
    }
    calibration.push_back(std::max(before, calibrate()));
    ++rounds;
    state.SetIterationTime(seconds[0].back());
  }

  std::vector<double> sorted = calibration;
  std::sort(sorted.begin(), sorted.end());
  double limit = 1.08 * sorted[sorted.size() / 50];
  bool const busy = std::upper_bound(sorted.begin(), sorted.end(), limit) - sorted.begin() < 15;
  if (busy) limit = sorted.back();
  auto const kept = [&](std::size_t who, std::size_t over) { // seconds, or their ratio to another contestant's
    std::vector<double> v;
    for (std::size_t r = 0; r < rounds; ++r)
      if (calibration[r] <= limit) v.push_back(seconds[who][r] / (over == who ? 1 : seconds[over][r]));
    return v;
  };
  auto const rate = [&](std::size_t who) {
    return 1e-9 * static_cast<double>(stretch * sizeof(T)) / median(kept(who, who));
  };
  std::size_t best = 4;
  for (std::size_t k = 5; k < all.size(); ++k)
    if (rate(k) > rate(best)) best = k;
  for (std::size_t k = 0; k < 4; ++k) state.counters["GBps_" + all[k].name] = rate(k);
  state.counters["GBps_read"] = rate(best);
  state.counters["ratio_to_read"] = median(kept(best, 0));
  state.counters["compensated_to_read"] = median(kept(best, 1));
  state.counters["ratio_to_std_reduce"] = median(kept(2, 0));
  state.counters["rounds_kept"] = static_cast<double>(kept(0, 0).size());
  char label[100];
  std::snprintf(label, sizeof label, "bits %016llx, %s%s", static_cast<unsigned long long>(bits),
                all[best].name.c_str(), busy ? ", busy machine: nothing dropped" : "");
  state.SetLabel(label);
}

// 16 KiB: first-level cache; 512 KiB: second; 8 MiB: third; 256 MiB: memory.
void sizes(benchmark::internal::Benchmark* b) {
  for (std::int64_t const bytes : {16 << 10, 512 << 10, 8 << 20, 256 << 20}) b->Arg(bytes);
  b->Iterations(400)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(sum<float>)->Name("sum/float")->Apply(sizes);
BENCHMARK(sum<double>)->Name("sum/double")->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
