// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans by all blocks of a launch on the simulator: operators that do not commute, large states, initial values; indices
// past 2^32.
#include "grid.hpp"

#include <isobit/accum/moments.hpp>

using namespace scan_test;
using isobit::detail::initial_state;
using isobit::detail::scan_form;

namespace {

// Sums of ones: the node over 2^c chunks is known without the elements.
struct named_nodes {
  std::uint64_t chunk;
  void publish(plain<std::uint64_t> const&, std::uint64_t, std::uint64_t const&) const {}
  template <int P, class Memory>
  void collect(isobit::tile<P> const&, plain<std::uint64_t> const&, std::uint64_t k, isobit::uint32_t worker,
               isobit::uint32_t, Memory& memory) const {
    if (worker != 0) return;
    for (isobit::uint32_t i = 0; i < isobit::detail::count_bits(k); ++i)
      *memory.slot(i) = chunk * isobit::detail::lowest_bit(isobit::detail::without_lowest(k, i));
  }
};

} // namespace

TEST_CASE("an operator that does not even associate, and one that does not commute, after an initial value") {
  testing::host_options const o{.blocks = {3, 64}, .grids = {1, 7}, .schedules = 3};
  auto const scramble = [](std::uint64_t i) { return order_test::mixed(i); };
  check_grid(scan_form<false>{}, scramble, 3000, order_test::scrambled, o);
  check_grid(scan_form<true, initial_state<std::uint64_t>>{{99}}, scramble, 3000, order_test::scrambled, o);
  auto const affine = [](std::uint64_t i) { return order_test::affine_at(i); };
  check_grid(scan_form<true, initial_state<order_test::affine>>{{{3, 5}}}, affine, 2500, order_test::composed, o);
}

TEST_CASE("a state of 40 bytes") {
  auto const load = [](std::uint64_t i) { return order_test::float_at(i); };
  check_grid(scan_form<true>{}, load, 400, isobit::moments<float>{}, {.blocks = {32, 96}, .grids = {5}, .schedules = 3});
}

TEST_CASE("a chunk beyond 2^33 elements, alone: its nodes are named, its indices do not wrap") {
  std::uint64_t const chunk = 64 * 8, k = (std::uint64_t(1) << 33) / chunk + 12345, n = (k + 1) * chunk - 7;
  std::uint64_t wrong = 0, stored = 0;
  simt::launch({.grid = {1}, .block = {64}}, [&] {
    ISOBIT_SHARED isobit::block_storage<64, std::uint64_t> memory;
    auto const b = isobit::block(memory);
    isobit::detail::scan_chunk_any(
        b, named_nodes{chunk}, k, n, scan_form<false>{}, [](std::uint64_t) { return std::uint64_t(1); },
        [&](std::uint64_t i, std::uint64_t r) { wrong += r != i + 1, ++stored; }, plain<std::uint64_t>{});
  });
  CHECK(wrong == 0);
  CHECK(stored == chunk - 7);
}

TEST_CASE("the workspace's size is a function of n and the block's width") {
  using w = isobit::scan_workspace<float>;
  static_assert(w::chunks(0, 256) == 0 && w::chunks(1, 256) == 1 && w::chunks(4096, 256) == 1);
  static_assert(w::chunks(4097, 300) == 2 && w::chunks(std::uint64_t(1) << 40, 256) == std::uint64_t(1) << 28);
  static_assert(w::zero_bytes(std::uint64_t(1) << 28, 256) == 16 + 4 * 65536);
  CHECK(w::bytes(std::uint64_t(1) << 28, 256) == 16 + 12 * 65536);
}
