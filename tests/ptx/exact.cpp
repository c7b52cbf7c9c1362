// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the exact sums, executed: the host's bits at odd geometries, and atomic deposits in several orders.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/algo/exact_product.hpp>
#include <isobit/device/exact_atomic.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>

namespace {

using compiled::kernels;
using isobit::exact;

template <class A, class Load>
typename A::result on_ptx(ptx::kernel const& k, Load const& x, uint64_t n, ptx::launch_config const& config) {
  std::vector<uint64_t> workspace(isobit::grid_workspace<typename A::state>::bytes(n) / 8 + 4, ~uint64_t{0});
  auto const address = (reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16;
  *reinterpret_cast<uint32_t*>(address) = 0;
  typename A::result out{};
  ptx::run(k, config, ptx::arguments().add(x).add(n).add(&out).add(address).add('\0'));
  return out;
}

template <class T> std::vector<T> codes(size_t n) {
  std::vector<T> x(n);
  uint64_t z = 11;
  for (T& v : x) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    uint64_t const b = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    if constexpr (isobit::ieee_float<T>) {
      v = isobit::from_bits<T>(static_cast<isobit::float_bits<T>>(b >> (64 - 8 * sizeof(T))));
      if (!isobit::is_finite(v)) v = -1;
    } else {
      v.bits = static_cast<uint16_t>(b >> 48);
      if (!isobit::is_finite(isobit::decode(v))) v.bits = 1;
    }
  }
  return x;
}

template <class T> void check_reduce(std::vector<std::string> const& name) {
  using A = exact<T>;
  auto const& k = kernels().find(name);
  auto const x = codes<T>(9001);
  uint64_t seed = 0;
  for (unsigned width : {1u, 7u, 32u, 33u, 256u})
    for (uint64_t n : {1u, 5u, 127u, 1000u, 8999u}) {
      if (width < 32 && n > 1000) continue;
      size_t const offset = seed % 3;
      ptx::launch_config const config{1 + static_cast<unsigned>(seed % 3), width, seed};
      ++seed;
      CAPTURE(width);
      CAPTURE(n);
      CHECK(isobit::to_bits(on_ptx<A>(k, isobit::contiguous<T>{x.data() + offset}, n, config)) ==
            isobit::to_bits(isobit::reduce(isobit::host(), x.data() + offset, n, A{})));
    }
}

template <class T> void check_deposits(std::vector<std::string> const& name) {
  using A = exact<T>;
  auto const& k = kernels().find(name);
  auto x = codes<T>(700);
  x[5] = -T(0);
  typename A::state expected{};
  for (T v : x) A{}.deposit(expected, v);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    isobit::exact_cell<typename A::grid> total{};
    ptx::run(k, {3, 40, seed}, ptx::arguments().add(x.data()).add(uint64_t{700}).add(&total));
    auto const s = read(total);
    CHECK(isobit::testing::bits_equal(s, expected));
    // A limb that must carry.
    auto edge = total;
    for (auto& limb : edge.limb) limb = 0;
    for (int i = 0; i + 1 < edge.limbs; ++i) edge.limb[i] = (uint64_t{1} << 62) - 3;
    auto const before = read(edge);
    ptx::run(k, {2, 64, seed}, ptx::arguments().add(x.data()).add(uint64_t{700}).add(&edge));
    auto const after = read(edge), wanted = before + expected;
    CHECK(isobit::testing::bits_equal(after, wanted));
  }
}

} // namespace

TEST_SUITE("compiled device code, exact sums") {
  TEST_CASE("reduction over a grid") {
    check_reduce<float>({"13reduce_kernel", "10contiguousIfE", "5exactIffE"});
    check_reduce<double>({"13reduce_kernel", "10contiguousIdE", "5exactIddE"});
    check_reduce<isobit::f16>({"13reduce_kernel", "3f16", "5exactI"});
  }
  TEST_CASE("dot products") {
    using A = isobit::exact_dot<float>;
    auto const& k = kernels().find({"13reduce_kernel", "6zipped", "9exact_dotIffE"});
    auto const x = codes<float>(4000);
    for (uint64_t n : {1u, 2u, 63u, 2000u})
      for (size_t offset : {0u, 1u}) {
        auto const load = isobit::zip(x.data(), x.data() + 2000 - offset, isobit::exact_product::multiply{});
        CHECK(isobit::to_bits(on_ptx<A>(k, load, n, {2, 64, n})) ==
              isobit::to_bits(isobit::reduce(isobit::host(), n, load, A{})));
      }
  }
  TEST_CASE("atomic deposits") {
    check_deposits<float>({"19exact_atomic_kernel", "5exactIffE"});
    check_deposits<double>({"19exact_atomic_kernel", "5exactIddE"});
  }
}
