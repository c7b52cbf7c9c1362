// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The state of one launch that its resident blocks share.
#pragma once

#include <isobit/simt/config.hpp>
#include <isobit/simt/turn.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

namespace isobit::inline bits1::simt::detail {

//! A failed launch is unwound by an exception, which ends the program where the kernel waits in a destructor or in
//! another noexcept function. From the first failure on, the last words of such a program are the launch's error.
struct last_words {
  static inline thread_local std::exception_ptr error;
  static inline std::terminate_handler then = nullptr;

  [[noreturn]] static void say() {
    if (std::exception_ptr const e = std::exchange(error, nullptr)) {
      std::fputs("isobit::simt: a launch failed while its kernel waited in a destructor or noexcept function:\n",
                 stderr);
      try {
        std::rethrow_exception(e);
      } catch (std::exception const& what) {
        std::fprintf(stderr, "%s\n", what.what());
      } catch (...) {
        std::fputs("an exception of unknown type\n", stderr);
      }
    }
    if (then != nullptr) then();
    std::abort();
  }
};

class worker_base {
public:
  turn my_turn;
};

//! Changed only by the worker whose turn it is.
struct job {
  job(config const& c, void const* bound_kernel, void (*run_bound)(void const*))
      : settings(c), kernel(bound_kernel), invoke(run_bound), blocks(c.grid.count()), random(c.seed, 1) {
    if (c.order == schedule::random) shuffle_blocks();
  }

  //! The next block to start, or false when all have been started.
  bool take_block(uint64_t& rank) {
    if (started == blocks || abandoned) return false;
    uint64_t const k = started++;
    switch (settings.order) {
    case schedule::random:
      rank = order[k];
      break;
    case schedule::in_order:
      rank = k;
      break;
    case schedule::reverse:
      rank = blocks - 1 - k;
      break;
    }
    note(rank);
    return true;
  }

  //! Who runs after the worker in position `mine` of `active`.
  size_t choose(size_t mine) {
    size_t const n = active.size();
    size_t const k = settings.order == schedule::random ? random.below(n) : (mine + 1) % n;
    note(k);
    return k;
  }

  void note(uint64_t choice) { result.trace = (result.trace ^ choice) * 0x9e3779b97f4a7c15u + 1; }

  void fail(std::exception_ptr e) {
    if (!error) error = std::move(e);
    abandoned = true;
    explain_termination();
  }

  config const settings;
  void const* const kernel;
  void (*const invoke)(void const*);
  uint64_t const blocks;

  random_numbers random;
  std::vector<uint64_t> order;       //!< of the blocks, for random schedules
  std::vector<worker_base*> active;  //!< those that have a block
  std::vector<worker_base*> pending; //!< those that get one when an active worker ends (last first)
  uint64_t started = 0;
  uint64_t spins = 0; //!< atomic accesses since the last one that changed something
  bool abandoned = false;
  std::exception_ptr error;
  report result;

private:
  void explain_termination() {
    static bool const installed = (last_words::then = std::set_terminate(&last_words::say), true);
    static_cast<void>(installed);
  }
  void shuffle_blocks() {
    order.resize(blocks);
    for (uint64_t i = 0; i < blocks; ++i) order[i] = i;
    for (uint64_t i = blocks; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  }
};

} // namespace isobit::inline bits1::simt::detail
