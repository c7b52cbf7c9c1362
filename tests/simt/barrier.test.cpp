// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/bits/cast.hpp>
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using isobit::extent3;
using isobit::machine::block_rank;
using isobit::machine::block_threads;
using isobit::machine::sync_block;
using isobit::machine::thread_rank;
namespace simt = isobit::simt;

namespace {

//! Sums 1/(rank + 1) with a tree in shared memory. `Barriers` false: forgets one barrier of eight.
template <bool Barriers> ISOBIT_KERNEL void tree_sum(float* out) {
  ISOBIT_SHARED float values[256];
  isobit::machine::shared_memory(values, sizeof values);
  unsigned const t = thread_rank();
  values[t] = 1.0f / static_cast<float>(t + 1);
  for (unsigned width = block_threads() / 2; width > 0; width /= 2) {
    if (Barriers || width != 32) sync_block();
    if (t < width) values[t] += values[t + width];
  }
  if (t == 0) out[block_rank()] = values[0];
}

template <class Kernel> std::set<isobit::uint32_t> results_of(Kernel kernel, simt::config c, int seeds) {
  std::set<isobit::uint32_t> results;
  std::vector<float> out(c.grid.count());
  for (int seed = 0; seed < seeds; ++seed) {
    c.seed = static_cast<isobit::uint64_t>(seed);
    simt::launch(c, kernel, out.data());
    for (float x : out) results.insert(isobit::to_bits(x));
  }
  return results;
}

} // namespace

TEST_CASE("a kernel with all its barriers has one result under 120 schedules") {
  CHECK(results_of(tree_sum<true>, {.grid = {4}, .block = {256}}, 120).size() == 1);
  auto const in_order = results_of(tree_sum<true>, {.block = {256}, .order = simt::schedule::in_order}, 1);
  CHECK(in_order == results_of(tree_sum<true>, {.block = {256}, .order = simt::schedule::reverse}, 1));
  CHECK(in_order == results_of(tree_sum<true>, {.block = {256}}, 1));
}

TEST_CASE("control: a forgotten barrier shows as results that depend on the schedule") {
  CHECK(results_of(tree_sum<false>, {.block = {256}}, 20).size() >= 15);
  auto const in_order = results_of(tree_sum<false>, {.block = {256}, .order = simt::schedule::in_order}, 1);
  CHECK(in_order != results_of(tree_sum<false>, {.block = {256}, .order = simt::schedule::reverse}, 1));
}

TEST_CASE("no thread passes a barrier before all have arrived") {
  for (unsigned threads : {1u, 2u, 31u, 33u, 100u, 1024u}) {
    for (isobit::uint64_t seed = 0; seed < 5; ++seed) {
      std::vector<unsigned> arrived(8, 0);
      bool early = false;
      auto const r = simt::launch({.block = {threads}, .seed = seed}, [&] {
        for (auto& count : arrived) {
          ++count;
          sync_block();
          early = early || count != threads;
        }
      });
      CHECK_FALSE(early);
      CHECK(r.barriers == 8u * threads);
      CHECK(r.threads == threads);
    }
  }
}

TEST_CASE("barriers of different blocks are independent") {
  for (isobit::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<unsigned> passed(6, 0);
    simt::launch({.grid = {6}, .block = {40}, .seed = seed, .resident = 3}, [&] {
      for (unsigned i = 0; i <= block_rank(); ++i) sync_block();
      ++passed[block_rank()];
    });
    CHECK(passed == std::vector<unsigned>(6, 40));
  }
}

TEST_CASE("exited threads may count as arrived when the launch says so, as on current GPUs") {
  unsigned after = 0;
  auto const kernel = [&] {
    if (thread_rank() % 3 == 1) return;
    sync_block();
    isobit::machine::sync_warp(0xffffffffu);
    ++after;
  };
  simt::launch({.block = {96}, .exited_threads_count = true}, kernel);
  CHECK(after == 64);
  CHECK_THROWS_AS(simt::launch({.block = {96}}, kernel), simt::kernel_error);
}
