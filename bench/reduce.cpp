// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of arrays on one CPU thread: isobit beside a read of the same bytes, std::reduce and std::accumulate.
//
// One benchmark for each element type and array size. In each iteration (a round) every contestant passes over the same
// array, one after the other, so that all meet the same machine; its time is this thread's CPU time. Counters, from the
// rounds' medians:
//   GB/s of each contestant (10^9 bytes)
//   ratio_to_read        isobit's speed over that of the fastest form of read (the form with the least median)
//   ratio_to_std_reduce  isobit's speed over std::reduce's
//   compensated_to_read  the same for the compensated sum
// `bench/run` builds this with several compilers, runs it and writes docs/measurements/cpu-reduce.md.
#include <isobit/reduce.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
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

struct read_form {
  char const* name;
  void (*run)(void const*, std::size_t);
};
std::vector<read_form> read_forms() {
  std::vector<read_form> forms{{"load16", read_load16}, {"or16", read_or16}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) forms.insert(forms.end(), {{"load32", read_load32}, {"or32", read_or32}});
#endif
  return forms;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// The median over the rounds of what `slow` took over what `fast` took.
double median_ratio(std::vector<double> const& slow, std::vector<double> const& fast) {
  std::vector<double> r(slow.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = slow[i] / fast[i];
  return median(r);
}

template <class T> void sum(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  std::size_t const n = bytes / sizeof(T);
  std::vector<T> x(n);
  std::mt19937 engine(1);
  for (T& v : x) v = static_cast<T>(static_cast<std::int32_t>(engine())) / T(1 << 30);
  T const* const p = x.data();

  auto const ours = [=] { return isobit::reduce(isobit::host(), p, n); };
  auto const compensated = [=] { return isobit::reduce(isobit::host(), p, n, isobit::compensated<T>{}); };
  auto const one_by_one = isobit::reduce(isobit::thread{}, p, n); // the same tree, element by element
  if (isobit::to_bits(ours()) != isobit::to_bits(one_by_one)) state.SkipWithError("the bits differ from the tree's");

  // One timed stretch: about 4 MiB, or one pass where the array is larger.
  std::size_t const passes = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
  auto const seconds = [&](auto const& f) {
    double const start = thread_seconds();
    for (std::size_t i = 0; i < passes; ++i) {
      if constexpr (std::is_void_v<decltype(f())>)
        f();
      else
        benchmark::DoNotOptimize(f());
      benchmark::ClobberMemory();
    }
    return (thread_seconds() - start) / static_cast<double>(passes);
  };

  auto const forms = read_forms();
  std::map<std::string, std::vector<double>> t;
  auto const round = [&] {
    for (read_form const& f : forms) t[f.name].push_back(seconds([&] { f.run(p, bytes); }));
    t["isobit"].push_back(seconds(ours));
    t["compensated"].push_back(seconds(compensated));
    t["std_reduce"].push_back(seconds([=] { return std::reduce(p, p + n, T(0)); }));
    t["accumulate"].push_back(seconds([=] { return std::accumulate(p, p + n, T(0)); }));
  };
  round(); // brings pages, caches and clock up
  t.clear();
  for (auto _ : state) {
    round();
    state.SetIterationTime(t["isobit"].back());
  }

  char const* best = forms[0].name;
  for (read_form const& f : forms)
    if (median(t[f.name]) < median(t[best])) best = f.name;
  auto const rate = [&](char const* name) { return 1e-9 * static_cast<double>(bytes) / median(t[name]); };
  state.counters["GBps_read"] = rate(best);
  state.counters["GBps_isobit"] = rate("isobit");
  state.counters["GBps_compensated"] = rate("compensated");
  state.counters["GBps_std_reduce"] = rate("std_reduce");
  state.counters["GBps_accumulate"] = rate("accumulate");
  state.counters["ratio_to_read"] = median_ratio(t[best], t["isobit"]);
  state.counters["ratio_to_std_reduce"] = median_ratio(t["std_reduce"], t["isobit"]);
  state.counters["compensated_to_read"] = median_ratio(t[best], t["compensated"]);
  state.SetLabel(std::string("read: ") + best);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

// 16 KiB: first-level cache; 512 KiB: second; 8 MiB: third; 256 MiB: memory.
void sizes(benchmark::internal::Benchmark* b) {
  for (std::int64_t const bytes : {16 << 10, 512 << 10, 8 << 20}) b->Arg(bytes)->Iterations(101);
  b->UseManualTime()->Unit(benchmark::kMicrosecond);
}
void memory(benchmark::internal::Benchmark* b) {
  b->Arg(std::int64_t{256} << 20)->Iterations(25)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(sum<float>)->Name("sum/float")->Apply(sizes);
BENCHMARK(sum<float>)->Name("sum/float")->Apply(memory);
BENCHMARK(sum<double>)->Name("sum/double")->Apply(sizes);
BENCHMARK(sum<double>)->Name("sum/double")->Apply(memory);

} // namespace

BENCHMARK_MAIN();
