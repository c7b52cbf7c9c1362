// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segmented scans by offsets: host, executor and simulated kernels equal each segment alone.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/accum/compensated.hpp>
#include <isobit/device/segmented_scan_kernel.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace {

using namespace scan_test;
namespace simt = isobit::simt;
namespace testing = isobit::testing;

// Runs both segmented kernels at many geometries and compares with `wanted`.
template <class T, class Acc>
void check_segmented_kernels(std::vector<T> const& x, std::vector<std::int64_t> const& offsets,
                             std::vector<T> const& wanted, T elsewhere, Acc const& acc) {
  using store = isobit::detail::results<T>;
  using load = isobit::contiguous<T>;
  std::uint64_t const segments = offsets.size() - 1;
  // Arrays that begin at a vector's boundary, and others that do not; one element beyond is left alone.
  for (std::size_t shift : {std::size_t(0), sizeof(T)}) {
    testing::placed<T> const in(x, shift);
    auto expected = wanted;
    expected.push_back(elsewhere);
    for (bool by_block : {true, false}) {
      auto const kernel = [&](simt::config const& c) {
        testing::placed<T> out(std::vector<T>(x.size() + 1, elsewhere), shift);
        if (by_block)
          simt::launch(c, isobit::device::segmented_scan_by_block_kernel<1024, load, std::int64_t, store, Acc>,
                       load{in.data()}, offsets.data(), segments, store{out.data()}, acc);
        else
          simt::launch(c, isobit::device::segmented_scan_by_tile_kernel<32, load, std::int64_t, store, Acc>,
                       load{in.data()}, offsets.data(), segments, store{out.data()}, acc);
        return std::vector<T>(out.begin(), out.end());
      };
      auto const reference = [&] { return expected; };
      CAPTURE(shift);
      CAPTURE(by_block);
      REQUIRE(testing::same_as_host(kernel, reference,
                                    {.blocks = {32, 64, 96, 100}, .grids = {1, 3}, .schedules = 3, .seed = shift}));
      REQUIRE(testing::same_as_host(kernel, reference,
                                    {.blocks = {256, 1000, 1024}, .grids = {3}, .schedules = 3, .seed = shift}));
    }
  }
}
} // namespace

TEST_CASE("segments of all lengths: host, executor and simulated kernels equal each segment alone") {
  auto const offsets = offsets_of({0, 1, 2, 31, 32, 33, 0, 0, 1023, 1024, 1025, 5000, 1, 1, 0}, 5);
  auto x = floats(static_cast<std::size_t>(offsets.back()) + 9);
  auto const wanted = one_by_one(x, offsets, -7.f);
  auto const out = segmented(x, offsets, -7.f);
  CHECK(bits_equal(out, wanted));
  std::vector<float> jobs(x.size(), -7.f);
  isobit::segmented_inclusive_scan(host(isobit::threads(3)), x.data(), x.size(), offsets.data(), offsets.size() - 1,
                                   jobs.data());
  CHECK(bits_equal(jobs, wanted));
  check_segmented_kernels(x, offsets, wanted, -7.f, plain<float>{});
  // NaN neighbours change nothing: nothing outside of a segment is read.
  for (std::size_t i = 0; i < 5; ++i) x[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = x.size() - 9; i < x.size(); ++i) x[i] = std::numeric_limits<float>::quiet_NaN();
  CHECK(bits_equal(segmented(x, offsets, -7.f), wanted));
}

TEST_CASE("compensated segments in simulated kernels") {
  auto const offsets = offsets_of({3, 0, 70, 1, 260, 0});
  std::vector<double> x(static_cast<std::size_t>(offsets.back()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 3 ? 1.0 : -1.0) * std::ldexp(1.0, int(i * 7 % 60));
  auto const wanted = one_by_one(x, offsets, 0.0, compensated<double>{});
  CHECK(bits_equal(segmented(x, offsets, 0.0, compensated<double>{}), wanted));
  check_segmented_kernels(x, offsets, wanted, 0.0, compensated<double>{});
}

TEST_CASE("2049 segments of length 1, and a segment count that no width divides") {
  std::vector<std::int64_t> offsets(2050);
  std::iota(offsets.begin(), offsets.end(), 0);
  auto const x = floats(2049);
  auto const kernel = [&](simt::config const& c) {
    auto out = testing::filled<float>(x.size(), 0xff);
    simt::launch(c,
                 isobit::device::segmented_scan_by_tile_kernel<32, isobit::contiguous<float>, std::int64_t,
                                                               isobit::detail::results<float>, plain<float>>,
                 isobit::contiguous<float>{x.data()}, offsets.data(), std::uint64_t(2049),
                 isobit::detail::results<float>{out.data()}, plain<float>{});
    return out;
  };
  CHECK(testing::same_as_host(kernel, [&] { return x; }, {.blocks = {96}, .grids = {3}, .seed = 5}));
}
