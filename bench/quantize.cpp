// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantisation of a matrix on one CPU thread, beside copies: MXFP8 and back, NVFP4 with packed codes.
//
// One benchmark for each element type and size. In each iteration (a round) every contestant passes over the same array,
// one after the other; its time is this thread's CPU time. Counters, from the rounds' medians:
//   GB/s            10^9 bytes read and written a second by quantize
//   ratio_to_copy   its speed over that of memcpy moving the same number of bytes, read and written together
//   dequantize      the same ratio for dequantize
#include <isobit/quantize.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <time.h>
#include <vector>

namespace {

using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F> double seconds(F const& f) {
  double const start = thread_seconds();
  f();
  benchmark::ClobberMemory();
  return thread_seconds() - start;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

template <class T> std::vector<T> numbers(std::uint64_t n) {
  std::mt19937 random(1);
  std::vector<T> x(n);
  for (auto& v : x) {
    float const f = static_cast<float>(static_cast<std::int32_t>(random())) * 1e-9f;
    if constexpr (std::is_same_v<T, float>)
      v = f;
    else
      v = isobit::encode<T>(f);
  }
  return x;
}

template <class T> void quantize(benchmark::State& state) {
  auto const n = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t const cols = 1024, rows = n / cols;
  auto const x = numbers<T>(n);
  std::vector<isobit::e4m3> codes(n);
  std::vector<isobit::e8m0> scales(n / 32);
  std::vector<float> values(n);
  std::uint64_t const bytes = n * sizeof(T) + n + n / 32, back_bytes = n * 4 + n + n / 32;
  std::vector<char> from(back_bytes / 2, 1), to(back_bytes / 2);
  std::vector<double> quantizing, copying, dequantizing, copying_back;
  for (auto _ : state) {
    quantizing.push_back(seconds(
        [&] { isobit::quantize(isobit::host(), recipe{}, x.data(), rows, cols, codes.data(), scales.data()); }));
    copying.push_back(seconds([&] { std::memcpy(to.data(), from.data(), bytes / 2); }));
    dequantizing.push_back(seconds(
        [&] { isobit::dequantize(isobit::host(), recipe{}, codes.data(), scales.data(), rows, cols, values.data()); }));
    copying_back.push_back(seconds([&] { std::memcpy(to.data(), from.data(), back_bytes / 2); }));
    state.SetIterationTime(quantizing.back());
  }
  state.counters["GB/s"] = static_cast<double>(bytes) / median(quantizing) / 1e9;
  state.counters["ratio_to_copy"] = median(copying) / median(quantizing);
  state.counters["dequantize"] = median(copying_back) / median(dequantizing);
}

// NVFP4: the tensor's largest magnitude is given.
template <class Recipe, class T> void nvfp4(benchmark::State& state) {
  auto const n = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t const cols = 1024, rows = n / cols;
  auto const x = numbers<T>(n);
  Recipe const recipe{isobit::from_bits<float>(isobit::amax<Recipe>(isobit::host(), x.data(), n))};
  std::vector<isobit::e2m1x2> codes(n / 2);
  std::vector<isobit::e4m3> scales(n / 16);
  std::uint64_t const bytes = n * sizeof(T) + n / 2 + n / 16;
  std::vector<char> from(bytes / 2, 1), to(bytes / 2);
  std::vector<double> quantizing, copying;
  for (auto _ : state) {
    quantizing.push_back(
        seconds([&] { isobit::quantize(isobit::host(), recipe, x.data(), rows, cols, codes.data(), scales.data()); }));
    copying.push_back(seconds([&] { std::memcpy(to.data(), from.data(), bytes / 2); }));
    state.SetIterationTime(quantizing.back());
  }
  state.counters["GB/s"] = static_cast<double>(bytes) / median(quantizing) / 1e9;
  state.counters["ratio_to_copy"] = median(copying) / median(quantizing);
}
using te = isobit::nvfp4<isobit::nv::te>;
using exact = isobit::nvfp4<isobit::nv::exact>;
BENCHMARK(nvfp4<te, float>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(nvfp4<te, isobit::bf16>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(nvfp4<exact, float>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(nvfp4<exact, isobit::bf16>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);

BENCHMARK(quantize<float>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(quantize<isobit::bf16>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(quantize<isobit::f16>)->Arg(1 << 16)->Arg(1 << 25)->UseManualTime()->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
