// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests of memory on one CPU thread: isobit (64 and 128 bits, by value, torch_hash) beside a read of the same bytes,
// an exclusive or of their words, and XXH3 where libxxhash is installed.
// In each round every contestant passes over the same bytes, one after the other; its time is this thread's CPU time.
// Counters: GB/s (10^9 bytes) of each contestant from the rounds' medians; `ratio_to_read` and `ratio_to_xxh3` are the
// medians of the rounds' ratios of isobit's speed.
#include <isobit/arith/vector.hpp>
#include <isobit/fingerprint.hpp>

#include <benchmark/benchmark.h>
#if defined(ISOBIT_HAS_XXHASH)
#include <xxhash.h>
#endif

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

std::uint64_t isobit_digest128(unsigned char const* p, std::size_t bytes) {
  auto const d = isobit::digest<isobit::digest128>(isobit::host(), p, bytes);
  return d.low ^ d.high;
}
std::uint64_t isobit_by_value(unsigned char const* p, std::size_t bytes) {
  return isobit::digest<isobit::by_value<isobit::digest64>>(isobit::host(), reinterpret_cast<float const*>(p),
                                                            {bytes / 4});
}
std::uint64_t isobit_torch_hash(unsigned char const* p, std::size_t bytes) {
  return isobit::torch_hash(isobit::host(), reinterpret_cast<float const*>(p), bytes / 4);
}
#if defined(ISOBIT_HAS_XXHASH)
std::uint64_t xxh3(unsigned char const* p, std::size_t bytes) { return XXH3_64bits(p, bytes); }
#endif

struct contestant {
  char const* name;
  std::uint64_t (*run)(unsigned char const* p, std::size_t bytes);
  std::vector<double> seconds{};
};
double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}
// The median of the rounds' speeds of `a` over those of `b`.
double ratio(contestant const& a, contestant const& b) {
  std::vector<double> r(a.seconds.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b.seconds[i] / a.seconds[i];
  return median(r);
}

void digest(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes / 4; ++i) { // floats between 1/2 and 2, of both signs
    auto const z = static_cast<std::uint32_t>(i * 2654435761u);
    std::uint32_t const f = 0x3f000000u | (z & 0x80ffffffu);
    std::memcpy(data.data() + 4 * i, &f, 4);
  }
  std::vector<contestant> all = {{"read", read},
                                 {"isobit", isobit_digest},
                                 {"isobit128", isobit_digest128},
                                 {"isobit_by_value", isobit_by_value},
                                 {"torch_hash", isobit_torch_hash},
                                 {"exclusive_or", exclusive_or}};
#if defined(ISOBIT_HAS_XXHASH)
  all.push_back({"xxh3", xxh3});
#endif
  std::size_t const passes = std::max<std::size_t>(1, (1u << 20) / bytes);
  for (auto _ : state) {
    for (auto& c : all) {
      double const start = thread_seconds();
      for (std::size_t p = 0; p < passes; ++p) benchmark::DoNotOptimize(c.run(data.data(), bytes));
      c.seconds.push_back((thread_seconds() - start) / static_cast<double>(passes));
    }
  }
  for (auto& c : all)
    state.counters[std::string("GBps_") + c.name] = static_cast<double>(bytes) / median(c.seconds) / 1e9;
  state.counters["ratio_to_read"] = ratio(all[1], all[0]);
#if defined(ISOBIT_HAS_XXHASH)
  state.counters["ratio_to_xxh3"] = ratio(all[1], all.back());
#endif
}

BENCHMARK(digest)->Arg(1 << 12)->Arg(1 << 14)->Arg(1 << 18)->Arg(1 << 22)->Iterations(50);
BENCHMARK(digest)->Arg(1 << 28)->Iterations(15);

} // namespace

BENCHMARK_MAIN();
