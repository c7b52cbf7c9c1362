// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segmented sums of float on one CPU thread beside the unsegmented sum of the same array, and gather-combine with the
// bytes that it moves. In each round every contestant passes over the same data, one after the other; its time is this
// thread's CPU time. Counters, from the rounds' medians:
//   ns_reduce, ns_segmented  nanoseconds an element of the sum of the whole array, and of the sums of its segments
//   ratio                    the second over the first, median of the rounds' ratios
//   reads_per_row_element    how often gather-combine reads an element that some token uses (counted by its load: 1)
//   MB_moved, MB_needed      bytes read and written, counted; and the size of what must be read and written
#include <isobit/combine.hpp>
#include <isobit/segments.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
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
  double const start = thread_seconds();
  f();
  benchmark::ClobberMemory();
  return thread_seconds() - start;
}
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Segments of `length` elements, or, for a negative length, of random lengths around it.
void segmented(benchmark::State& state) {
  auto const n = static_cast<std::size_t>(state.range(0));
  auto const length = static_cast<std::int64_t>(state.range(1));
  std::vector<float> x(n);
  std::mt19937 engine(1);
  for (float& v : x) v = static_cast<float>(static_cast<std::int32_t>(engine())) / (1 << 30);
  std::vector<std::uint32_t> offsets{0};
  while (offsets.back() < n) {
    std::size_t const next = offsets.back() + (length > 0 ? static_cast<std::size_t>(length)
                                                          : engine() % static_cast<std::size_t>(1 - 2 * length));
    offsets.push_back(static_cast<std::uint32_t>(std::min(next, n)));
  }
  std::size_t const segments = offsets.size() - 1;
  std::vector<float> out(segments);
  std::size_t const passes = std::max<std::size_t>(1, (std::size_t{1} << 20) / n);
  std::vector<double> whole, parts, ratio;
  for (auto _ : state) {
    whole.push_back(seconds_of([&] {
      for (std::size_t p = 0; p < passes; ++p) benchmark::DoNotOptimize(isobit::reduce(isobit::host(), x.data(), n));
    }));
    parts.push_back(seconds_of([&] {
      for (std::size_t p = 0; p < passes; ++p)
        isobit::segmented_reduce(isobit::host(), x.data(), n, offsets.data(), segments, out.data());
    }));
    ratio.push_back(parts.back() / whole.back());
  }
  double const elements = static_cast<double>(n * passes);
  state.counters["ns_reduce"] = 1e9 * median(whole) / elements;
  state.counters["ns_segmented"] = 1e9 * median(parts) / elements;
  state.counters["ratio"] = median(ratio);
}
void lengths(benchmark::internal::Benchmark* b) {
  for (std::int64_t const n : {1 << 16, 1 << 25})
    for (std::int64_t const length : {10, -10, 100, 1000, -1000, 10000, 1 << 25})
      if (length <= n) b->Args({n, length});
  b->Iterations(15);
}
BENCHMARK(segmented)->Apply(lengths);

void combine(benchmark::State& state) {
  std::uint64_t const tokens = 2048, experts = 128, columns = 512;
  std::uint32_t const k = 6;
  std::mt19937 engine(1);
  std::vector<int> expert(tokens * k), row(tokens * k), all(experts);
  std::vector<float> weight(tokens * k, 0.25f);
  std::iota(all.begin(), all.end(), 0);
  for (std::uint64_t t = 0; t < tokens; ++t) {
    std::shuffle(all.begin(), all.end(), engine);
    std::copy_n(all.begin(), k, expert.begin() + static_cast<std::ptrdiff_t>(t * k));
  }
  std::vector<std::uint64_t> offsets(experts + 1);
  isobit::group_ids(isobit::host(), expert.data(), expert.size(), experts,
                    isobit::grouping<int>{offsets.data(), nullptr, row.data()});
  std::vector<isobit::bf16> x(tokens * k * columns, isobit::bf16{0x3f80}), out(tokens * columns);
  isobit::combine_map<int, int> const map{row.data(), expert.data(), weight.data(), tokens, k, tokens * k};
  std::vector<std::uint8_t> reads(x.size());
  std::uint64_t calls = 0;
  auto const counting = [&](std::uint64_t r, std::uint64_t c) {
    ++calls;
    ++reads[r * columns + c];
    return isobit::decode_element(x[r * columns + c]);
  };
  isobit::gather_combine(isobit::host(), map, counting, columns, out.data());
  if (std::any_of(reads.begin(), reads.end(), [](int n) { return n != 1; }))
    return state.SkipWithError("a row was not read once");
  std::vector<double> seconds;
  for (auto _ : state)
    seconds.push_back(seconds_of([&] {
      isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<isobit::bf16>{x.data(), columns}, columns,
                             out.data());
    }));
  double const entry = sizeof(int) * 2 + sizeof(float), maps = static_cast<double>(tokens * k) * entry;
  double const moved = static_cast<double>(calls + out.size()) * 2 + maps;
  state.counters["reads_per_row_element"] = static_cast<double>(calls) / static_cast<double>(x.size());
  state.counters["MB_moved"] = 1e-6 * moved;
  state.counters["MB_needed"] = 1e-6 * (static_cast<double>(x.size() + out.size()) * 2 + maps);
  state.counters["ns_per_element_read"] = 1e9 * median(seconds) / static_cast<double>(x.size());
}
BENCHMARK(combine)->Iterations(5);

} // namespace

BENCHMARK_MAIN();
