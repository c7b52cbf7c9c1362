// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The outside vector of tests/golden on the simulated GPU: the kernel of device::reduce, at several geometries.
#include <doctest/doctest.h>

#include <isobit/device/reduce_kernel.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/same_as_host.hpp>

#include "../golden/p4016.hpp"

#include <vector>

namespace {

using namespace isobit;

template <class Order, class T> T on_simulator(std::vector<T> const& x, uint64_t n, simt::config const& c) {
  std::vector<uint64_t> workspace(grid_workspace<T>::bytes(n) / 8 + 3, 0);
  auto const address = reinterpret_cast<uintptr_t>(workspace.data());
  void* const aligned = reinterpret_cast<void*>((address + 15) / 16 * 16);
  T out{};
  simt::launch(c, device::reduce_kernel<Order, contiguous<T>, plain<T>>, contiguous<T>{x.data()}, n, &out, aligned,
               plain<T>{});
  return out;
}

// The kernel's result against golden bits, in order, in reverse and at random.
template <class Order, class T>
testing::verdict golden_sum(std::vector<T> const& x, uint64_t n, uint32_t blocks, uint32_t width,
                            float_bits<T> wanted) {
  return testing::same_as_host([&](simt::config const& c) { return on_simulator<Order>(x, n, c); },
                               [&] { return from_bits<T>(wanted); },
                               {.blocks = {width}, .grids = {blocks}, .schedules = 3});
}

uint64_t expected(uint64_t lanes) {
  for (auto const& row : golden::p4016::lanes_sums)
    if (row.lanes == lanes) return row.bits;
  return 0;
}

} // namespace

TEST_SUITE("golden sums on the simulator") {
  TEST_CASE("P4016R0, doubles") {
    std::vector<double> x(golden::p4016::count);
    golden::p4016::generator next;
    for (double& v : x) v = next();
    CHECK(golden_sum<tree>(x, x.size(), 7, 256, expected(1)));
    CHECK(golden_sum<tree>(x, x.size(), 123, 96, expected(1)));
    CHECK(golden_sum<lanes<16>>(x, x.size(), 1, 64, expected(16)));
    CHECK(golden_sum<lanes<128>>(x, x.size(), 1, 128, expected(128)));
    CHECK(golden_sum<lanes<256>>(x, x.size(), 2, 250, expected(256)));
    CHECK(golden_sum<lanes<1024>>(x, x.size(), 1, 256, expected(1024)));
    CHECK_FALSE(golden_sum<lanes<16>>(x, x.size() - 1, 1, 64, expected(16))); // control
  }

  TEST_CASE("floats, prefixes of the tree") {
    std::vector<float> x(golden::p4016::count);
    golden::p4016::generator next;
    for (float& v : x) v = static_cast<float>(next());
    for (auto const& row : golden::p4016::prefix_sums) {
      CAPTURE(row.n);
      CHECK(golden_sum<tree>(x, row.n, 3, 160, row.bits));
    }
  }
}
