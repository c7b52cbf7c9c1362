// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One-line replay and the smallest failing configuration.
#include "../planted/kernels.hpp"

#include <isobit/simt/replay.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <doctest/doctest.h>

namespace simt = isobit::simt;
namespace testing = isobit::testing;

TEST_CASE("a configuration as a line of C++") {
  CHECK(simt::replay({}) == "isobit::simt::config{.grid = {1}, .block = {1}}");
  CHECK(simt::replay({.grid = {3}, .block = {96}, .seed = 17}) ==
        "isobit::simt::config{.grid = {3}, .block = {96}, .seed = 17}");
  CHECK(simt::replay({.grid = {3, 2},
                      .block = {8, 4, 2},
                      .order = simt::schedule::reverse,
                      .resident = 2,
                      .preempt = false,
                      .exited_threads_count = true,
                      .shared_bytes = 64,
                      .spin_limit = 9}) ==
        "isobit::simt::config{.grid = {3, 2}, .block = {8, 4, 2}, .order = isobit::simt::schedule::reverse, "
        ".resident = 2, .preempt = false, .exited_threads_count = true, .shared_bytes = 64, .spin_limit = 9}");
  // Members in the order of their declaration, as designated initialisers must be: this line is one of the above.
  simt::config const again = isobit::simt::config{.grid = {3}, .block = {96}, .seed = 17};
  CHECK(simt::replay(again) == "isobit::simt::config{.grid = {3}, .block = {96}, .seed = 17}");
}

TEST_CASE("the smallest configuration that still fails") {
  auto const m = simt::minimise([](simt::config const& c) { return c.grid.x >= 3 && c.block.x >= 33; },
                                {.grid = {40}, .block = {1000}, .seed = 99});
  CHECK(m.smallest.grid.x == 3);
  CHECK(m.smallest.block.x == 33);
  CHECK(m.smallest.order == simt::schedule::in_order);
  CHECK(m.runs <= 300);
  auto const three = simt::minimise(
      [](simt::config const& c) { return c.block.y * c.block.z >= 4 && c.order == simt::schedule::random; },
      {.grid = {2, 2, 2}, .block = {8, 8, 8}, .seed = 99});
  CHECK(three.smallest.grid.count() == 1);
  CHECK(three.smallest.block.count() <= 5);
  CHECK(three.smallest.seed < 4);
  CHECK_FALSE(three.smallest.preempt);
  auto const few = simt::minimise([](simt::config const&) { return false; }, {.grid = {1000}}, 3);
  CHECK(few.runs == 3);
  CHECK(few.smallest.grid.x == 1000);
}

TEST_CASE("a schedule bug shrinks, and the replay line shows it again") {
  auto const x = testing::elements(testing::wide_exponents<float>{7}, 64);
  auto const run = [&](simt::config const& c) {
    float sum = 0;
    auto const n = static_cast<unsigned>(c.grid.count() * c.block.count());
    simt::launch(c, planted::arrival_order<true>, x.data(), n, &sum);
    float wanted = 0;
    for (unsigned i = 0; i < n; ++i) wanted = isobit::add(wanted, x[i]);
    return isobit::to_bits(sum) != isobit::to_bits(wanted);
  };
  simt::config c{.grid = {4}, .block = {16}};
  while (!run(c)) ++c.seed;
  auto const m = simt::minimise(run, c);
  CHECK(run(m.smallest));
  CHECK(m.smallest.grid.count() * m.smallest.block.count() <= 4);
  CHECK(m.smallest.grid.count() * m.smallest.block.count() >= 2);
  MESSAGE(simt::replay(c) << " -> " << simt::replay(m.smallest) << " in " << m.runs << " runs");
}

TEST_CASE("thousands of schedules a second: a thousand of a small kernel") {
  auto const x = testing::elements(testing::wide_exponents<float>{7}, 2 * planted::width);
  testing::host_options const o{.blocks = {planted::width}, .grids = {2}, .schedules = 1000};
  auto const v = testing::same_as_host(
      [&](simt::config const& c) {
        std::vector<float> out(2);
        simt::launch(c, planted::missing_barrier<false>, x.data(), out.data());
        return out;
      },
      [&] {
        std::vector<float> out(2);
        simt::launch(2, planted::width, planted::missing_barrier<false>, x.data(), out.data());
        return out;
      },
      o);
  CHECK(v);
  CHECK(v.runs() == 1000);
}
