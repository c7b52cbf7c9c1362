// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// isobit's own algorithms under every gate, from the kernels' source on the simulator; and their baseline.
// ISOBIT_UPDATE_BASELINE="the reason" records the baseline anew.
#include <isobit/accum/compensated.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/quantize_kernel.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scan_kernel.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/quantize.hpp>
#include <isobit/scan.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/baseline.hpp>
#include <isobit/testing/every_byte_written.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

namespace device = isobit::device;
namespace simt = isobit::simt;
namespace testing = isobit::testing;
using isobit::contiguous;
using isobit::uint64_t;

namespace {

using floats = std::vector<float>;
using list = std::vector<isobit::uint32_t>;
constexpr uint64_t columns = 77; // ragged for vectors, tiles and quantisation blocks

template <class Order, class Acc> ISOBIT_KERNEL void row_kernel(float const* x, typename Acc::result* out) {
  ISOBIT_SHARED isobit::block_storage<256, typename Acc::state> memory;
  auto const b = isobit::block(memory);
  auto const r = isobit::reduce<Order>(b, x + b.block_rank() * columns, columns, Acc{});
  if (b.thread_rank() == 0) out[b.block_rank()] = r;
}

// An algorithm over rows of a batch. `run`: the kernel; `host`: the same on the host; `mine`: the results of some rows.

template <class Order, class Acc> struct row_reductions {
  static list blocks() { return {1, 31, 32, 33, 96, 256}; }
  static list grids(uint64_t rows) { return {static_cast<isobit::uint32_t>(rows)}; }
  static auto run(simt::config c, float const* x, uint64_t rows, unsigned char poison) {
    auto out = testing::filled<typename Acc::result>(rows, poison);
    c.grid = {static_cast<isobit::uint32_t>(rows)}; // a block a row
    simt::launch(c, row_kernel<Order, Acc>, x, out.data());
    return out;
  }
  static auto host(floats const& x) {
    std::vector<typename Acc::result> out;
    for (uint64_t r = 0; r < x.size() / columns; ++r)
      out.push_back(isobit::reduce<Order>(isobit::host(), x.data() + r * columns, columns, Acc{}));
    return out;
  }
  template <class R> static auto mine(testing::neighbours const& n, R const& all, uint64_t rows) {
    return n.mine(all, 1, rows);
  }
};

template <bool Blocks, class Acc> struct scans {
  static list blocks() { return Blocks ? list{1, 31, 32, 33, 128} : list{32, 33, 64, 96, 128}; }
  static list grids(uint64_t) { return {1, 2, 7}; }
  static floats run(simt::config const& c, float const* x, uint64_t rows, unsigned char poison) {
    auto out = testing::filled<float>(rows * columns, poison);
    auto const offsets = starts(rows);
    using store = isobit::detail::results<float>;
    using load = contiguous<float>;
    if constexpr (Blocks)
      simt::launch(c, device::segmented_scan_by_block_kernel<128, load, std::int64_t, store, Acc>, load{x},
                   offsets.data(), rows, store{out.data()}, Acc{});
    else
      simt::launch(c, device::segmented_scan_by_tile_kernel<32, load, std::int64_t, store, Acc>, load{x},
                   offsets.data(), rows, store{out.data()}, Acc{});
    return out;
  }
  static floats host(floats const& x) {
    floats out(x.size());
    auto const offsets = starts(x.size() / columns);
    isobit::segmented_inclusive_scan(isobit::host(), x.data(), x.size(), offsets.data(), x.size() / columns, out.data(),
                                     Acc{});
    return out;
  }
  static floats mine(testing::neighbours const& n, floats const& all, uint64_t rows) {
    return n.mine(all, columns, rows);
  }
  static std::vector<std::int64_t> starts(uint64_t rows) {
    std::vector<std::int64_t> offsets;
    for (uint64_t r = 0; r <= rows; ++r) offsets.push_back(static_cast<std::int64_t>(r * columns));
    return offsets;
  }
};

template <class Recipe> struct quantiser {
  using codes = std::vector<typename Recipe::element>;
  using scales = std::vector<typename Recipe::scale>;
  static constexpr uint64_t per_row = (columns + Recipe::block_size - 1) / Recipe::block_size;
  static list blocks() { return {1, 4, 31, 32, 65, 256}; }
  static list grids(uint64_t) { return {1, 2, 7}; }
  static auto run(simt::config const& c, float const* x, uint64_t rows, unsigned char poison) {
    std::tuple out(testing::filled<typename Recipe::element>(rows * columns, poison),
                   testing::filled<typename Recipe::scale>(rows * per_row, poison));
    auto const copy = row_wise(std::get<0>(out).data(), std::get<1>(out).data(), rows * per_row, isobit::ragged);
    using nearest = isobit::detail::to_nearest;
    simt::launch(c, device::quantize_kernel<Recipe, nearest, float, decltype(copy)>, Recipe{}, nearest{}, x, rows, columns, copy);
    return out;
  }
  static auto host(floats const& x) {
    uint64_t const rows = x.size() / columns;
    std::tuple<codes, scales> out(codes(x.size()), scales(rows * per_row));
    isobit::quantize(isobit::host(), Recipe{}, x.data(), rows, columns, std::get<0>(out).data(),
                     std::get<1>(out).data());
    return out;
  }
  template <class R> static auto mine(testing::neighbours const& n, R const& all, uint64_t rows) {
    return std::tuple(n.mine(std::get<0>(all), columns, rows), n.mine(std::get<1>(all), per_row, rows));
  }
};

template <class Recipe> struct dequantiser {
  static list blocks() { return {1, 31, 32, 65, 256}; }
  static list grids(uint64_t) { return {1, 2, 7}; }
  static floats run(simt::config const& c, float const* x, uint64_t rows, unsigned char poison) {
    auto const [codes, scales] = quantiser<Recipe>::host(floats(x, x + rows * columns));
    auto out = testing::filled<float>(rows * columns, poison);
    auto const copy = row_wise(codes.data(), scales.data(), scales.size(), isobit::ragged);
    simt::launch(c, device::dequantize_kernel<Recipe, decltype(copy)>, Recipe{}, copy, rows, columns, out.data());
    return out;
  }
  static floats host(floats const& x) {
    auto const [codes, scales] = quantiser<Recipe>::host(x);
    floats out(x.size());
    isobit::dequantize(isobit::host(), Recipe{}, codes.data(), scales.data(), x.size() / columns, columns, out.data());
    return out;
  }
  static floats mine(testing::neighbours const& n, floats const& all, uint64_t rows) {
    return n.mine(all, columns, rows);
  }
};

floats input(uint64_t rows) { return testing::elements(testing::wide_exponents<float>{11}, rows * columns); }

template <class Subject> void under_every_gate() {
  uint64_t const rows = 3;
  auto const x = input(rows);
  CHECK(testing::repeatable([&](testing::trial const& t) {
    return Subject::run(t.config({.grid = {3}, .block = {64}}), x.data(), rows, t.poison);
  }));
  CHECK(testing::every_byte_written([&](testing::fill const& f) {
    return Subject::run(f.config({.grid = {3}, .block = {96}}), x.data(), rows, f.byte);
  }));
  CHECK(testing::geometry_invariant(
      [&](testing::geometry const& g) {
        auto const placed = g.place(x);
        return Subject::run(g.config({.seed = g.block}), placed.data(), rows, 0xff);
      },
      Subject::blocks(), Subject::grids(rows), {1}, {0, 4, 8, 16}));
  CHECK(testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto const batch = n.surround(x, columns);
    auto const all = Subject::run(n.config({.grid = {3}, .block = {64}}), batch.data(), batch.size() / columns, 0xff);
    return Subject::mine(n, all, rows);
  }));
  // Every class of number, NaNs and infinities too.
  auto const special = testing::elements(testing::every_class<float>{5}, rows * columns);
  for (floats const& in : {x, special})
    CHECK(testing::same_as_host([&](simt::config const& c) { return Subject::run(c, in.data(), rows, 0xff); },
                                [&] { return Subject::host(in); },
                                {.blocks = Subject::blocks(), .grids = Subject::grids(rows), .schedules = 3}));
}

using isobit::compensated;
using isobit::lanes;
using isobit::plain;
using isobit::sequential;
using isobit::tree;
namespace mx = isobit::mx;
using e4m3_rceil = isobit::mxfp8<isobit::e4m3, mx::rceil>;
using e5m2_floor = isobit::mxfp8<isobit::e5m2, mx::floor, mx::saturate>;

} // namespace

TEST_CASE_TEMPLATE("reductions", Subject, row_reductions<tree, plain<float>>, row_reductions<tree, compensated<float>>,
                   row_reductions<lanes<16>, plain<float>>, row_reductions<sequential, compensated<float>>) {
  under_every_gate<Subject>();
}

TEST_CASE_TEMPLATE("segmented scans", Subject, scans<true, plain<float>>, scans<true, compensated<float>>,
                   scans<false, plain<float>>, scans<false, compensated<float>>) {
  under_every_gate<Subject>();
}

TEST_CASE_TEMPLATE("quantisation", Subject, quantiser<e4m3_rceil>, quantiser<e5m2_floor>, dequantiser<e4m3_rceil>) {
  under_every_gate<Subject>();
}

TEST_CASE("the reduction of one array by a grid") {
  auto const x = testing::elements(testing::wide_exponents<float>{3}, 30001);
  uint64_t const n = x.size();
  using acc = compensated<float>;
  using load = contiguous<float>;
  auto const run = [&](simt::config const& c, float const* data, unsigned char poison) {
    auto out = testing::filled<float>(1, poison);
    auto workspace = testing::filled<uint64_t>(isobit::grid_workspace<acc::state>::bytes(n) / 8 + 1, poison);
    *isobit::grid_workspace<acc::state>::at(workspace.data()).arrivals = 0;
    simt::launch(c, device::reduce_kernel<tree, load, acc>, load{data}, n, out.data(), workspace.data(), acc{});
    return out;
  };
  CHECK(testing::repeatable(
      [&](testing::trial const& t) { return run(t.config({.grid = {5}, .block = {96}}), x.data(), t.poison); }));
  CHECK(testing::every_byte_written(
      [&](testing::fill const& f) { return run(f.config({.grid = {2}, .block = {64}}), x.data(), f.byte); }));
  CHECK(
      testing::geometry_invariant([&](testing::geometry const& g) { return run(g.config(), g.place(x).data(), 0xff); },
                                  {1, 32, 33, 256}, {1, 3}, {1}, {0, 4, 8}));
  CHECK(testing::same_as_host([&](simt::config const& c) { return run(c, x.data(), 0xff); },
                              [&] { return floats{isobit::reduce(isobit::host(), x.data(), n, acc{})}; }));
}

TEST_CASE("digests") {
  auto const x = testing::elements(testing::wide_exponents<float>{3}, 5001);
  uint64_t const bytes = x.size() * 4;
  auto const whole = [&](simt::config const& c, void const* data) {
    isobit::digest_sum total;
    simt::launch(c, device::digest_range_kernel<256>, data, bytes, uint64_t(0), &total);
    return total;
  };
  auto const chunks = [&](simt::config const& c, unsigned char poison) {
    auto out = testing::filled<isobit::digest_sum>(isobit::digest_chunks(bytes, 1024), poison);
    simt::launch(c, device::chunk_sums_kernel<256>, static_cast<void const*>(x.data()), bytes, uint64_t(1024),
                 out.data());
    return out;
  };
  CHECK(testing::repeatable(
      [&](testing::trial const& t) { return whole(t.config({.grid = {32}, .block = {32}}), x.data()); }));
  CHECK(testing::geometry_invariant([&](testing::geometry const& g) { return whole(g.config(), g.place(x).data()); },
                                    {1, 32, 33, 256}, {1, 5}, {1}, {0, 4, 12}));
  CHECK(testing::same_as_host([&](simt::config const& c) { return whole(c, x.data()); },
                              [&] { return isobit::digest_range(isobit::host(), x.data(), bytes); }));
  CHECK(testing::same_as_host([&](simt::config const& c) { return chunks(c, 0xff); },
                              [&] {
                                std::vector<isobit::digest_sum> out(isobit::digest_chunks(bytes, 1024));
                                isobit::chunk_sums(isobit::host(), x.data(), bytes, 1024, out.data());
                                return out;
                              }));
  CHECK(testing::every_byte_written(
      [&](testing::fill const& f) { return chunks(f.config({.grid = {4}, .block = {64}}), f.byte); }));
  CHECK(testing::partition_invariant(
      [&](testing::split const& s) {
        isobit::digest_sum total;
        for (auto const p : s.parts())
          total += isobit::digest_range(isobit::host(), &x[4 * p.first], 16 * p.size(), p.first);
        return total;
      },
      testing::splits(1250)));
}

TEST_CASE("the baseline of all bits") {
  auto const x = input(40);
  auto const special = testing::elements(testing::every_class<float>{5}, 40 * columns);
  auto const all = [&] {
    testing::outputs out;
    auto const add = [&](auto const& r) { testing::detail::collect(out, r); };
    for (floats const& in : {x, special}) {
      add(row_reductions<tree, plain<float>>::host(in));
      add(row_reductions<lanes<16>, plain<float>>::host(in));
      add(row_reductions<sequential, plain<float>>::host(in));
      add(row_reductions<tree, compensated<float>>::host(in));
      add(scans<true, plain<float>>::host(in));
      add(scans<true, compensated<float>>::host(in));
      add(quantiser<e4m3_rceil>::host(in));
      add(quantiser<e5m2_floor>::host(in));
      add(dequantiser<e4m3_rceil>::host(in));
      add(isobit::digest(isobit::host(), in.data(), {40, columns}));
    }
    return out;
  };
  auto const file = std::filesystem::path(__FILE__).parent_path() / "library.baseline";
  std::vector<std::string> const ids{testing::id_of<tree>(),
                                     testing::id_of<lanes<16>>(),
                                     testing::id_of<sequential>(),
                                     "mxfp8.e4m3.rceil.block_nan",
                                     "mxfp8.e5m2.floor.saturate",
                                     "compensated.1",
                                     "digest.1"};
  if (char const* const reason = std::getenv("ISOBIT_UPDATE_BASELINE"))
    CHECK(testing::update_baseline(all, file, ids, reason));
  CHECK(testing::baseline(all, file, ids));
}
