// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans by tiles and blocks in simulated kernels equal the host.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

namespace {

using namespace scan_test;
namespace simt = isobit::simt;
namespace testing = isobit::testing;

template <class Group, class Load, class Acc>
void scan_kernel(std::uint64_t n, Load load, typename Acc::result* out, Acc acc) {
  isobit::inclusive_scan(
      Group{}, n, load, [out](std::uint64_t i, auto const& r) { out[i] = r; }, acc);
}
template <int N, class Load, class Acc>
void block_scan_kernel(std::uint64_t n, Load load, typename Acc::result* out, Acc acc) {
  ISOBIT_SHARED isobit::block_storage<N, typename Acc::state> memory;
  auto const b = isobit::block(memory);
  isobit::inclusive_scan(
      b, n, load, [out](std::uint64_t i, auto const& r) { out[i] = r; }, acc);
  // The storage serves the next call at once.
  isobit::inclusive_scan(
      b, n / 2, load, [out, n](std::uint64_t i, auto const& r) { out[n + i] = r; }, acc);
}

} // namespace

TEST_CASE("simulated tiles and blocks of any width equal the host") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using accumulator = std::remove_cvref_t<decltype(acc)>;
    using load_type = std::remove_cvref_t<decltype(load)>;
    using result = typename accumulator::result;
    auto const run = [&](auto const& kernel, std::uint64_t n, std::uint64_t results, simt::config const& c) {
      auto out = testing::filled<result>(results + 1, 0xa5); // one element beyond, to be left alone
      simt::launch(c, kernel, n, load, out.data(), acc);
      return out;
    };
    for (std::uint64_t n : {0u, 1u, 2u, 31u, 32u, 33u, 129u, 1000u, 2049u}) {
      CAPTURE(n);
      auto wanted = testing::filled<result>(n + 1, 0xa5);
      isobit::inclusive_scan(
          host(), n, load, [&](std::uint64_t i, result const& r) { wanted[i] = r; }, acc);
      auto twice = wanted; // the whole, then its first half
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(n), wanted.begin(),
                   wanted.begin() + static_cast<std::ptrdiff_t>(n / 2));
      std::vector<isobit::uint32_t> widths{1, 7, 31, 32, 64, 96, 100};
      if (n <= 33 || n >= 2049) widths.insert(widths.end(), {256, 1000, 1024});
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            return run(block_scan_kernel<1024, load_type, accumulator>, n, n + n / 2, c);
          },
          [&] { return twice; }, {.blocks = widths, .grids = {1}, .schedules = 3, .seed = n}));
      auto const tiles = [&](auto const& kernel, isobit::uint32_t width) {
        CHECK(testing::same_as_host([&](simt::config const& c) { return run(kernel, n, n, c); }, [&] { return wanted; },
                                    {.blocks = {width}, .grids = {1}, .schedules = 3}));
      };
      tiles(scan_kernel<isobit::tile<32>, load_type, accumulator>, 32);
      tiles(scan_kernel<isobit::tile<8>, load_type, accumulator>, 8);
      tiles(scan_kernel<isobit::tile<1>, load_type, accumulator>, 1);
    }
  });
}
