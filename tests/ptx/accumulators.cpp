// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of reductions with the accumulators of two words and more, executed and compared with the host.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/accum/double_float.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/testing/adversarial.hpp>

#include <cstring>

namespace {

using namespace isobit;
using compiled::kernels;

template <class T> std::string bytes_of(T const& v) { return {reinterpret_cast<char const*>(&v), sizeof v}; }

// reduce_kernel's parameters: the load, n, where the result goes, the workspace, the (empty) accumulator.
template <class Result, class Load>
Result on_ptx(ptx::kernel const& k, Load const& load, uint64_t n, ptx::launch_config const& config) {
  std::vector<uint64_t> workspace(8 * grid_workspace<double>::partials_for(n) + 32, ~uint64_t{0});
  auto const address = (reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16;
  *reinterpret_cast<uint32_t*>(address) = 0;
  Result out;
  std::memset(static_cast<void*>(&out), 0xcd, sizeof out);
  ptx::run(k, config, ptx::arguments().add(load).add(n).add(&out).add(address).add('\0'));
  return out;
}

template <class Acc, class Load>
void check(std::vector<std::string> const& name, Load const& load, uint64_t n, ptx::launch_config const& config) {
  using result = typename Acc::result;
  CAPTURE(name.back());
  CAPTURE(n);
  CAPTURE(config.block);
  CHECK(bytes_of(on_ptx<result>(kernels().find(name), load, n, config)) ==
        bytes_of(reduce(host(), n, load, Acc{})));
}

} // namespace

TEST_SUITE("compiled device code, accumulators") {
  TEST_CASE("odd geometries, schedules, misaligned arrays, numbers of every class: the host's bits") {
    uint64_t seed = 0;
    for (unsigned width : {1u, 7u, 32u, 100u, 256u})
      for (uint64_t n : {0u, 1u, 5u, 127u, 128u, 1000u, 8195u}) {
        if (width < 32 && n > 1000) continue;
        ptx::launch_config const config{1 + static_cast<unsigned>(seed % 3), width, seed};
        size_t const offset = ++seed % 4;
        auto const every = testing::elements(testing::every_class<float>{seed}, n + 4);
        auto const large = testing::elements(testing::wide_exponents<float>{seed, 90, 127}, n + 4);
        auto const wide = testing::elements(testing::wide_exponents<float>{seed, -10, 10}, n + 4);
        auto const doubles = testing::elements(testing::wide_exponents<double>{seed, -400, 1023}, n + 4);
        for (auto const* x : {&every, &large, &wide}) {
          contiguous<float> const load{x->data() + offset};
          check<double_float<float>>({"contiguousIfE", "12double_floatIfE"}, load, n, config);
          check<moments<float>>({"contiguousIfE", "7momentsIfE"}, load, n, config);
          check<extrema<float>>({"8numbered", "7extremaIf"}, with_index(load.data, 3), n, config);
          check<sum_of_products<float>>({"6zipped", "15sum_of_productsIfE"},
                                        zip(load.data, wide.data() + offset, fused_product::multiply{}), n, config);
        }
        check<double_float<double>>({"contiguousIdE", "12double_floatIdE"}, contiguous<double>{doubles.data() + offset}, n,
                                    config);
      }
  }

  TEST_CASE("B09 and B07b") {
    float const m = from_bits<float>(0x7f7fffffu);
    float const x[] = {m, m, -m, -m};
    auto const& k = kernels().find({"contiguousIfE", "12double_floatIfE"});
    CHECK(to_bits(on_ptx<float>(k, contiguous<float>{x}, 4, {1, 32, 0})) == 0);
    CHECK(to_bits(on_ptx<float>(k, contiguous<float>{x}, 3, {1, 32, 0})) == to_bits(m));
    float const a[] = {1 + 0x1p-12f, -(1 + 0x1p-11f)}, b[] = {1 + 0x1p-12f, 1};
    auto const& dot = kernels().find({"6zipped", "15sum_of_productsIfE"});
    CHECK(on_ptx<float>(dot, zip(&a[0], &b[0], fused_product::multiply{}), 2, {1, 32, 0}) == 0x1p-24f);
  }
}
