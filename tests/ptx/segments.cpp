// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the kernels for segments, scatter, combine and slots, executed and compared with the host.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/accum/exact.hpp>
#include <isobit/combine.hpp>
#include <isobit/device/exact_atomic.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/order/sequential.hpp>
#include <isobit/scatter.hpp>
#include <isobit/segments.hpp>
#include <isobit/slots.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>

namespace {

using compiled::kernels;
using isobit::testing::bits_equal;

uint64_t next(uint64_t& z) { return z = z * 6364136223846793005u + 1442695040888963407u; }

std::vector<float> hard_floats(size_t n, uint64_t z) {
  std::vector<float> x(n);
  for (float& v : x) v = isobit::from_bits<float>(static_cast<uint32_t>(next(z) >> 32) & 0xbfffffffu);
  return x;
}

template <class T> std::vector<T> poisoned(size_t n) {
  std::vector<T> v(n);
  std::memset(static_cast<void*>(v.data()), 0xcd, n * sizeof(T));
  return v;
}

// A workspace: poisoned, but for its zeroed part.
struct memory {
  std::vector<uint64_t> words;
  explicit memory(size_t bytes) : words(bytes / 8 + 4, ~uint64_t{0}) {}
  unsigned char* start() {
    return reinterpret_cast<unsigned char*>((reinterpret_cast<uintptr_t>(words.data()) + 15) / 16 * 16);
  }
  void zero(void const* end) {
    std::memset(start(), 0, static_cast<size_t>(static_cast<unsigned char const*>(end) - start()));
  }
};

// Sums that blocks make in turn, from parts[blocks][n].
struct in_turn {
  std::vector<float> sums;
  uint64_t instructions = 0;
};
in_turn take_turns(std::string const& by, std::vector<float> const& parts, uint64_t n, ptx::launch_config const& config,
                   std::vector<float> start, bool accumulate = false) {
  uint32_t ticket = 0, turn = 0;
  in_turn r{std::move(start)};
  auto const arguments =
      ptx::arguments().add(&ticket).add(&turn).add(parts.data()).add(n).add(r.sums.data()).add(accumulate);
  r.instructions = ptx::run(kernels().find({"16turnstile_kernel", by}), config, arguments);
  CHECK(ticket == 0); // ready for the next launch
  CHECK(turn == 0);
  return r;
}

// The order `sequential` over the blocks, by its definition; after `start`, where there is one.
std::vector<float> one_by_one(std::vector<float> const& parts, uint64_t n, uint64_t blocks,
                              std::vector<float> const& start = {}) {
  std::vector<float> sums(n);
  for (uint64_t i = 0; i < n; ++i)
    sums[i] = isobit::interpret<isobit::sequential>(
        blocks + !start.empty(),
        [&](uint64_t s) {
          if (start.empty()) return parts[s * n + i];
          return s == 0 ? start[i] : parts[(s - 1) * n + i];
        },
        isobit::plain<float>{});
  return sums;
}

std::vector<int> random_ids(size_t n, int groups, uint64_t z) {
  std::vector<int> ids(n);
  for (int& id : ids) id = next(z) >> 60 == 0 ? -1 : static_cast<int>((z >> 33) % static_cast<uint64_t>(groups));
  return ids;
}

} // namespace

TEST_SUITE("compiled device code, segments") {
  TEST_CASE("segmented reduce: offsets and rows") {
    std::vector<uint64_t> const offsets{3, 3, 4, 7, 38, 38, 71, 104, 616, 1705, 1705, 5705, 5705, 5712};
    uint64_t const segments = offsets.size() - 1, n = 5712;
    auto const x = hard_floats(n, 1);
    auto const check = [&](auto const& acc, char const* name) {
      using acc_type = std::remove_cvref_t<decltype(acc)>;
      using space = isobit::segment_workspace<typename acc_type::state>;
      std::vector<float> expected(segments);
      isobit::segmented_reduce(isobit::host(), x.data(), n, offsets.data(), segments, expected.data(), acc);
      uint64_t seed = 0;
      for (int level : {6, 12})
        for (unsigned width : {256u, 96u, 33u, 7u}) {
          memory m(space::bytes(n, segments, level));
          auto const workspace = space::at(m.start(), n, segments, level);
          m.zero(workspace.partials);
          auto out = poisoned<float>(segments);
          ptx::run(kernels().find({"23segmented_reduce_kernel", "3csrImEE", name}), {3, width, ++seed},
                   ptx::arguments()
                       .add(isobit::csr{offsets.data(), segments})
                       .add(x.data())
                       .add(out.data())
                       .add(workspace)
                       .add('\0')
                       .add(uint64_t{0}));
          CAPTURE(width);
          CAPTURE(level);
          CHECK(bits_equal(out, expected));
        }
    };
    check(isobit::plain<float>{}, "5plainIfE");
    check(isobit::compensated<float>{}, "11compensatedIfE");

    std::vector<isobit::bf16> b(n);
    for (size_t i = 0; i < n; ++i) b[i].bits = static_cast<uint16_t>(isobit::to_bits(x[i]) >> 16);
    isobit::fixed_rows const rows(11, 500);
    std::vector<float> expected(11);
    isobit::reduce_rows(isobit::host(), b.data(), 11, 500, expected.data());
    using space = isobit::segment_workspace<float>;
    for (int level : {7, 12}) {
      memory m(space::bytes(5500, 11, level));
      auto const workspace = space::at(m.start(), 5500, 11, level);
      m.zero(workspace.partials);
      auto out = poisoned<float>(11);
      ptx::run(kernels().find({"23segmented_reduce_kernel", "10fixed_rows"}), {2, 64, 5},
               ptx::arguments().add(rows).add(b.data()).add(out.data()).add(workspace).add('\0').add(uint64_t{0}));
      CHECK(bits_equal(out, expected));
    }
  }

  TEST_CASE("offsets are checked, and an error stops the reduction") {
    uint64_t const offsets[] = {0, 9, 5, 11};
    isobit::index_report report{};
    ptx::run(kernels().find({"check_offsets_kernel"}), {1, 64, 1},
             ptx::arguments().add(&offsets[0]).add(uint64_t{3}).add(uint64_t{10}).add(&report));
    CHECK(report.count == 2);
    CHECK(report.first == 2);
    using space = isobit::segment_workspace<float>;
    memory m(space::bytes(11, 3));
    auto const workspace = space::at(m.start(), 11, 3);
    m.zero(workspace.partials);
    auto const x = hard_floats(11, 2);
    auto out = poisoned<float>(3);
    auto const before = out;
    ptx::run(kernels().find({"23segmented_reduce_kernel", "3csrImEE", "5plainIfE"}), {1, 32, 1},
             ptx::arguments()
                 .add(isobit::csr{&offsets[0], uint64_t{3}})
                 .add(x.data())
                 .add(out.data())
                 .add(workspace)
                 .add('\0')
                 .add(&report));
    CHECK(bits_equal(out, before));
  }

  TEST_CASE("grouping by counting, then the sums of rows by id") {
    uint64_t const n = 2500, groups = 35, columns = 6;
    auto const ids = random_ids(n, 35, 3);
    auto const x = hard_floats(n * columns, 4);
    struct result {
      std::vector<uint64_t> offsets;
      std::vector<int> order, position, slot;
      bool operator==(result const&) const = default;
      isobit::grouping<int> out() { return {offsets.data(), order.data(), position.data(), slot.data()}; }
    };
    result const blank{std::vector<uint64_t>(groups + 1), std::vector<int>(n), std::vector<int>(n),
                       std::vector<int>(n)};
    result expected = blank;
    isobit::group_ids(isobit::host(), ids.data(), n, groups, expected.out());
    std::vector<float> expected_sums = poisoned<float>(groups * columns);
    std::vector<uint64_t> host_memory(isobit::scatter_host_workspace_bytes(n, groups) / 8);
    isobit::scatter_reduce(isobit::host(), host_memory.data(), host_memory.size() * 8, ids.data(), n, x.data(), columns,
                           expected_sums.data(), groups);
    for (unsigned width : {256u, 33u, 7u}) {
      CAPTURE(width);
      auto counts = poisoned<uint64_t>(isobit::grouping_workspace_bytes(n, groups) / 8);
      result r = blank;
      ptx::run(kernels().find({"count_chunks_kernel"}), {2, width, width},
               ptx::arguments().add(ids.data()).add(n).add(groups).add(counts.data()));
      ptx::run(kernels().find({"sum_chunks_kernel"}), {2, width, width},
               ptx::arguments().add(n).add(groups).add(counts.data()));
      ptx::run(kernels().find({"sum_groups_kernel"}), {1, width, width},
               ptx::arguments().add(n).add(groups).add(counts.data()).add(r.offsets.data()));
      ptx::run(kernels().find({"place_chunks_kernel"}), {2, width, width},
               ptx::arguments().add(ids.data()).add(n).add(groups).add(counts.data()).add(r.out()));
      CHECK((r == expected));
      for (int level : {4, 6}) {
        using space = isobit::column_workspace<float>;
        memory m(space::bytes(n, groups, columns, level));
        auto const workspace = space::at(m.start(), n, groups, columns, level);
        m.zero(workspace.partials);
        auto sums = poisoned<float>(groups * columns);
        ptx::run(kernels().find({"reduce_columns_kernel"}), {3, width, width},
                 ptx::arguments()
                     .add(isobit::csr<uint64_t>{r.offsets.data(), groups})
                     .add(isobit::detail::gathered_rows<float, int>{x.data(), r.order.data(), columns})
                     .add(isobit::detail::scatter_rows<float, isobit::scatter_mode::replace>{sums.data(), columns})
                     .add(workspace)
                     .add('\0'));
        CHECK(bits_equal(sums, expected_sums));
      }
    }
  }

  TEST_CASE("exact sums by id") {
    uint64_t const n = 300, rows = 9, columns = 2;
    auto const ids = random_ids(n, 8, 6);
    auto const x = hard_floats(n * columns, 7);
    auto expected = poisoned<float>(rows * columns);
    std::vector<uint64_t> host_memory(isobit::scatter_host_workspace_bytes(n, rows) / 8);
    isobit::scatter_reduce(isobit::host(), host_memory.data(), host_memory.size() * 8, ids.data(), n, x.data(), columns,
                           expected.data(), rows, isobit::exact<float>{});
    for (uint64_t seed : {0u, 1u, 2u}) {
      std::vector<isobit::exact_cell<isobit::exact_grid<float>>> cells(rows * columns);
      auto out = poisoned<float>(rows * columns);
      ptx::run(
          kernels().find({"scatter_exact_kernel"}), {3, 64, seed},
          ptx::arguments().add(ids.data()).add(n).add(x.data()).add(columns).add(rows).add(cells.data()).add('\0'));
      ptx::run(kernels().find({"finish_exact_kernel"}), {1, 32, seed},
               ptx::arguments().add(cells.data()).add(rows * columns).add(out.data()).add('\0'));
      CHECK(bits_equal(out, expected));
    }
  }

  TEST_CASE("gather-combine, aligned and not") {
    uint64_t const tokens = 19;
    uint32_t const k = 6;
    std::vector<int> experts(tokens * k), rows(tokens * k);
    std::vector<float> weights(tokens * k);
    uint64_t z = 9;
    for (uint64_t t = 0; t < tokens; ++t)
      for (uint32_t j = 0; j < k; ++j) {
        experts[t * k + j] = static_cast<int>((next(z) >> 40) % 20 + 20 * j) ^ 37;
        rows[t * k + j] = next(z) >> 61 == 0 ? -1 : static_cast<int>(t * k + j);
        weights[t * k + j] = static_cast<float>(next(z) >> 40) * 0x1p-24f;
      }
    isobit::combine_map<int, int> const map{rows.data(), experts.data(), weights.data(), tokens, k, tokens * k};
    auto const x = hard_floats(tokens * k * 40 + 8, 8);
    std::vector<isobit::bf16> b(x.size());
    for (size_t i = 0; i < x.size(); ++i) b[i].bits = static_cast<uint16_t>(isobit::to_bits(x[i]) >> 16);
    auto const check = [&]<class T>(T const* rows_of_x, std::string const& name, uint64_t columns) {
      isobit::matrix_rows<T> const load{rows_of_x, columns};
      std::vector<T> expected(tokens * columns);
      isobit::gather_combine(isobit::host(), map, load, columns, expected.data());
      for (unsigned width : {256u, 33u, 7u}) {
        auto out = poisoned<T>(tokens * columns);
        ptx::run(kernels().find({"gather_combine_kernel", name}), {2, width, width},
                 ptx::arguments().add(map).add(load).add(columns).add(out.data()).add('\0'));
        CAPTURE(name);
        CAPTURE(columns);
        CHECK(bits_equal(out, expected));
      }
    };
    for (uint64_t columns : {40u, 39u}) {
      check(b.data(), "11matrix_rowsINS0_4bf16E", columns);
      check(x.data(), "11matrix_rowsIfE", columns);
    }
    check(x.data() + 1, "11matrix_rowsIfE", 40);
  }

  TEST_CASE("merged slots") {
    auto values = hard_floats(5 * 70, 10);
    auto const slots = isobit::private_slots<float>::at(values.data(), 5, 70);
    std::vector<float> out(70), expected(70);
    for (uint64_t i = 0; i < 70; ++i) expected[i] = isobit::merge(slots, i);
    ptx::run(kernels().find({"merge_slots_kernel"}), {2, 33, 1}, ptx::arguments().add(slots).add(out.data()).add('\0'));
    CHECK(bits_equal(out, expected));
  }

  TEST_CASE("turnstile: the sequential order over the tickets") {
    std::string const by_ticket = "E0E", by_rank = "E1E", by_arrival = "E2E"; // enum turns
    uint64_t seed = 0, waited = 0, arrival_differs = 0, tree_differs = 0;
    for (unsigned blocks : {1u, 2u, 9u, 40u})
      for (unsigned width : {1u, 7u, 33u, 96u, 256u}) {
        uint64_t const n = 41;
        auto const parts = hard_floats(blocks * n, 11 + blocks);
        auto const expected = one_by_one(parts, n, blocks);
        CAPTURE(blocks);
        CAPTURE(width);
        auto const undisturbed = take_turns(by_ticket, parts, n, {blocks, width, 0, 50'000'000}, poisoned<float>(n));
        CHECK(bits_equal(undisturbed.sums, expected));
        for (int k = 0; k < 4; ++k) {
          ptx::launch_config const config{blocks, width, ++seed, 50'000'000};
          auto const r = take_turns(by_ticket, parts, n, config, poisoned<float>(n));
          CHECK(bits_equal(r.sums, expected));
          waited += r.instructions > undisturbed.instructions;
          auto const on_top = take_turns(by_ticket, parts, n, config, expected, true);
          CHECK(bits_equal(on_top.sums, one_by_one(parts, n, blocks, expected)));
          arrival_differs += !bits_equal(take_turns(by_arrival, parts, n, config, poisoned<float>(n)).sums, expected);
        }
        std::vector<float> tree(n);
        for (uint64_t i = 0; i < n; ++i)
          tree[i] = isobit::interpret<isobit::tree>(
              blocks, [&](uint64_t s) { return parts[s * n + i]; }, isobit::plain<float>{});
        tree_differs += !bits_equal(tree, expected);
      }
    CHECK(waited > 0);
    // Controls: the order in which blocks arrive, or the tree's, is another sum; slots by rank wait for ever.
    CHECK(arrival_differs > 0);
    CHECK(tree_differs > 0);
    std::vector<float> const parts(9, 1.0f);
    CHECK_THROWS_AS(take_turns(by_rank, parts, 1, {9, 32, 0, 1'000'000}, {0.0f}), ptx::error);
  }
}
