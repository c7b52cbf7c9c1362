// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private slots and turnstiles as kernels use them: split-K and grouped epilogues, two-phase column sums, ordered
// accumulation; replays, poisoned memory, and what goes wrong without tickets.
#include "common.hpp"

#include <isobit/accum/moments.hpp>
#include <isobit/device/slots_kernel.hpp>
#include <isobit/order/sparse.hpp>
#include <isobit/slots.hpp>

#include <array>

namespace {

using namespace segment_test;
using isobit::plain;
namespace machine = isobit::machine;

// Split-K: block (tile, split) adds up its part of K for 16 x 16 outputs; the last of a tile merges.
struct matmul {
  float const *a, *b; // m x k, k x n
  uint32_t m, n, k, splits;
  isobit::private_slots<float> slots; // [splits][m * n]
  uint32_t* arrivals;                 // one a tile
  float* c;
};
constexpr uint32_t tile = 16;

void split_k_kernel(matmul p) {
  ISOBIT_SHARED uint32_t flag;
  uint32_t const tiles_n = (p.n + tile - 1) / tile, t = static_cast<uint32_t>(machine::block_rank()) / p.splits,
                 split = static_cast<uint32_t>(machine::block_rank()) % p.splits;
  uint32_t const part = p.k / p.splits, first = split * part;
  auto const each = [&](auto const& f) {
    for (uint32_t i = machine::thread_rank(); i < tile * tile; i += machine::block_threads()) {
      uint32_t const row = t / tiles_n * tile + i / tile, col = t % tiles_n * tile + i % tile;
      if (row < p.m && col < p.n) f(row, col);
    }
  };
  each([&](uint32_t row, uint32_t col) {
    float const sum = isobit::reduce(isobit::thread{}, part, [&](uint32_t j) {
      return isobit::mul(p.a[row * p.k + first + j], p.b[(first + j) * p.n + col]);
    });
    p.slots.store(split, row * p.n + col, sum);
  });
  if (isobit::last_to_arrive(&flag, p.arrivals + t, p.splits))
    each([&](uint32_t row, uint32_t col) { p.c[row * p.n + col] = isobit::merge(p.slots, row * p.n + col); });
}

// Grouped epilogue: the gradient of a row's probability gets a part from each tile of columns; no tile for some rows.
void row_parts_kernel(float const* x, uint32_t rows, uint32_t columns, uint32_t per_slot,
                      isobit::private_slots<float> slots) {
  auto const slot = static_cast<uint32_t>(machine::block_rank());
  uint32_t const first = slot * per_slot, n = columns - first < per_slot ? columns - first : per_slot;
  for (uint32_t r = machine::thread_rank(); r < rows; r += machine::block_threads())
    slots.store(slot, r, isobit::reduce(isobit::thread{}, n, [&](uint32_t j) { return x[r * columns + first + j]; }));
}

struct gate {
  uint32_t *ticket, *turn;
};
template <bool Tickets> void ordered_kernel(gate g, float const* parts, uint64_t n, float* sums, bool accumulate) {
  ISOBIT_SHARED uint32_t word;
  auto const blocks = static_cast<uint32_t>(machine::grid_blocks());
  uint32_t const slot = Tickets ? isobit::take_ticket(&word, g.ticket, blocks)
                                : blocks - 1 - static_cast<uint32_t>(machine::block_rank());
  isobit::add_in_turn(
      isobit::turnstile{g.turn, blocks}, slot, sums, n, plain<float>{}, [=](uint64_t i) { return parts[slot * n + i]; },
      accumulate);
}
// Control: in order of arrival.
void arrival_kernel(uint32_t* lock, float const* parts, uint64_t n, float* sums) {
  if (machine::thread_rank() != 0) return;
  uint32_t const slot = static_cast<uint32_t>(machine::block_rank());
  machine::arrive(lock, ~0u);
  for (uint64_t i = 0; i < n; ++i) sums[i] = isobit::add(sums[i], parts[slot * n + i]);
}

} // namespace

TEST_SUITE("slots") {
  TEST_CASE("split-K: the same bits for 1, 2, 4 and 8 splits, any schedule, replayed, in poisoned memory") {
    uint32_t const m = 20, n = 18, k = 64;
    auto const a = wild(m * k, 1), b = wild(k * n, 2);
    std::vector<float> expected(m * n);
    for (uint32_t i = 0; i < m * n; ++i)
      expected[i] = by_definition(
          k, [&](uint64_t j) { return isobit::mul(a[i / n * k + j], b[j * n + i % n]); }, plain<float>{});
    uint64_t seed = 0;
    for (uint32_t splits : {1u, 2u, 4u, 8u})
      for (uint32_t width : {1u, 33u, 96u}) {
        auto memory = poisoned<float>(m * n * splits, splits == 2 ? 0x7f : 0xff);
        std::vector<uint32_t> arrivals(4, 0);
        auto c = poisoned<float>(m * n);
        for (int replay = 0; replay < 2; ++replay) {
          ++seed;
          simt::launch(simt::vary({.grid = {4 * splits}, .block = {width}, .seed = seed}, seed % 6), split_k_kernel,
                       matmul{a.data(), b.data(), m, n, k, splits,
                              isobit::private_slots<float>::at(memory.data(), splits, m * n), arrivals.data(),
                              c.data()});
          CAPTURE(splits);
          CHECK(bits_equal(c, expected));
          CHECK(arrivals == std::vector<uint32_t>(4, 0));
          c = poisoned<float>(m * n);
        }
      }
    static_assert(isobit::private_slots<float>::bytes(8, 360) == 8 * 360 * 4);
  }

  TEST_CASE("a second pass needs no counter; three splits are another expression, and named so") {
    uint32_t const rows = 70, columns = 1000, per_slot = 256;
    auto const x = wild(rows * columns, 4);
    auto memory = poisoned<float>(4 * rows);
    auto const slots = isobit::private_slots<float>::at(memory.data(), 4, rows);
    simt::launch({.grid = {4}, .block = {64}, .seed = 3}, row_parts_kernel, x.data(), rows, columns, per_slot, slots);
    std::vector<float> out(rows);
    simt::launch(2, 33, isobit::device::merge_slots_kernel<plain<float>>, slots, out.data(), plain<float>{});
    // Slots of 2^l columns, the last cut short: the tree over the whole row.
    for (uint32_t r = 0; r < rows; ++r)
      CHECK(bits_equal(out[r], by_definition(
                                   columns, [&](uint64_t i) { return x[r * columns + i]; }, plain<float>{})));
    // Slots of 250 columns: the tree over the slots, not over the row.
    simt::launch({.grid = {4}, .block = {64}}, row_parts_kernel, x.data(), rows, columns, 250u, slots);
    int different = 0;
    for (uint32_t r = 0; r < rows; ++r) different += !bits_equal(isobit::merge(slots, r), out[r]);
    CHECK(different > 0);
  }

  TEST_CASE("absent slots are skipped and not read") {
    auto memory = poisoned<float>(8); // NaN where nobody stored
    auto const values = wild(8, 5);
    for (uint32_t mask = 0; mask < 256; ++mask) {
      isobit::sparse_counter<float> expected;
      memory = poisoned<float>(8);
      for (uint32_t k = 0; k < 8; ++k)
        if ((mask >> k & 1) != 0) {
          isobit::private_slots<float>::at(memory.data(), 8, 1).store(k, 0, values[k]);
          expected.push(plain<float>{}, k, values[k]);
        }
      float const merged = isobit::merge_present(isobit::private_slots<float>::at(memory.data(), 8, 1), 0,
                                                 plain<float>{}, [=](uint64_t k) { return (mask >> k & 1) != 0; });
      CHECK(bits_equal(merged, mask == 0 ? 0.0f : expected.fold(plain<float>{})));
    }
    CHECK(bits_equal(isobit::merge(isobit::private_slots<float>::at(nullptr, 0, 1), 0), 0.0f));
  }

  TEST_CASE("slots of an accumulator's states: mean and variance of parts") {
    auto const x = wild(1024, 6);
    isobit::moments<float> const acc;
    std::vector<isobit::moments<float>::state> memory(8);
    auto const slots = isobit::private_slots<isobit::moments<float>::state>::at(memory.data(), 8, 1);
    for (uint64_t s = 0; s < 8; ++s)
      slots.store(s, 0,
                  isobit::interpret<isobit::tree>(
                      128, [&](uint64_t i) { return x[128 * s + i]; }, acc));
    auto const merged = isobit::merge(slots, 0, acc), whole = isobit::reduce(isobit::host(), x.data(), 1024, acc);
    CHECK(bits_equal(merged.mean, whole.mean));
    CHECK(bits_equal(merged.variance, whole.variance));
  }

  TEST_CASE("turnstile: the sequential order over the tickets, whatever the schedule; arrival order is another thing") {
    uint64_t const n = 40;
    uint32_t const blocks = 9;
    auto const parts = wild(blocks * n, 7);
    std::vector<float> expected(n);
    for (uint64_t i = 0; i < n; ++i)
      expected[i] = plain<float>{}.finish(isobit::interpret<isobit::sequential>(
          blocks, [&](uint64_t s) { return parts[s * n + i]; }, plain<float>{}));
    int arrivals_differ = 0;
    for (uint64_t k = 0; k < 20; ++k) {
      uint32_t ticket = 0, turn = 0, lock = 0;
      auto sums = poisoned<float>(n);
      auto c = simt::vary({.grid = {blocks}, .block = {k % 2 == 0 ? 33u : 7u}}, k);
      c.resident = 1 + static_cast<uint32_t>(k % 4);
      simt::launch(c, ordered_kernel<true>, gate{&ticket, &turn}, parts.data(), n, sums.data(), false);
      CHECK(bits_equal(sums, expected));
      CHECK(ticket == 0);
      CHECK(turn == 0);
      simt::launch(c, ordered_kernel<true>, gate{&ticket, &turn}, parts.data(), n, sums.data(), true); // on top
      std::vector<float> on_top(n);
      for (uint64_t i = 0; i < n; ++i) {
        on_top[i] = expected[i];
        for (uint32_t s = 0; s < blocks; ++s) on_top[i] = isobit::add(on_top[i], parts[s * n + i]);
      }
      CHECK(bits_equal(sums, on_top));
      std::vector<float> chance(n, 0.0f);
      c.order = simt::schedule::random;
      c.resident = 4;
      simt::launch(c, arrival_kernel, &lock, parts.data(), n, chance.data());
      arrivals_differ += !bits_equal(chance, expected);
    }
    CHECK(arrivals_differ > 0);
  }

  TEST_CASE("without tickets a block may wait for one that has no place: the simulator says so") {
    uint64_t const n = 4;
    auto const parts = wild(3 * n, 7);
    uint32_t ticket = 0, turn = 0;
    std::vector<float> sums(n);
    CHECK_THROWS_AS(
        simt::launch({.grid = {3}, .block = {32}, .order = simt::schedule::in_order, .resident = 1, .spin_limit = 1000},
                     ordered_kernel<false>, gate{&ticket, &turn}, parts.data(), n, sums.data(), false),
        simt::kernel_error);
  }
}
