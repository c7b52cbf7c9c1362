// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Public bug reports about segments: long runs of keys among short ones, shifted segments, poisoned neighbours, empty
// segments, sizes past 2^32.
#include "common.hpp"

#include <isobit/algo/scan.hpp>
#include <isobit/error.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace segment_test;
using isobit::host;
using isobit::plain;

template <class T, class Acc>
std::vector<typename Acc::result> on_blocks(std::vector<T> const& x, std::vector<uint64_t> const& offsets,
                                            Acc const& acc, simt::config const& c, int level) {
  uint64_t const segments = offsets.size() - 1;
  using result = typename Acc::result;
  workspace_memory<typename Acc::state> memory(offsets.back() - offsets.front(), segments, level);
  auto out = poisoned<result>(segments);
  simt::launch(c,
               isobit::device::segmented_reduce_kernel<isobit::csr<uint64_t>, isobit::contiguous<T>,
                                                       isobit::detail::results<result>, Acc>,
               isobit::csr{offsets.data(), segments}, isobit::contiguous<T>{x.data()},
               isobit::detail::results<result>{out.data()}, memory.get(), acc, nullptr);
  return out;
}

// Runs of equal keys by the three kernels of device::find_runs.
template <class Key>
std::vector<uint64_t> runs_on_kernels(std::vector<Key> const& keys, uint32_t grid, uint32_t width, uint64_t seed) {
  uint64_t const n = keys.size();
  auto counts = poisoned<uint64_t>(isobit::runs_workspace_bytes(n) / 8);
  auto offsets = poisoned<uint64_t>(n + 2);
  uint64_t runs = 99;
  simt::config const c{.grid = {grid}, .block = {width}, .seed = seed};
  simt::launch(c, isobit::device::count_runs_kernel<Key>, keys.data(), n, counts.data());
  simt::launch(1, width, isobit::device::scan_runs_kernel<uint64_t>, n, counts.data(), offsets.data(), &runs);
  simt::launch(c, isobit::device::write_runs_kernel<Key, uint64_t>, keys.data(), n, counts.data(), offsets.data());
  CHECK(offsets.back() == ~uint64_t{0}); // not written beyond n + 1 entries
  offsets.resize(runs + 1);
  return offsets;
}

std::vector<uint64_t> runs_on_host(std::vector<int> const& keys) {
  std::vector<uint64_t> offsets(keys.size() + 1);
  offsets.resize(isobit::find_runs(host(), keys.data(), keys.size(), offsets.data()) + 1);
  return offsets;
}

void block_runs_kernel(int const* keys, uint64_t n, uint64_t* workspace, uint64_t* offsets, uint64_t* runs) {
  ISOBIT_SHARED isobit::block<256>::storage<uint64_t> memory;
  isobit::find_runs(isobit::block(memory), keys, n, workspace, offsets, runs);
}

} // namespace

TEST_SUITE("segments: public reports") {
  TEST_CASE("B02: one key over 50,000 of 65,536 rows, the others short") {
    std::vector<int> keys(65536);
    for (int i = 0; i < 65536; ++i) keys[static_cast<size_t>(i)] = i < 5000 ? i / 7 : i < 55000 ? 9999 : 10000 + i / 64;
    std::vector<double> x(keys.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 1000) + 1e-9 * static_cast<double>(i);
    auto const offsets = runs_on_host(keys);
    uint64_t const runs = offsets.size() - 1;
    std::vector<double> expected(runs);
    isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), runs, expected.data());
    for (uint64_t s = 0; s < runs; ++s)
      REQUIRE(bits_equal(expected[s], by_definition(
                                          offsets[s + 1] - offsets[s], [&](uint64_t i) { return x[offsets[s] + i]; },
                                          plain<double>{})));
    for (uint64_t seed = 0; seed < 6; ++seed) {
      auto const c =
          simt::vary({.grid = {1 + static_cast<uint32_t>(seed)}, .block = {seed % 2 == 0 ? 64u : 256u}}, seed);
      CHECK(bits_equal(on_blocks(x, offsets, plain<double>{}, c, 10 + static_cast<int>(seed % 3)), expected));
    }
  }

  TEST_CASE("B02: shifting the long segment changes none of its bits; a sum by position does change") {
    std::vector<float> values(50000);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(std::sin(static_cast<double>(i * i % 7919)));
    float const alone = isobit::reduce(host(), values.data(), values.size());
    int different = 0;
    for (size_t shift : {1u, 31u, 1023u, 4097u}) {
      std::vector<float> x(shift + values.size() + 100, std::numeric_limits<float>::quiet_NaN());
      std::copy(values.begin(), values.end(), x.begin() + static_cast<std::ptrdiff_t>(shift));
      std::vector<uint64_t> const offsets{0, shift, shift + values.size(), x.size()};
      float on_host[3];
      isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), 3, on_host);
      CHECK(bits_equal(on_host[1], alone));
      for (int level : {7, 12})
        CHECK(bits_equal(on_blocks(x, offsets, plain<float>{}, {.grid = {3}, .block = {128}, .seed = shift}, level)[1],
                         alone));
      // Control: the tree over positions, with zeros before the segment.
      std::fill(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(shift), 0.0f);
      different += !bits_equal(isobit::reduce(host(), x.data(), shift + values.size()), alone);
    }
    CHECK(different > 0);
  }

  TEST_CASE("B02: 250,000 times 0.1") {
    std::vector<double> const x(250000, 0.1);
    std::vector<uint64_t> const offsets{0, x.size()};
    double sum = 0;
    isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), 1, &sum, isobit::compensated<double>{});
    CHECK(sum == 25000.0);
    CHECK(on_blocks(x, offsets, isobit::compensated<double>{}, {.grid = {4}, .block = {256}}, 12)[0] == 25000.0);
  }

  TEST_CASE("poisoned neighbours and workspaces change nothing") {
    auto const values = wild(9000, 2);
    std::vector<uint64_t> const offsets{50, 50, 57, 57, 1057, 8050, 8050};
    uint64_t const segments = offsets.size() - 1;
    std::vector<float> clean;
    for (uint32_t poison : {0u, 0xffffffffu, 0x7fc00000u, 0x7f800000u}) {
      std::vector<float> x(8100, isobit::from_bits<float>(poison));
      std::copy(values.begin(), values.begin() + 8000, x.begin() + 50);
      std::vector<float> out(segments);
      isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), segments, out.data());
      if (clean.empty()) clean = out;
      CHECK(bits_equal(out, clean));
      for (int level : {6, 12})
        CHECK(bits_equal(on_blocks(x, offsets, plain<float>{}, {.grid = {2}, .block = {96}, .seed = poison}, level),
                         clean));
    }
    CHECK_FALSE(isobit::is_nan(clean[3]));
  }

  TEST_CASE("B14: empty segments are written; nothing beyond the ends is read") {
    std::vector<float> const x{1, 2, 3, 4, 5, 6, 7};
    auto const check = [&](std::vector<uint64_t> const& offsets, std::vector<float> const& expected) {
      auto out = poisoned<float>(expected.size());
      isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), expected.size(), out.data());
      CHECK(bits_equal(out, expected));
      for (uint32_t width : {1u, 32u, 50u})
        CHECK(bits_equal(on_blocks(x, offsets, plain<float>{}, {.grid = {2}, .block = {width}}, 12), expected));
    };
    check({0, 3, 3, 7}, {6, 0, 22});
    check({0, 0}, {0});
    check({0, 0, 7, 7, 7}, {0, 28, 0, 0});
    check({7, 7, 7}, {0, 0});

    std::vector<float> ones(2049);
    std::vector<uint64_t> offsets(2050);
    for (size_t i = 0; i < 2049; ++i) ones[i] = static_cast<float>(i) - 7, offsets[i + 1] = i + 1;
    std::vector<float> out(2049);
    isobit::segmented_reduce(host(), ones.data(), 2049, offsets.data(), 2049, out.data());
    CHECK(bits_equal(out, ones));
    CHECK(bits_equal(on_blocks(ones, offsets, plain<float>{}, {.grid = {3}, .block = {96}}, 9), ones));
    CHECK(bits_equal(by_definition(
                         0, [](uint64_t) { return 0.0f; }, plain<float>{}),
                     0.0f));
  }

  TEST_CASE("runs of keys: host, one block, three kernels") {
    std::mt19937 engine(3);
    for (size_t n : {0u, 1u, 2u, 33u, 2047u, 2048u, 2049u, 9000u}) {
      std::vector<int> keys(n);
      int key = 0;
      for (int& k : keys) k = key += engine() % 40 == 0 ? 1 : 0;
      auto const expected = runs_on_host(keys);
      CAPTURE(n);
      CHECK(expected.back() == n);
      for (uint32_t width : {32u, 100u, 256u}) {
        CHECK(bits_equal(runs_on_kernels(keys, 3, width, n), expected));
        auto workspace = poisoned<uint64_t>(isobit::runs_workspace_bytes(n) / 8);
        auto offsets = poisoned<uint64_t>(n + 1);
        uint64_t runs = 0;
        simt::launch(1, width, block_runs_kernel, keys.data(), uint64_t{n}, workspace.data(), offsets.data(), &runs);
        offsets.resize(runs + 1);
        CHECK(bits_equal(offsets, expected));
      }
    }
  }

  TEST_CASE("a number of segments that only the device knows") {
    auto const x = wild(500);
    std::vector<uint64_t> const offsets{0, 3, 3, 200, 500};
    uint64_t const count = 4;
    std::vector<float> expected(4);
    isobit::segmented_reduce(host(), x.data(), 500, offsets.data(), 4, expected.data());
    workspace_memory<float> memory(500, 500, 6);
    auto out = poisoned<float>(4);
    simt::launch(2, 64,
                 isobit::device::segmented_reduce_kernel<isobit::counted_csr<uint64_t>, isobit::contiguous<float>,
                                                         isobit::detail::results<float>, plain<float>>,
                 isobit::counted_csr<uint64_t>{offsets.data(), &count}, isobit::contiguous<float>{x.data()},
                 isobit::detail::results<float>{out.data()}, memory.get(), plain<float>{}, nullptr);
    CHECK(bits_equal(out, expected));
  }

  TEST_CASE("B15: 16,000,000 rows of 200, offsets past 2^32, by generated loads") {
    // Which element each index is, without memory: row 15,999,999 lies at 3,199,999,800.
    isobit::fixed_rows const rows(16000000, 200);
    CHECK(rows.first(15999999) == 3199999800u);
    auto const load = [](uint64_t i) { return i == 3199999999u ? 1u : i >= 3200000000u ? 1000u : 0u; };
    uint64_t total = 0;
    for (uint64_t s = 15999990; s < 16000000; ++s) {
      uint32_t const sum = isobit::reduce(host(), rows.length(s), [&](uint64_t i) { return load(rows.first(s) + i); });
      total += sum;
    }
    CHECK(total == 1);
    // The units of a launch: every position belongs to one, found in 64 bits by thread and by warp.
    uint64_t const each = 201;
    for (uint64_t target : {uint64_t{0}, uint64_t{4096} * 700000, each * 15999999, each * 15999999 + 1})
      CHECK(isobit::detail::segment_at(isobit::thread{}, rows, target) == (target + each - 1) / each);

    // Five segments around 2^33, one of 3 * 2^31 elements of which one is 1.
    uint64_t const big = uint64_t{1} << 33;
    std::vector<uint64_t> const offsets{big, big + 5, big + 5, big + 105};
    auto const at = [=](uint64_t i) {
      return i == big + 104 ? 1.0f : i == big + 4 ? 2.0f : i < big || i >= big + 105 ? 1e30f : 0.0f;
    };
    std::vector<float> out(3);
    isobit::segmented_reduce(host(), isobit::csr{offsets.data(), uint64_t{3}}, at,
                             [&](uint64_t s, float r) { out[s] = r; });
    CHECK(bits_equal(out, std::vector<float>{2, 0, 1}));
    auto const elements = isobit::detail::as_load<uint64_t>(at);
    workspace_memory<float> memory(105, 3, 5);
    out.assign(3, 9);
    simt::launch(2, 64,
                 isobit::device::segmented_reduce_kernel<isobit::csr<uint64_t>, std::remove_const_t<decltype(elements)>,
                                                         isobit::detail::results<float>, plain<float>>,
                 isobit::csr{offsets.data(), uint64_t{3}}, elements, isobit::detail::results<float>{out.data()},
                 memory.get(), plain<float>{}, nullptr);
    CHECK(bits_equal(out, std::vector<float>{2, 0, 1}));
  }

  TEST_CASE("B15: sizes of workspaces and units stay in 64 bits") {
    using space = isobit::segment_workspace<float>;
    uint64_t const n = uint64_t{1} << 40, segments = uint64_t{1} << 33;
    int const level = space::level_for(n, segments);
    CHECK(space::units_for(n, segments, level) <= space::most_units);
    CHECK((space::units_for(n, segments, level) << level) >= n + segments);
    CHECK(space::bytes(n, segments) < 1u << 20);
  }
}
