// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every mistake that the simulator knows, with the block, the thread and the line that it names.
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

using isobit::extent3;
using isobit::machine::ballot;
using isobit::machine::lane;
using isobit::machine::shuffle;
using isobit::machine::sync_block;
using isobit::machine::sync_warp;
using isobit::machine::thread_rank;
namespace simt = isobit::simt;

namespace {

constexpr unsigned all = 0xffffffffu;

template <class Kernel> simt::kernel_error error_of(simt::config const& c, Kernel const& kernel) {
  std::optional<simt::kernel_error> error;
  try {
    simt::launch(c, kernel);
  } catch (simt::kernel_error const& e) {
    error = e;
  }
  REQUIRE(error);
  return *error;
}

bool says(simt::kernel_error const& e, std::string const& words) {
  bool const found = std::string(e.what()).find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << e.what());
  return found;
}

std::string at(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

} // namespace

TEST_CASE("deadlock: a thread returned while the others wait at the block barrier") {
  int const line = __LINE__ + 3;
  auto const e = error_of({.grid = {2}, .block = {64}, .order = simt::schedule::in_order}, [] {
    if (thread_rank() == 3) return;
    sync_block();
  });
  CHECK(e.kind() == simt::error_kind::deadlock);
  CHECK(e.block().x == 0);
  CHECK(e.thread().x == 0);
  CHECK(e.where().line == line);
  CHECK(says(e, "block (0,0,0) of grid (2,1,1)"));
  CHECK(says(e, "threads 0-2: at the block barrier, " + at(line)));
  CHECK(says(e, "thread 3: exited"));
  CHECK(says(e, "threads 4-63: at the block barrier"));
}

TEST_CASE("divergence: two different block barriers") {
  int const line = __LINE__ + 3;
  auto const kernel = [] {
    if (thread_rank() < 40)
      sync_block();
    else
      sync_block();
  };
  for (isobit::uint64_t seed = 0; seed < 10; ++seed) {
    auto const e = error_of({.grid = {3}, .block = {64}, .seed = seed}, kernel);
    CHECK(e.kind() == simt::error_kind::divergence);
    CHECK(says(e, "threads wait at different block barriers"));
    CHECK(says(e, "threads 0-39: at the block barrier, " + at(line)));
    CHECK(says(e, "threads 40-63: at the block barrier, " + at(line + 2)));
  }
}

TEST_CASE("deadlock: half of a warp does not come to a full-mask shuffle") {
  int const line = __LINE__ + 3;
  auto const e = error_of({.block = {64}}, [] {
    if (lane() < 16)
      shuffle(all, 1, 0);
    else
      sync_block();
  });
  CHECK(e.kind() == simt::error_kind::deadlock);
  CHECK(says(e, "threads 0-15: in a shuffle of mask 0xffffffff; lanes 16-31 have not arrived, " + at(line)));
  CHECK(says(e, "threads 16-31: at the block barrier, " + at(line + 2)));
}

TEST_CASE("deadlock: a lane named in the mask has exited") {
  int const line = __LINE__ + 3;
  auto const e = error_of({.block = {32}}, [] {
    if (lane() >= 30) return;
    ballot(all, true);
  });
  CHECK(e.kind() == simt::error_kind::deadlock);
  CHECK(says(e, "threads 0-29: in a ballot of mask 0xffffffff; lanes 30-31 have exited, " + at(line)));
}

TEST_CASE("divergence: lanes of one mask in different shuffles") {
  int const line = __LINE__ + 3;
  auto const e = error_of({.block = {32}}, [] {
    if (lane() < 16)
      shuffle(all, 1, 0);
    else
      shuffle(all, 1, 0);
  });
  CHECK(e.kind() == simt::error_kind::divergence);
  CHECK(says(e, "threads 0-15: in a shuffle of mask 0xffffffff, " + at(line)));
  CHECK(says(e, "threads 16-31: in a shuffle of mask 0xffffffff, " + at(line + 2)));
}

TEST_CASE("divergence: a shuffle meets a ballot, and sizes differ") {
  CHECK(error_of({.block = {32}}, [] {
          if (lane() < 16)
            shuffle(all, 1, 0);
          else
            ballot(all, true);
        }).kind() == simt::error_kind::divergence);
  CHECK(error_of({.block = {32}}, [] {
          lane() < 16 ? void(shuffle(all, 1, 0)) : void(shuffle(all, 1.0, 0)); // one line, two sizes
        }).kind() == simt::error_kind::divergence);
}

TEST_CASE("lanes may meet in one warp barrier from different lines") {
  CHECK_NOTHROW(simt::launch(1, 32, [] {
    if (lane() < 16)
      sync_warp(all);
    else
      sync_warp(all);
  }));
}

TEST_CASE("bad mask: it does not hold the caller") {
  int const line = __LINE__ + 2;
  auto const e = error_of({.grid = {2, 2}, .block = {40}, .order = simt::schedule::reverse}, [] {
    if (thread_rank() == 35) sync_warp(0x7);
  });
  CHECK(e.kind() == simt::error_kind::bad_mask);
  CHECK(e.block().x == 1);
  CHECK(e.block().y == 1);
  CHECK(e.thread().x == 35);
  CHECK(e.where().line == line);
  CHECK(says(e,
             "block (1,1,0), thread (35,0,0): lane 3 calls with mask 0x00000007, which does not hold it, " + at(line)));
}

TEST_CASE("bad mask: a full mask in the ragged last warp") {
  int const line = __LINE__ + 1;
  auto const e = error_of({.block = {33}, .order = simt::schedule::in_order}, [] { shuffle(all, 1, 0); });
  CHECK(e.kind() == simt::error_kind::bad_mask);
  CHECK(e.thread().x == 32);
  CHECK(says(e, "names lanes 1-31, which the warp does not have, " + at(line)));
}

TEST_CASE("bad lane: a shuffle from outside of the mask, or from lane 32") {
  int const line = __LINE__ + 2;
  auto const e = error_of({.block = {32}, .order = simt::schedule::in_order}, [] {
    if (lane() < 8) shuffle(0xffu, 1, 8);
  });
  CHECK(e.kind() == simt::error_kind::bad_lane);
  CHECK(says(e, "a shuffle of mask 0x000000ff reads lane 8, which the mask does not hold, " + at(line)));
  CHECK(error_of({.block = {32}}, [] { shuffle(all, 1, 32); }).kind() == simt::error_kind::bad_lane);
}

TEST_CASE("bad lane: a shuffle from an exited lane, where exited threads count") {
  auto const e = error_of({.block = {32}, .exited_threads_count = true}, [] {
    if (lane() != 5) shuffle(all, 1, 5);
  });
  CHECK(e.kind() == simt::error_kind::bad_lane);
  CHECK(says(e, "lane 5, which has exited"));
}

TEST_CASE("livelock: a flag that nobody sets") {
  isobit::uint32_t flag = 0;
  int line = 0;
  auto const e = error_of({.grid = {2}, .block = {3}, .resident = 2, .spin_limit = 5000}, [&] {
    line = __LINE__ + 1;
    while (isobit::machine::here().atomic(isobit::atomic_op::load, &flag, 4, 0, 0, isobit::memory_order::acquire,
                                          isobit::source_line::here()) == 0) {
    }
  });
  CHECK(e.kind() == simt::error_kind::livelock);
  CHECK(says(e, "at an atomic"));
}

TEST_CASE("a launch inside a kernel is refused") {
  auto const e = error_of({}, [] { simt::launch(1, 1, [] {}); });
  CHECK(e.kind() == simt::error_kind::nested_launch);
}

TEST_CASE("impossible geometries are refused before anything runs") {
  int ran = 0;
  auto const kernel = [&] { ++ran; };
  CHECK_THROWS_WITH(simt::launch(0, 32, kernel), "isobit::simt::launch: grid must be at least 1 block");
  CHECK_THROWS_WITH(simt::launch(1, 0, kernel), "isobit::simt::launch: block must be at least 1 thread");
  CHECK_THROWS_WITH(simt::launch(1, 1025, kernel), "isobit::simt::launch: block must be at most 1024 threads, 64 in z");
  CHECK_THROWS_AS(simt::launch(-1, 32, kernel), isobit::invalid_argument);
  CHECK_THROWS_AS(simt::launch(extent3{1, 65536, 1}, 32, kernel), isobit::invalid_argument);
  CHECK_THROWS_AS(simt::launch({.stack_bytes = 100}, kernel), isobit::invalid_argument);
  CHECK(ran == 0);
}

TEST_CASE("reports are short whatever the block looks like") {
  auto const e = error_of({.block = {1024}}, [] {
    if (thread_rank() % 2 == 0) sync_block();
  });
  std::string const what = e.what();
  CHECK(std::count(what.begin(), what.end(), '\n') <= 22);
  CHECK(says(e, "more threads"));
}

TEST_CASE("a launch after a failed one is not affected by it") {
  for (int k = 0; k < 20; ++k) {
    simt::config const c{.grid = {5}, .block = {70}, .seed = static_cast<isobit::uint64_t>(k), .resident = 3};
    CHECK_THROWS_AS(simt::launch(c,
                                 [] {
                                   sync_block();
                                   if (thread_rank() == 69 && isobit::machine::block_rank() == 2) return;
                                   sync_block();
                                 }),
                    simt::kernel_error);
    unsigned ran = 0;
    simt::launch(c, [&] {
      sync_block();
      ++ran;
    });
    CHECK(ran == 350);
  }
}
