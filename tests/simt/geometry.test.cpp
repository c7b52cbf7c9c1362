// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <vector>

using isobit::extent3;
namespace machine = isobit::machine;
namespace simt = isobit::simt;

TEST_CASE("every thread of the grid runs once, at every block width") {
  for (unsigned threads : {1u, 2u, 31u, 32u, 33u, 64u, 100u, 257u, 1023u, 1024u}) {
    for (auto order : {simt::schedule::random, simt::schedule::in_order, simt::schedule::reverse}) {
      std::vector<int> ran(3 * threads, 0);
      simt::launch({.grid = {3}, .block = {threads}, .seed = threads, .order = order}, [&] {
        CHECK_MESSAGE(machine::block_threads() == threads, "block_threads");
        ++ran[machine::block_rank() * threads + machine::thread_rank()];
      });
      CHECK(ran == std::vector<int>(3 * threads, 1));
    }
  }
}

TEST_CASE("indices of three dimensions, x fastest") {
  extent3 const grid{3, 2, 4}, block{5, 3, 2};
  std::vector<int> ran(grid.count() * block.count(), 0);
  bool right = true;
  auto const r = simt::launch({.grid = grid, .block = block, .seed = 9}, [&] {
    auto const t = machine::thread_index(), b = machine::block_index();
    right = right && t.x < 5 && t.y < 3 && t.z < 2 && b.x < 3 && b.y < 2 && b.z < 4;
    right = right && machine::thread_rank() == t.x + 5 * (t.y + 3 * t.z);
    right = right && machine::block_rank() == b.x + 3 * (b.y + 2 * b.z);
    right = right && machine::lane() == machine::thread_rank() % 32;
    ++ran[machine::block_rank() * 30 + machine::thread_rank()];
  });
  CHECK(right);
  CHECK(ran == std::vector<int>(720, 1));
  CHECK(r.threads == 720);
}

TEST_CASE("orders are what they say") {
  std::vector<unsigned> seen;
  auto const kernel = [&] {
    seen.push_back(static_cast<unsigned>(machine::block_rank() * 10 + machine::thread_rank()));
  };
  simt::launch({.grid = {2}, .block = {3}, .order = simt::schedule::in_order}, kernel);
  CHECK(seen == std::vector<unsigned>{0, 1, 2, 10, 11, 12});
  seen.clear();
  simt::launch({.grid = {2}, .block = {3}, .order = simt::schedule::reverse}, kernel);
  CHECK(seen == std::vector<unsigned>{12, 11, 10, 2, 1, 0});
}

TEST_CASE("grid and block as integers or extents") {
  CHECK(simt::launch(2, 3u, [] {}).threads == 6);
  CHECK(simt::launch(extent3{2, 2}, extent3{3, 1, 2}, [] {}).threads == 24);
  CHECK(simt::launch(2L, extent3{3}, [] {}).threads == 6);
}

TEST_CASE("stacks of a chosen size") {
  auto const deep = [] {
    volatile char big[200 * 1024];
    big[0] = 1;
    big[sizeof big - 1] = 1;
    machine::sync_block();
  };
  CHECK(simt::launch({.block = {40}, .stack_bytes = 512 * 1024}, deep).threads == 40);
  CHECK(simt::launch({.block = {40}}, [] {}).threads == 40);
}
