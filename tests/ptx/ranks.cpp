// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the kernels for ranks, executed: fragments of ranges and elementwise sums, with the host's bits.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/device/reduce_fragment_kernel.hpp>
#include <isobit/ranks.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>

namespace {

using namespace isobit;
using compiled::kernels;
using isobit::testing::bits_equal;

template <class T> std::vector<T> numbers(size_t n, uint64_t z) {
  std::vector<T> x(n);
  for (T& v : x) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    float const f = from_bits<float>(static_cast<uint32_t>(z >> 32) & 0xbfffffffu); // both signs, subnormals to 1.99
    v = encode_element<T>(f);
  }
  return x;
}

template <class T, int W> void check_sum(ptx::kernel const& k, bool by_tree) {
  for (size_t n : {1, 8, 30, 1000}) {
    std::vector<std::vector<T>> x;
    peers<T, W> from{};
    for (uint64_t r = 0; r < W; ++r) x.push_back(numbers<T>(n, r));
    bool aligned = true;
    for (size_t r = 0; r < W; ++r) {
      from.array[r] = x[r].data();
      aligned = aligned && reinterpret_cast<uintptr_t>(x[r].data()) % 16 == 0;
    }
    auto const array = [&](uint64_t r) { return static_cast<T const*>(x[r].data()); };
    std::vector<T> expected(n), out(n);
    if (by_tree)
      ordered_sum<tree>(W, array, n, expected.data());
    else
      ordered_sum<sequential>(W, array, n, expected.data());
    aligned = aligned && reinterpret_cast<uintptr_t>(out.data()) % 16 == 0;
    for (ptx::launch_config const c : {ptx::launch_config{1, 32, 0}, {3, 100, 1}, {2, 7, 2}}) {
      std::memset(static_cast<void*>(out.data()), 0xcd, n * sizeof(T));
      ptx::run(k, c, ptx::arguments().add(from).add(uint64_t{n}).add(out.data()).add(aligned).add('\0'));
      CHECK(bits_equal(out, expected));
    }
  }
}

} // namespace

TEST_SUITE("compiled device code, ranks") {
  TEST_CASE("fragments of ranges") {
    auto const x = numbers<float>(60'000, 7);
    auto const& k = kernels().find({"reduce_fragment_kernel", "contiguousIfE"});
    struct range {
      uint64_t first, last;
    };
    for (range const r : {range{5, 5}, {0, 1}, {3, 13}, {1, 8192}, {8191, 8193}, {100, 50'000}, {0, 32'768}}) {
      auto const expected = reduce_fragment(host(), r.first, r.last, contiguous<float>{x.data()});
      auto const plan = device::fragment_plan::of<float>(r.first, r.last);
      std::vector<uint64_t> workspace(plan.partials() / 2 + 16, ~uint64_t{0});
      auto const at = (reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16;
      for (ptx::launch_config const c : {ptx::launch_config{1, 33, 0}, {4, 96, 1}, {9, 256, 2}}) {
        *reinterpret_cast<uint32_t*>(at) = 0;
        fragment<float> out;
        std::memset(static_cast<void*>(&out), 0xcd, sizeof out);
        ptx::run(k, c, ptx::arguments().add(x.data()).add(plan).add(&out).add(at).add('\0'));
        CAPTURE(r.first);
        CAPTURE(r.last);
        CHECK(bits_equal(out, expected));
        CHECK(*reinterpret_cast<uint32_t*>(at) == 0);
      }
    }
  }

  TEST_CASE("elementwise sums over ranks") {
    check_sum<float, 6>(kernels().find({"ordered_sum_kernel", "4treeE", "Li6E"}), true);
    check_sum<bf16, 8>(kernels().find({"ordered_sum_kernel", "4treeE", "Li8E"}), true);
    check_sum<float, 5>(kernels().find({"ordered_sum_kernel", "10sequentialE", "Li5E"}), false);
  }
}
