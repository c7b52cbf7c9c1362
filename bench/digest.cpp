// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests of memory on one CPU thread: isobit beside a read of the same bytes and an exclusive or of their words.
// In each round every contestant passes over the same bytes, one after the other; its time is this thread's CPU time.
// Counters, from the rounds' medians: GB/s (10^9 bytes) of each contestant, and isobit's speed over the read's.
#include <isobit/arith/vector.hpp>
#include <isobit/fingerprint.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <time.h>
#include <vector>

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Every byte into a vector register; two chains of OR keep the compiler honest. 64 bytes a step.
std::uint64_t read(unsigned char const* p, std::size_t bytes) {
  using words = isobit::vec<std::uint64_t, 2>;
  words a{}, b{};
  for (std::size_t i = 0; i < bytes; i += 64) {
    words w[4];
    std::memcpy(w, p + i, 64);
    a |= w[0] | w[1];
    b |= w[2] | w[3];
  }
  return a[0] | a[1] | b[0] | b[1];
}
std::uint64_t exclusive_or(unsigned char const* p, std::size_t bytes) {
  std::uint64_t h = 0;
  for (std::size_t i = 0; i < bytes; i += 8) {
    std::uint64_t w;
    std::memcpy(&w, p + i, 8);
    h ^= w;
  }
  return h;
}
std::uint64_t isobit_digest(unsigned char const* p, std::size_t bytes) {
  return isobit::digest(isobit::host(), p, bytes);
}

struct contestant {
  char const* name;
  std::uint64_t (*run)(unsigned char const* p, std::size_t bytes);
  std::vector<double> seconds{};
  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

void digest(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>(i * i >> 3);
  contestant all[] = {{"read", read}, {"exclusive_or", exclusive_or}, {"isobit", isobit_digest}};
  std::size_t const passes = std::max<std::size_t>(1, (1u << 20) / bytes);
  for (auto _ : state) {
    for (auto& c : all) {
      double const start = thread_seconds();
      for (std::size_t p = 0; p < passes; ++p) benchmark::DoNotOptimize(c.run(data.data(), bytes));
      c.seconds.push_back((thread_seconds() - start) / static_cast<double>(passes));
    }
  }
  for (auto& c : all) state.counters[std::string("GBps_") + c.name] = static_cast<double>(bytes) / c.median() / 1e9;
  state.counters["ratio_to_read"] = all[0].median() / all[2].median();
}

BENCHMARK(digest)->Arg(1 << 12)->Arg(1 << 14)->Arg(1 << 18)->Arg(1 << 22)->Iterations(50);
BENCHMARK(digest)->Arg(1 << 28)->Iterations(5);

} // namespace

BENCHMARK_MAIN();
