// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast isobit::simt runs threads, barriers, shuffles, atomics and whole small launches.
#include <isobit/simt/launch.hpp>

#include <benchmark/benchmark.h>

namespace machine = isobit::machine;
namespace simt = isobit::simt;

namespace {

simt::config geometry(benchmark::State const& state, isobit::uint32_t blocks, isobit::uint32_t threads) {
  return {.grid = {blocks},
          .block = {threads},
          .order = state.range(0) == 0 ? simt::schedule::in_order : simt::schedule::random,
          .resident = 1};
}

// `operations` machine operations for each of 64 x 256 threads; items are arrivals.
template <class Kernel> void run(benchmark::State& state, int operations, Kernel const& kernel) {
  simt::config c = geometry(state, 64, 256);
  for (auto _ : state) {
    ++c.seed;
    simt::launch(c, kernel);
  }
  state.SetItemsProcessed(state.iterations() * 64 * 256 * operations);
}

void threads(benchmark::State& state) {
  run(state, 1, [] {});
}
void block_barriers(benchmark::State& state) {
  run(state, 200, [] {
    for (int i = 0; i < 200; ++i) machine::sync_block();
  });
}
void warp_barriers(benchmark::State& state) {
  run(state, 200, [] {
    for (int i = 0; i < 200; ++i) machine::sync_warp(0xffffffffu);
  });
}
void shuffles(benchmark::State& state) {
  run(state, 200, [] {
    unsigned v = machine::lane();
    for (int i = 0; i < 200; ++i) v = machine::shuffle(0xffffffffu, v, (v + 1) % 32);
    benchmark::DoNotOptimize(v);
  });
}
void atomics(benchmark::State& state) {
  isobit::uint32_t counter = 0;
  run(state, 50, [&] {
    for (int i = 0; i < 50; ++i) machine::arrive(&counter, ~0u);
  });
}
// Whole launches of 2 x 64 threads with 3 barriers; items are launches.
void small_launches(benchmark::State& state) {
  simt::config c = geometry(state, 2, 64);
  c.resident = static_cast<isobit::uint32_t>(state.range(1));
  for (auto _ : state) {
    ++c.seed;
    simt::launch(c, [] {
      for (int i = 0; i < 3; ++i) machine::sync_block();
    });
  }
  state.SetItemsProcessed(state.iterations());
}

} // namespace

// random:0 in order, random:1 by seed.
BENCHMARK(threads)->ArgName("random")->Arg(0)->Arg(1);
BENCHMARK(block_barriers)->ArgName("random")->Arg(0)->Arg(1);
BENCHMARK(warp_barriers)->ArgName("random")->Arg(0)->Arg(1);
BENCHMARK(shuffles)->ArgName("random")->Arg(0)->Arg(1);
BENCHMARK(atomics)->ArgName("random")->Arg(0)->Arg(1);
BENCHMARK(small_launches)
    ->ArgNames({"random", "resident"})
    ->Args({0, 1})
    ->Args({1, 1})
    ->Args({0, 2})
    ->Args({1, 2})
    ->UseRealTime();

BENCHMARK_MAIN();
