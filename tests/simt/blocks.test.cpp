// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several blocks at once: tickets, flags, shared memory, replays.
#include <isobit/bits/cast.hpp>
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

using isobit::uint32_t;
using isobit::uint64_t;
namespace machine = isobit::machine;
namespace simt = isobit::simt;

namespace {

uint32_t load_acquire(uint32_t* p) {
  return static_cast<uint32_t>(machine::here().atomic(isobit::atomic_op::load, p, 4, 0, 0,
                                                      isobit::memory_order::acquire, isobit::source_line::here()));
}
void store_release(uint32_t* p, uint32_t value) {
  machine::here().atomic(isobit::atomic_op::store, p, 4, value, 0, isobit::memory_order::release,
                         isobit::source_line::here());
}

//! Each block writes its partial; the last to arrive adds all of them in order.
ISOBIT_KERNEL void last_arriver(float* partials, uint32_t* ticket, float* out) {
  ISOBIT_SHARED bool last;
  auto const blocks = static_cast<uint32_t>(machine::grid_blocks());
  if (machine::thread_rank() == 0) {
    partials[machine::block_rank()] = 1.0f / static_cast<float>(machine::block_rank() + 1);
    last = machine::arrive(ticket, blocks - 1) == blocks - 1;
  }
  machine::sync_block();
  if (last && machine::thread_rank() == 31) {
    float sum = 0;
    for (uint32_t b = 0; b < blocks; ++b) sum += partials[b];
    *out = sum;
  }
}

//! Each block adds its value to the running sum as it arrives.
ISOBIT_KERNEL void arrival_order(float* sum) {
  if (machine::thread_rank() == 0) *sum += std::exp(static_cast<float>(machine::block_rank()));
}

} // namespace

TEST_CASE("a last-arriver ticket has one result under 100 schedules and resets itself") {
  std::set<uint32_t> results;
  uint32_t ticket = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<float> partials(12, NAN);
    float out = NAN;
    simt::launch({.grid = {12}, .block = {32}, .seed = seed, .resident = 1 + static_cast<uint32_t>(seed % 5)},
                 last_arriver, partials.data(), &ticket, &out);
    results.insert(isobit::to_bits(out));
    CHECK(ticket == 0);
  }
  CHECK(results.size() == 1);
}

TEST_CASE("control: a float sum in order of arrival depends on the seed") {
  std::set<uint32_t> results;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    float sum = 0;
    simt::launch({.grid = {16}, .block = {32}, .seed = seed}, arrival_order, &sum);
    results.insert(isobit::to_bits(sum));
  }
  CHECK(results.size() > 1);
}

TEST_CASE("resident blocks really are interleaved, and one resident block is not") {
  auto const alternations = [](uint32_t resident, uint64_t seed) {
    std::vector<uint64_t> seen;
    simt::launch({.grid = {2}, .block = {8}, .seed = seed, .resident = resident}, [&] {
      for (int i = 0; i < 10; ++i) {
        seen.push_back(machine::block_rank());
        machine::sync_block();
      }
    });
    int changes = 0;
    for (size_t i = 1; i < seen.size(); ++i) changes += seen[i] != seen[i - 1];
    return changes;
  };
  CHECK(alternations(1, 3) == 1);
  CHECK(alternations(2, 3) > 2);
}

TEST_CASE("a block may wait for another resident block's flag") {
  for (auto order : {simt::schedule::random, simt::schedule::in_order, simt::schedule::reverse}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      std::vector<uint32_t> ready(4, 0);
      std::vector<int> sums(4, 0);
      simt::launch({.grid = {4}, .block = {33}, .seed = seed, .order = order, .resident = 4}, [&] {
        auto const b = machine::block_rank();
        if (machine::thread_rank() == 20) {
          if (b > 0)
            while (load_acquire(&ready[b - 1]) == 0) {
            }
          sums[b] = (b > 0 ? sums[b - 1] : 0) + static_cast<int>(b) + 1;
          store_release(&ready[b], 1);
        }
        machine::sync_block();
      });
      CHECK(sums == std::vector<int>{1, 3, 6, 10});
    }
  }
}

TEST_CASE("a thread may wait for a lock that a thread of its own block holds") {
  for (auto order : {simt::schedule::random, simt::schedule::in_order, simt::schedule::reverse}) {
    uint32_t lock = 0;
    int inside = 0, most = 0, total = 0;
    simt::launch({.grid = {2}, .block = {40}, .order = order, .resident = 2}, [&] {
      auto const take = [&] {
        return machine::here().atomic(isobit::atomic_op::compare_exchange, &lock, 4, 1, 0,
                                      isobit::memory_order::acquire, isobit::source_line::here());
      };
      while (take() != 0) {
      }
      most = std::max(most, ++inside);
      ++total;
      uint32_t scratch = 0;
      machine::arrive(&scratch, 5); // a point where others may run
      --inside;
      store_release(&lock, 0);
    });
    CHECK(most == 1);
    CHECK(total == 80);
  }
}

TEST_CASE("shared memory is the block's own") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    unsigned wrong = 0;
    simt::launch({.grid = {7}, .block = {45}, .seed = seed, .resident = 4}, [&] {
      ISOBIT_SHARED uint64_t owner[45];
      for (int round = 0; round < 3; ++round) {
        owner[machine::thread_rank()] = machine::block_rank() * 100 + machine::thread_rank();
        machine::sync_block();
        unsigned const other = 44 - machine::thread_rank();
        wrong += owner[other] != machine::block_rank() * 100 + other;
        machine::sync_block();
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("registered shared memory starts as 0xFF bytes in every block") {
  for (uint32_t resident : {1u, 3u}) {
    unsigned poisoned = 0, kept = 0;
    simt::launch({.grid = {8}, .block = {64}, .seed = 5, .resident = resident}, [&] {
      ISOBIT_SHARED uint32_t values[64];
      simt::poison(values);
      uint32_t& mine = values[machine::thread_rank()];
      poisoned += mine == 0xffffffffu;
      mine = machine::thread_rank();
      simt::poison(values); // again: nothing happens
      machine::sync_block();
      kept += values[63 - machine::thread_rank()] == 63 - machine::thread_rank();
    });
    CHECK(poisoned == 8 * 64);
    CHECK(kept == 8 * 64);
  }
}

TEST_CASE("dynamic shared memory: the block's own, aligned, poisoned") {
  for (uint32_t resident : {1u, 3u}) {
    unsigned poisoned = 0, right = 0;
    simt::launch({.grid = {6}, .block = {50}, .seed = 1, .resident = resident, .shared_bytes = 50 * sizeof(uint32_t)},
                 [&] {
                   auto* const values = simt::dynamic_shared<uint32_t>();
                   uint32_t const t = machine::thread_rank();
                   poisoned += values[t] == 0xffffffffu && reinterpret_cast<uintptr_t>(values) % 128 == 0;
                   values[t] = t + static_cast<uint32_t>(machine::block_rank()) * 1000;
                   machine::sync_block();
                   right += values[49 - t] == 49 - t + machine::block_rank() * 1000;
                 });
    CHECK(poisoned == 300);
    CHECK(right == 300);
  }
}

TEST_CASE("a seed replays its interleaving; seeds differ") {
  auto const run = [](uint64_t seed, uint32_t resident, std::vector<uint32_t>& events) {
    events.clear();
    uint32_t counter = 0;
    return simt::launch({.grid = {6}, .block = {40}, .seed = seed, .resident = resident},
                        [&] {
                          for (int i = 0; i < 3; ++i) {
                            events.push_back(
                                static_cast<uint32_t>(machine::block_rank() * 100 + machine::thread_rank()));
                            machine::arrive(&counter, ~0u);
                            machine::sync_block();
                          }
                        })
        .trace;
  };
  for (uint32_t resident : {0u, 1u, 4u}) {
    std::set<uint64_t> traces;
    std::set<std::vector<uint32_t>> orders;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      std::vector<uint32_t> first, second;
      uint64_t const trace = run(seed, resident, first);
      CHECK(run(seed, resident, second) == trace);
      CHECK(first == second);
      traces.insert(trace);
      orders.insert(first);
    }
    CHECK(traces.size() == 30);
    CHECK(orders.size() == 30);
  }
}

TEST_CASE("launches of different host threads do not meet") {
  unsigned sums[2] = {};
  auto const host = [&](int k) {
    for (uint64_t seed = 0; seed < 50; ++seed)
      simt::launch({.grid = {3}, .block = {40}, .seed = seed, .resident = 2}, [&] {
        machine::sync_block();
        ++sums[k];
      });
  };
  std::thread other(host, 1);
  host(0);
  other.join();
  CHECK(sums[0] == 6000);
  CHECK(sums[1] == 6000);
}

TEST_CASE("a kernel starts with the launching thread's rounding mode, in every resident block") {
#if defined(__x86_64__)
  unsigned const saved = __builtin_ia32_stmxcsr();
  for (uint32_t resident : {1u, 2u}) {
    for (unsigned mode : {saved, saved | 0x6000u, saved}) { // round toward zero in between
      __builtin_ia32_ldmxcsr(mode);
      unsigned same = 0;
      simt::launch({.grid = {4}, .block = {33}, .resident = resident}, [&] {
        same += (__builtin_ia32_stmxcsr() & 0x6000u) == (mode & 0x6000u);
        __builtin_ia32_ldmxcsr(saved | 0x2000u); // a thread's change is its own
        machine::sync_block();
      });
      __builtin_ia32_ldmxcsr(saved);
      CHECK(same == 132);
    }
  }
#endif
}
