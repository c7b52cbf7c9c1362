// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index arithmetic of grids and blocks far past 2^32, without the elements.
#include <doctest/doctest.h>

#include <isobit/accum/plain.hpp>
#include <isobit/algo/fold_block.hpp>
#include <isobit/group/grid.hpp>

#include <initializer_list>

TEST_SUITE("index arithmetic") {
  TEST_CASE("a grid's partial results cover every n and stay few") {
    using isobit::uint64_t;
    using workspace = isobit::grid_workspace<double>;
    CHECK(workspace::partials_for(0) == 0);
    for (int bit = 0; bit < 63; ++bit)
      for (uint64_t n : {(uint64_t(1) << bit) - 1, uint64_t(1) << bit, (uint64_t(1) << bit) + 1, (uint64_t(3) << bit) / 2}) {
        int const level = workspace::chunk_level(n);
        uint64_t const partials = workspace::partials_for(n);
        CAPTURE(n);
        REQUIRE(level >= 13);
        CHECK(partials <= workspace::max_partials);
        if (n > 0) {
          CHECK(((partials - 1) << level) < n);      // the last one has something to do
          CHECK(((n - 1) >> level) == partials - 1);   // and covers the last element
          if (level > 13) CHECK(partials > workspace::max_partials / 4); // no more of them than needed, not far fewer
        }
        CHECK(workspace::bytes(n) == 16 + 8 * partials);
      }
  }

  TEST_CASE("a block's nodes are at most 32 for every n") {
    using isobit::uint64_t;
    struct load {
      float operator()(uint64_t) const { return 0; }
    };
    for (int bit = 0; bit < 63; ++bit)
      for (uint64_t n : {(uint64_t(1) << bit), (uint64_t(1) << bit) + 1, (uint64_t(3) << bit) / 2}) {
        int const level = isobit::detail::node_level<load, isobit::plain<float>>(n);
        CAPTURE(n);
        CHECK(isobit::ceil_shift(n, level) <= 32);
        CHECK(isobit::ceil_shift(n, level) >= 1);
      }
  }

  TEST_CASE("a workspace lies where its memory lies") {
    alignas(16) unsigned char memory[64] = {};
    auto const w = isobit::grid_workspace<float>::at(memory);
    CHECK(static_cast<void*>(w.arrivals) == memory);
    CHECK(static_cast<void*>(w.partials) == memory + 16);
    struct alignas(64) wide {
      float x[16];
    };
    CHECK(isobit::grid_workspace<wide>::bytes(1) == 128);
  }
}
