// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stable grouping and scatter-reduce: the host against the definition, kernels against the host, the public reports.
#include "../thrown.hpp"
#include "common.hpp"

#include <isobit/accum/exact.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scatter_kernel.hpp>
#include <isobit/error.hpp>
#include <isobit/scatter.hpp>

#include <algorithm>
#include <numeric>

namespace {

using namespace segment_test;
using isobit::host;
using isobit::index_report;
using isobit::plain;
using isobit::scatter_mode;
namespace device = isobit::device;

struct grouped {
  std::vector<uint64_t> offsets;
  std::vector<int> order, position, slot;
  bool operator==(grouped const&) const = default;
  grouped(uint64_t n, uint64_t groups) : offsets(groups + 1, 77), order(n, -7), position(n, -7), slot(n, -7) {}
  isobit::grouping<int> out() { return {offsets.data(), order.data(), position.data(), slot.data()}; }
};

// The definition, by std::stable_sort.
grouped by_sort(std::vector<int> const& ids, uint64_t groups) {
  grouped r(ids.size(), groups);
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(ids.size()); ++i)
    if (isobit::is_group(ids[static_cast<size_t>(i)], groups)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return ids[static_cast<size_t>(a)] < ids[static_cast<size_t>(b)]; });
  std::fill(r.position.begin(), r.position.end(), -1);
  std::fill(r.slot.begin(), r.slot.end(), -1);
  std::copy(order.begin(), order.end(), r.order.begin());
  for (uint64_t g = 0; g <= groups; ++g)
    r.offsets[g] = static_cast<uint64_t>(std::count_if(
        order.begin(), order.end(), [&](int i) { return static_cast<uint64_t>(ids[static_cast<size_t>(i)]) < g; }));
  for (size_t p = 0; p < order.size(); ++p) {
    auto const i = static_cast<size_t>(order[p]);
    r.position[i] = static_cast<int>(p);
    r.slot[i] = static_cast<int>(p - r.offsets[static_cast<size_t>(ids[i])]);
  }
  return r;
}

std::vector<uint64_t> grouping_memory(uint64_t n, uint64_t groups) {
  return poisoned<uint64_t>(isobit::grouping_workspace_bytes(n, groups) / 8 + 1);
}

grouped by_kernels(std::vector<int> const& ids, uint64_t groups, simt::config const& c) {
  uint64_t const n = ids.size();
  auto counts = grouping_memory(n, groups);
  grouped r(n, groups);
  simt::launch(c, device::count_chunks_kernel<int>, ids.data(), n, groups, counts.data());
  simt::launch(c, device::sum_chunks_kernel<256>, n, groups, counts.data());
  simt::launch({.grid = {1}, .block = c.block, .seed = c.seed}, device::sum_groups_kernel<256>, n, groups,
               counts.data(), r.offsets.data());
  simt::launch(c, device::place_chunks_kernel<int, int>, ids.data(), n, groups, counts.data(), r.out());
  CHECK(counts.back() == ~uint64_t{0});
  return r;
}

void group_in_block(int const* ids, uint64_t n, uint64_t groups, uint64_t* workspace, isobit::grouping<int> out) {
  ISOBIT_SHARED isobit::block<256>::storage<uint64_t> memory;
  isobit::group_ids(isobit::block(memory), ids, n, groups, workspace, out);
}

std::vector<int> random_ids(size_t n, int groups, uint64_t seed, bool with_drops = true) {
  std::vector<int> ids(n);
  std::mt19937 engine(static_cast<uint32_t>(seed));
  for (int& id : ids) {
    id = static_cast<int>(engine() % static_cast<uint32_t>(groups));
    if (engine() % 3 == 0) id /= 4;
    if (with_drops && engine() % 11 == 0) id = -1;
  }
  return ids;
}

template <scatter_mode Mode = scatter_mode::replace, class T, class Out, class Op = isobit::detail::plain_sum>
index_report on_host(std::vector<int> const& ids, std::vector<T> const& x, uint64_t columns, std::vector<Out>& out,
                     Op const& op = {}) {
  uint64_t const rows = out.size() / columns;
  std::vector<uint64_t> workspace(isobit::scatter_host_workspace_bytes(ids.size(), rows) / 8);
  return isobit::scatter_reduce<Mode>(host(), workspace.data(), workspace.size() * 8, ids.data(), ids.size(), x.data(),
                                      columns, out.data(), rows, op);
}

template <scatter_mode Mode = scatter_mode::replace, class T, class Out, class Acc>
void on_kernels(std::vector<int> const& ids, std::vector<T> const& x, uint64_t columns, std::vector<Out>& out,
                Acc const& acc, simt::config const& c, int level) {
  uint64_t const rows = out.size() / columns, n = ids.size();
  using state = typename Acc::state;
  auto groups = by_kernels(ids, rows, c);
  std::vector<uint64_t> memory(isobit::column_workspace<state>::bytes(n, rows, columns, level) / 8 + 4, ~uint64_t{0});
  auto* const at = memory.data() + (reinterpret_cast<uintptr_t>(memory.data()) % 16 != 0 ? 1 : 0);
  auto const workspace = isobit::column_workspace<state>::at(at, n, rows, columns, level);
  std::fill(reinterpret_cast<unsigned char*>(at), reinterpret_cast<unsigned char*>(workspace.partials),
            static_cast<unsigned char>(0));
  using load = isobit::detail::gathered_rows<T, int>;
  using store = isobit::detail::scatter_rows<Out, Mode>;
  simt::launch(c, device::reduce_columns_kernel<isobit::csr<uint64_t>, load, store, Acc>,
               isobit::csr<uint64_t>{groups.offsets.data(), rows}, load{x.data(), groups.order.data(), columns},
               store{out.data(), columns}, workspace, acc);
  for (auto const* p = reinterpret_cast<unsigned char const*>(at);
       p != reinterpret_cast<unsigned char const*>(workspace.partials); ++p)
    if (*p != 0) {
      CHECK_MESSAGE(false, "a counter did not reset itself");
      break;
    }
}

} // namespace

TEST_SUITE("scatter") {
  TEST_CASE("stable grouping: host, one block, four kernels, against std::stable_sort") {
    uint64_t seed = 0;
    for (size_t n : {0u, 1u, 31u, 33u, 1024u, 1025u, 4000u})
      for (int groups : {1, 2, 35, 128, 300}) {
        auto ids = random_ids(n, groups, ++seed);
        if (n > 30) ids[30] = groups, ids[7] = -5; // wrong: dropped, not written
        auto const expected = by_sort(ids, static_cast<uint64_t>(groups));
        grouped h(n, static_cast<uint64_t>(groups));
        auto const report = isobit::group_ids(host(), ids.data(), n, static_cast<uint64_t>(groups), h.out());
        CAPTURE(n);
        CAPTURE(groups);
        CHECK((h == expected));
        CHECK(report.count == (n > 30 ? 2 : 0));
        CHECK(report.first == (n > 30 ? 7 : ~uint64_t{0}));
        uint32_t const width = seed % 4 == 0 ? 7 : seed % 4 == 1 ? 33 : seed % 4 == 2 ? 256 : 96;
        CHECK((by_kernels(ids, static_cast<uint64_t>(groups),
                          simt::vary({.grid = {1 + static_cast<uint32_t>(seed % 3)}, .block = {width}}, seed)) ==
               expected));
        auto workspace = grouping_memory(n, static_cast<uint64_t>(groups));
        grouped b(n, static_cast<uint64_t>(groups));
        simt::launch({.grid = {1}, .block = {width}, .seed = seed}, group_in_block, ids.data(), uint64_t{n},
                     static_cast<uint64_t>(groups), workspace.data(), b.out());
        CHECK((b == expected));
      }
  }

  TEST_CASE("the phases around a stable sort give the same grouping") {
    auto const ids = random_ids(3000, 50, 4);
    auto const expected = by_sort(ids, 50);
    std::vector<uint64_t> keys(3000), offsets(51);
    std::vector<int> order(3000);
    simt::launch(2, 96, device::sort_keys_kernel<int, int>, ids.data(), uint64_t{3000}, uint64_t{50}, keys.data(),
                 order.data());
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)]; });
    std::sort(keys.begin(), keys.end());
    simt::launch(2, 33, device::sorted_offsets_kernel<256>, keys.data(), uint64_t{3000}, uint64_t{50}, offsets.data());
    CHECK(offsets == expected.offsets);
    CHECK(
        std::equal(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(offsets.back()), expected.order.begin()));
  }

  TEST_CASE("wrong ids are counted by a reduction, the same at any geometry") {
    auto ids = random_ids(9000, 40, 2);
    ids[8000] = 40, ids[555] = 41, ids[556] = -2;
    isobit::wrong_ids<int> const load{ids.data(), 40};
    for (uint32_t width : {7u, 32u, 256u}) {
      std::vector<uint64_t> workspace(isobit::grid_workspace<index_report>::bytes(9000) / 8 + 2, 0);
      index_report report{};
      auto* const at = workspace.data() + (reinterpret_cast<uintptr_t>(workspace.data()) % 16 != 0 ? 1 : 0);
      simt::launch(3, width, device::reduce_kernel<isobit::tree, isobit::wrong_ids<int>, isobit::join_reports>, load,
                   uint64_t{9000}, &report, static_cast<void*>(at), isobit::join_reports{});
      CHECK(report.count == 3);
      CHECK(report.first == 555);
      CHECK(thrown([&] { isobit::throw_if_any(report, "scatter_reduce", "ids", "-1 or below 40"); }) ==
            "isobit::scatter_reduce: ids must be -1 or below 40; the first that is not is entry 555, of 3");
    }
  }

  TEST_CASE("scatter-reduce: host against the definition, kernels against the host; rows never hit keep their bytes") {
    uint64_t seed = 0;
    for (uint64_t columns : {1u, 3u, 64u, 300u})
      for (size_t rows : {1u, 7u, 35u}) {
        size_t const n = columns > 64 ? 300 : 900;
        auto ids = random_ids(n, static_cast<int>(rows), ++seed);
        if (rows > 7)
          for (int& id : ids)
            if (id == 5) id = -1;
        auto const x = wild(n * columns, seed);
        auto const old = poisoned<float>(rows * columns, 0x5a);
        auto expected = old;
        CHECK(on_host(ids, x, columns, expected).count == 0);
        for (size_t r = 0; r < rows; ++r) {
          std::vector<size_t> hits;
          for (size_t i = 0; i < n; ++i)
            if (ids[i] == static_cast<int>(r)) hits.push_back(i);
          for (size_t c = 0; c < columns; c += 1 + columns / 5)
            CHECK(bits_equal(
                expected[r * columns + c],
                hits.empty() ? old[0]
                             : by_definition(
                                   hits.size(), [&](uint64_t k) { return x[hits[k] * columns + c]; }, plain<float>{})));
        }
        for (int level : {3, 6}) {
          auto out = old;
          on_kernels(
              ids, x, columns, out, plain<float>{},
              simt::vary({.grid = {1 + static_cast<uint32_t>(seed % 4)}, .block = {seed % 2 == 0 ? 64u : 33u}}, seed),
              level);
          CAPTURE(columns);
          CAPTURE(rows);
          CHECK(bits_equal(out, expected));
        }
        // Into old values: the old value is the left operand.
        std::vector<float> sum(rows * columns, 1.5f), expected_sum = sum;
        on_host<scatter_mode::accumulate>(ids, x, columns, expected_sum);
        for (size_t k = 0; k < sum.size(); ++k)
          CHECK(bits_equal(expected_sum[k], bits_equal(expected[k], old[k]) ? 1.5f : isobit::add(1.5f, expected[k])));
        on_kernels<scatter_mode::accumulate>(ids, x, columns, sum, plain<float>{},
                                             {.grid = {2}, .block = {96}, .seed = seed}, 4);
        CHECK(bits_equal(sum, expected_sum));
      }
  }

  TEST_CASE("B12: 1,000 hits in bf16, and 1e8, 1, -1e8, 1 on one row") {
    std::vector<int> ids(2048);
    std::mt19937 engine(5);
    for (int i = 0; i < 2048; ++i) ids[static_cast<size_t>(i)] = i < 1000 ? 7 : static_cast<int>(engine() % 27) + 8;
    std::shuffle(ids.begin(), ids.end(), engine);
    std::vector<isobit::bf16> const ones(2048, isobit::encode<isobit::bf16>(1.0f));
    std::vector<isobit::bf16> out(35, isobit::bf16{0x1234});
    on_host(ids, ones, 1, out);
    CHECK(isobit::decode_element(out[7]) == 1000.0f);
    CHECK(out[0].bits == 0x1234);
    std::vector<isobit::bf16> again(35, isobit::bf16{0x1234});
    on_kernels(ids, ones, 1, again, plain<float>{}, {.grid = {3}, .block = {64}}, 6);
    CHECK(bits_equal(again, out));

    std::vector<int> rows(2048, -1);
    std::vector<float> x(2048, 9.0f);
    size_t const at[] = {0, 700, 1400, 2047};
    float const values[] = {1e8f, 1, -1e8f, 1};
    for (int k = 0; k < 4; ++k) rows[at[k]] = 3, x[at[k]] = values[k];
    std::vector<float> sum(5, 0.25f), better(5, 0.25f);
    on_host(rows, x, 1, sum);
    on_host(rows, x, 1, better, isobit::compensated<float>{});
    CHECK(bits_equal(sum[3], isobit::add(isobit::add(1e8f, 1.0f), isobit::add(-1e8f, 1.0f)))); // the tree: 0
    CHECK(better[3] == 2.0f);
    CHECK(sum[2] == 0.25f);
    for (uint64_t k = 0; k < 8; ++k) {
      std::vector<float> one(5, 0.25f), two(5, 0.25f);
      auto const c = simt::vary({.grid = {3}, .block = {64}}, k);
      on_kernels(rows, x, 1, one, plain<float>{}, c, 1);
      on_kernels(rows, x, 1, two, isobit::compensated<float>{}, c, 1);
      CHECK(bits_equal(one, sum));
      CHECK(bits_equal(two, better));
    }
  }

  TEST_CASE("B15: -1 drops, and is no row") {
    std::vector<int> const ids{2, -1, 0, -1, 2};
    std::vector<float> const x{1, 2, 3, 4, 5};
    std::vector<float> out(4, 0.0f);
    out[3] = 77; // behind the last row
    std::vector<float> rows(3, 0.0f);
    CHECK(on_host(ids, x, 1, rows).count == 0);
    CHECK(bits_equal(rows, std::vector<float>{3, 0, 6}));
    on_kernels(ids, x, 1, out, plain<float>{}, {.grid = {1}, .block = {32}}, 6);
    CHECK(bits_equal(out, std::vector<float>{3, 0, 6, 77}));
    std::vector<uint32_t> const unsigned_ids{2, ~0u, 0};
    CHECK(isobit::is_dropped(unsigned_ids[1]));
    CHECK_FALSE(isobit::is_group(unsigned_ids[1], ~uint64_t{0}));
  }

  TEST_CASE("exact sums by integer atomics need no grouping and no order") {
    auto const ids = random_ids(600, 9, 6);
    auto const x = wild(600 * 5, 7);
    isobit::exact<float> const acc;
    std::vector<float> expected = poisoned<float>(10 * 5, 0x5a); // row 9 is never hit
    auto const old = expected;
    on_host(ids, x, 5, expected, acc);
    for (uint64_t k = 0; k < 6; ++k) {
      std::vector<isobit::exact_cell<isobit::exact_grid<float>>> cells(50);
      auto out = old;
      auto const c = simt::vary({.grid = {3}, .block = {64}}, k);
      for (int round = 0; round < 2; ++round) { // the cells clear themselves
        simt::launch(c, device::scatter_exact_kernel<int, float, isobit::exact<float>>, ids.data(), uint64_t{600},
                     x.data(), uint64_t{5}, uint64_t{10}, cells.data(), acc);
        simt::launch(c, device::finish_exact_kernel<scatter_mode::replace, float, isobit::exact<float>>, cells.data(),
                     uint64_t{50}, out.data(), acc);
        CHECK(bits_equal(out, expected));
      }
    }
    // Any permutation of the input: the same; the plain sum differs (control).
    std::vector<size_t> p(600);
    std::iota(p.begin(), p.end(), size_t{0});
    std::shuffle(p.begin(), p.end(), std::mt19937(3));
    std::vector<int> ids2(600);
    std::vector<float> x2(x.size());
    for (size_t i = 0; i < 600; ++i) {
      ids2[i] = ids[p[i]];
      std::copy_n(&x[p[i] * 5], 5, &x2[i * 5]);
    }
    auto permuted = old, plain_sum = old, plain_permuted = old;
    on_host(ids2, x2, 5, permuted, acc);
    CHECK(bits_equal(permuted, expected));
    on_host(ids, x, 5, plain_sum);
    on_host(ids2, x2, 5, plain_permuted);
    CHECK_FALSE(bits_equal(plain_sum, plain_permuted));
  }

  TEST_CASE("columns of a matrix: the gradient of a bias, whatever the tiles") {
    auto const x = wild(1000 * 70, 12);
    auto const load = [&](uint64_t r, uint64_t c) { return x[r * 70 + c]; };
    std::vector<float> expected(70);
    isobit::reduce_columns(host(), isobit::fixed_rows(1, 1000), 70, load,
                           [&](uint64_t, uint64_t c, float v) { expected[c] = v; });
    for (uint64_t c : {0u, 31u, 69u})
      CHECK(bits_equal(expected[c], by_definition(
                                        1000, [&](uint64_t r) { return load(r, c); }, plain<float>{})));
    for (int level : {2, 5, 6, 12}) {
      std::vector<uint64_t> memory(isobit::column_workspace<float>::bytes(1000, 1, 70, level) / 8 + 4, 0);
      auto* const at = memory.data() + (reinterpret_cast<uintptr_t>(memory.data()) % 16 != 0 ? 1 : 0);
      std::vector<float> out(70);
      auto const store = [&](uint64_t, uint64_t c, float v) { out[c] = v; };
      simt::launch({.grid = {5}, .block = {64}, .seed = static_cast<uint64_t>(level)},
                   device::reduce_columns_kernel<isobit::fixed_rows, decltype(load), decltype(store), plain<float>>,
                   isobit::fixed_rows(1, 1000), load, store,
                   isobit::column_workspace<float>::at(at, 1000, 1, 70, level), plain<float>{});
      CHECK(bits_equal(out, expected));
    }
  }

  TEST_CASE("bad input is named before anything is written") {
    int const ids[] = {0, 1};
    float const x[] = {1, 2};
    float out[] = {7, 7};
    alignas(8) unsigned char memory[64];
    auto const call = [&](void* w, uint64_t bytes, int const* i, float const* v, float* o) {
      return thrown([&] { isobit::scatter_reduce(host(), w, bytes, i, 2, v, 1, o, 2); });
    };
    CHECK(call(memory, 39, ids, x, out) == "isobit::scatter_reduce: workspace_bytes must be at least 40 bytes");
    CHECK(call(nullptr, 40, ids, x, out) == "isobit::scatter_reduce: workspace must be non-null");
    CHECK(call(memory + 1, 40, ids, x, out) == "isobit::scatter_reduce: workspace must be aligned to 8 bytes");
    CHECK(call(memory, 40, nullptr, x, out) == "isobit::scatter_reduce: ids must be non-null when n > 0");
    CHECK(call(memory, 40, ids, nullptr, out) == "isobit::scatter_reduce: x must be non-null when n > 0");
    CHECK(call(memory, 40, ids, x, nullptr) == "isobit::scatter_reduce: out must be non-null when rows > 0");
    CHECK(out[0] == 7);
    CHECK(call(memory, 40, ids, x, out) == "nothing");
    CHECK(out[0] == 1);
  }
}
