// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the reduction kernels, executed: the golden sums, and the host's bits at odd geometries.
#include <doctest/doctest.h>

#include "../golden/p4016.hpp"
#include "compiled.hpp"

#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>

namespace {

using compiled::kernels;

// Parameters as reduce_kernel takes them: the array, n, where the result goes, the workspace, the (empty) accumulator.
template <class Result, class T>
Result on_ptx(ptx::kernel const& k, T const* x, uint64_t n, ptx::launch_config const& config) {
  std::vector<uint64_t> workspace(2 * isobit::grid_workspace<double>::partials_for(n) + 16, ~uint64_t{0});
  auto const address = (reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16;
  *reinterpret_cast<uint32_t*>(address) = 0;
  Result out;
  std::memset(&out, 0xcd, sizeof out);
  ptx::run(k, config, ptx::arguments().add(x).add(n).add(&out).add(address).add('\0'));
  CHECK(*reinterpret_cast<uint32_t*>(address) == 0); // the arrivals reset themselves
  return out;
}

std::vector<double> golden_data() {
  std::vector<double> x(golden::p4016::count + 2);
  golden::p4016::generator next;
  for (size_t i = 0; i < golden::p4016::count; ++i) x[i] = next();
  return x;
}

uint64_t bits_of(double v) { return isobit::to_bits(v); }

uint64_t expected(uint64_t lanes) {
  for (auto const& row : golden::p4016::lanes_sums)
    if (row.lanes == lanes) return row.bits;
  return 0;
}

std::string lanes_name(int lanes) { return "5lanesILm" + std::to_string(lanes) + "E"; }

} // namespace

TEST_SUITE("compiled device code") {
  TEST_CASE("P4016R0's golden sums") {
    auto const x = golden_data();
    uint64_t const n = golden::p4016::count;
    auto const& k = kernels().find({"4treeE", "contiguousIdE", "5plainIdE"});
    CHECK(bits_of(on_ptx<double>(k, x.data(), n, {9, 128, 0})) == expected(1));
    for (int lanes : {16, 128, 256, 1024}) {
      auto const& by_lane = kernels().find({lanes_name(lanes), "contiguousIdE"});
      CAPTURE(lanes);
      CHECK(bits_of(on_ptx<double>(by_lane, x.data(), n, {1, 64, 0})) == expected(static_cast<uint64_t>(lanes)));
    }
    CHECK(bits_of(on_ptx<double>(k, x.data(), n - 1, {2, 64, 0})) != expected(1)); // control
  }

  TEST_CASE("the float prefixes of the tree") {
    auto const d = golden_data();
    std::vector<float> const x(d.begin(), d.end());
    auto const& k = kernels().find({"4treeE", "contiguousIfE", "5plainIfE"});
    for (auto const& row : golden::p4016::prefix_sums) {
      CAPTURE(row.n);
      CHECK(isobit::to_bits(on_ptx<float>(k, x.data(), row.n, {5, 96, 1})) == row.bits);
    }
  }

  TEST_CASE("odd geometries, schedules, misaligned arrays, special values: the host's bits") {
    std::vector<float> x(30000);
    uint64_t z = 1;
    for (float& v : x) {
      z = z * 6364136223846793005u + 1442695040888963407u;
      v = isobit::from_bits<float>(static_cast<uint32_t>(z >> 32) & 0xbfffffffu);
    }
    std::vector<isobit::bf16> b(x.size());
    for (size_t i = 0; i < x.size(); ++i) b[i].bits = static_cast<uint16_t>(isobit::to_bits(x[i]) >> 16);
    auto const& plain = kernels().find({"4treeE", "contiguousIfE", "5plainIfE"});
    auto const& compensated = kernels().find({"4treeE", "contiguousIfE", "11compensatedIfE"});
    std::vector<isobit::f16> h(x.size());
    std::vector<isobit::e4m3> q(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      uint32_t const bits = isobit::to_bits(x[i]);
      h[i].bits = static_cast<uint16_t>(bits >> 13 & 0xbfffu);
      q[i].bits = static_cast<uint8_t>((bits >> 7 & 0x7fu) == 0x7fu ? 0 : bits >> 7);
    }
    auto const& narrow = kernels().find({"13reduce_kernel", "4treeE", "4bf16", "5plainIfE"});
    auto const& half = kernels().find({"4treeE", "3f16", "5plainIfE"});
    auto const& byte = kernels().find({"4treeE", "4e4m3", "5plainIfE"});
    isobit::host const cpu;
    uint64_t seed = 0;
    for (unsigned width : {1u, 7u, 32u, 33u, 100u, 256u})
      for (uint64_t n : {0u, 1u, 5u, 127u, 128u, 1000u, 8193u, 29990u}) {
        if (width < 32 && n > 8193) continue;
        ptx::launch_config const config{1 + static_cast<unsigned>(seed % 5), width, seed};
        ++seed;
        size_t const offset = seed % 5;
        CAPTURE(width);
        CAPTURE(n);
        CHECK(isobit::testing::bits_equal(on_ptx<float>(plain, x.data() + offset, n, config),
                                          isobit::reduce(cpu, x.data() + offset, n)));
        CHECK(isobit::testing::bits_equal(on_ptx<float>(compensated, x.data() + offset, n, config),
                                          isobit::reduce(cpu, x.data() + offset, n, isobit::compensated<float>{})));
        CHECK(isobit::testing::bits_equal(on_ptx<float>(narrow, b.data() + offset, n, config),
                                          isobit::reduce(cpu, b.data() + offset, n)));
        CHECK(isobit::testing::bits_equal(on_ptx<float>(half, h.data() + offset, n, config),
                                          isobit::reduce(cpu, h.data() + offset, n)));
        CHECK(isobit::testing::bits_equal(on_ptx<float>(byte, q.data() + offset, n, config),
                                          isobit::reduce(cpu, q.data() + offset, n)));
      }
  }

  TEST_CASE("control: an unknown instruction, a contracted or flushing form stops the run") {
    auto const kernel = [](char const* body) {
      return std::string(".visible .entry k(\n.param .u64 p\n)\n{\n.reg .f32 %f<4>;\n") + body + "\nret;\n}\n";
    };
    CHECK_NOTHROW(ptx::module(kernel("add.rn.f32 %f1, %f2, %f3;")));
    CHECK_THROWS_AS(ptx::module(kernel("add.f32 %f1, %f2, %f3;")), ptx::error);
    CHECK_THROWS_AS(ptx::module(kernel("add.rn.ftz.f32 %f1, %f2, %f3;")), ptx::error);
    CHECK_THROWS_AS(ptx::module(kernel("ex2.approx.f32 %f1, %f2;")), ptx::error);
    CHECK_THROWS_AS(ptx::module(kernel("sin.f32 %f1, %f2;")), ptx::error);
  }
}
