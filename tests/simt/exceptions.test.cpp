// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using isobit::machine::block_rank;
using isobit::machine::sync_block;
using isobit::machine::thread_rank;
namespace simt = isobit::simt;

namespace {
struct counted {
  explicit counted(int& n) : live(n) { ++live; }
  ~counted() { --live; }
  int& live;
};
} // namespace

TEST_CASE("what a kernel throws reaches the caller, and every thread is unwound") {
  for (unsigned resident : {1u, 3u}) {
    for (isobit::uint64_t seed = 0; seed < 10; ++seed) {
      int live = 0;
      simt::config const c{.grid = {4}, .block = {50}, .seed = seed, .resident = resident};
      CHECK_THROWS_WITH_AS(simt::launch(c,
                                        [&] {
                                          counted const here(live);
                                          std::vector<int> const heap(100); // seen by the leak checker
                                          sync_block();
                                          if (block_rank() == 1 && thread_rank() == 17)
                                            throw std::out_of_range("thread 17");
                                          sync_block();
                                        }),
                           "thread 17", std::out_of_range);
      CHECK(live == 0);
    }
  }
}

TEST_CASE("a destructor may use the machine while its thread is unwound") {
  struct waits {
    ~waits() noexcept(false) {
      sync_block();
      isobit::machine::ballot(0xffffffffu, true);
    }
  };
  CHECK_THROWS_AS(simt::launch(2, 64,
                               [] {
                                 waits const w;
                                 if (thread_rank() != 5) isobit::machine::sync_warp(0xffffffffu);
                               }),
                  simt::kernel_error);
}

TEST_CASE("exceptions in flight belong to their thread") {
  unsigned right = 0;
  simt::launch(2, 64, [&] {
    try {
      throw static_cast<int>(thread_rank());
    } catch (int mine) {
      sync_block(); // other threads throw and catch meanwhile
      try {
        throw;
      } catch (int again) {
        right += again == mine && mine == static_cast<int>(thread_rank());
      }
    }
    right += std::uncaught_exceptions() == 0;
  });
  CHECK(right == 256);
}

TEST_CASE("a kernel that swallows everything still ends when its launch has failed") {
  int rounds = 0;
  CHECK_THROWS_AS(simt::launch({.block = {32}, .order = simt::schedule::in_order},
                               [&] {
                                 if (thread_rank() == 31) return;
                                 for (int i = 0; i < 3; ++i) {
                                   try {
                                     sync_block();
                                   } catch (...) {
                                     ++rounds;
                                   }
                                 }
                               }),
                  simt::kernel_error);
  CHECK(rounds == 31 * 3);
}

TEST_CASE("arguments are copied for each thread") {
  std::vector<int> const x{1, 2, 3};
  int sum = 0;
  simt::launch(
      2, 3,
      [](std::vector<int> mine, int* out) {
        mine[0] += 1; // the thread's own
        *out += mine[0];
      },
      x, &sum);
  CHECK(sum == 12);
  CHECK(x[0] == 1);
}

namespace {
// What a child process that runs `f` writes to its standard error.
template <class F> std::string last_words_of(F const& f, int& status) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::pid_t const child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    f();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string words;
  char buffer[512];
  for (::ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) words.append(buffer, static_cast<size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, &status, 0);
  return words;
}
} // namespace

TEST_CASE("where a failed launch cannot be unwound, the program's last words are the launch's error") {
  int status = 0;
  auto const words = last_words_of(
      [] {
        simt::launch({.block = {8}}, [] {
          auto const waits = []() noexcept { sync_block(); };
          if (thread_rank() != 3) waits();
        });
      },
      status);
  CHECK(WIFSIGNALED(status));
  CHECK(words.find("failed while its kernel waited in a destructor or noexcept function") != std::string::npos);
  CHECK(words.find("thread 3: exited") != std::string::npos);
}

TEST_CASE("a child process can launch with several resident blocks after its parent did") {
  simt::config const c{.grid = {3}, .block = {8}, .resident = 3};
  simt::launch(c, [] { sync_block(); });
  int status = 0;
  auto const words = last_words_of([&] { simt::launch(c, [] { sync_block(); }); }, status);
  CHECK(words == "");
  CHECK(status == 0);
}

TEST_CASE("a host function outside of a kernel is told so") {
  int status = 0;
  auto const words = last_words_of([] { sync_block(); }, status);
  CHECK(WIFSIGNALED(status));
  CHECK(words.find("outside of a kernel") != std::string::npos);
}

TEST_CASE("no memory for the stacks is an exception") {
  if (simt::detail::address_sanitizer || simt::detail::thread_sanitizer) return; // they would use all memory themselves
  for (unsigned resident : {1u, 2u})
    CHECK_THROWS_AS(
        simt::launch({.grid = {2}, .block = {1024}, .resident = resident, .stack_bytes = size_t(1) << 43}, [] {}),
        std::bad_alloc);
  CHECK(simt::launch(2, 64, [] {}).threads == 128);
}
