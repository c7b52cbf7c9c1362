// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the scan, quantisation kernels, executed and compared with the host.
#include <doctest/doctest.h>

#include "compiled.hpp"

#include <isobit/quantize.hpp>
#include <isobit/scan.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <algorithm>
#include <cstring>

namespace {

using compiled::kernels;
using isobit::testing::bits_equal;

std::vector<float> hard_floats(size_t n) {
  std::vector<float> x(n);
  uint64_t z = 5;
  for (float& v : x) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    v = isobit::from_bits<float>(static_cast<uint32_t>(z >> 32) & 0xbfffffffu); // both signs, subnormals to 1.99
  }
  return x;
}

template <class T> std::vector<T> poisoned(size_t n) {
  std::vector<T> v(n);
  std::memset(static_cast<void*>(v.data()), 0xcd, n * sizeof(T));
  return v;
}

} // namespace

TEST_SUITE("compiled device code, the families") {
  TEST_CASE("segmented scan") {
    std::vector<uint64_t> const offsets{0, 0, 1, 3, 34, 34, 66, 99, 611, 1700, 1700, 5700, 5700};
    uint64_t const segments = offsets.size() - 1, n = offsets.back();
    auto const x = hard_floats(n);
    auto expected = poisoned<float>(n);
    isobit::segmented_inclusive_scan(isobit::host(), x.data(), n, offsets.data(), segments, expected.data());
    struct launch {
      char const* kernel;
      unsigned grid, block;
    };
    for (auto const& l : {launch{"by_block", 3, 256}, launch{"by_block", 2, 33}, launch{"by_block", 12, 7},
                          launch{"by_tile", 2, 256}, launch{"by_tile", 1, 32}, launch{"by_tile", 5, 100}})
      for (uint64_t seed : {0, 1}) {
        auto out = poisoned<float>(n);
        auto const& k = kernels().find({"segmented_scan", l.kernel});
        ptx::run(k, {l.grid, l.block, seed},
                 ptx::arguments().add(x.data()).add(offsets.data()).add(segments).add(out.data()).add('\0'));
        CAPTURE(l.kernel);
        CAPTURE(l.block);
        CHECK(bits_equal(out, expected));
      }
  }

  TEST_CASE("NVFP4 recipes") {
    auto const check = [&]<class Recipe>(Recipe recipe, char const* rule, std::vector<float> const& x) {
      uint32_t const blocks = static_cast<uint32_t>(x.size() / 16);
      auto codes = poisoned<isobit::e2m1x2>(8 * blocks), expected_codes = codes;
      auto scales = poisoned<isobit::e4m3>(blocks), expected_scales = scales;
      isobit::quantize(isobit::host(), recipe, x.data(), 1, 16 * blocks, expected_codes.data(), expected_scales.data());
      for (unsigned width : {256u, 32u, 13u}) {
        ptx::run(kernels().find({"12nvfp4_blocks", rule}), {3, width, width},
                 ptx::arguments().add(x.data()).add(blocks).add(recipe.tensor_amax).add(codes.data()).add(scales.data()));
        CAPTURE(width);
        CHECK(bits_equal(codes, expected_codes));
        CHECK(bits_equal(scales, expected_scales));
      }
    };
    auto x = hard_floats(1600);
    x[77] = isobit::from_bits<float>(0x7f800000u);
    x[777] = isobit::from_bits<float>(0xffc00001u);
    auto tiny = x;
    for (float& v : tiny) v = isobit::from_bits<float>(isobit::to_bits(v) & 0x803fffffu); // subnormal, as is the amax
    for (float amax : {2.0f, 1.015625f, 0.0f, 1e-3f}) {
      check(isobit::nvfp4<isobit::nv::te>{amax}, "2nv2teE", x);
      check(isobit::nvfp4<isobit::nv::exact>{amax}, "2nv5exactE", x);
    }
    check(isobit::nvfp4<isobit::nv::te>{isobit::from_bits<float>(0x003fffffu)}, "2nv2teE", tiny);
    check(isobit::nvfp4<isobit::nv::exact>{isobit::from_bits<float>(0x003fffffu)}, "2nv5exactE", tiny);
  }

  TEST_CASE("Hadamard transform and stochastic rounding") {
    auto const x = hard_floats(16 * 50);
    std::vector<isobit::bf16> expected(x.size());
    isobit::stochastic const rounding{0x123456789abcdefu, 3};
    for (size_t r = 0; r < x.size(); r += 16) {
      float row[16];
      std::copy(x.begin() + r, x.begin() + r + 16, row);
      isobit::hadamard16(row);
      for (size_t i = 0; i < 16; ++i) expected[r + i] = isobit::encode_stochastic<isobit::bf16>(row[i], rounding, r + i);
    }
    for (unsigned width : {64u, 5u}) {
      auto out = poisoned<isobit::bf16>(x.size());
      ptx::run(kernels().find({"19hadamard_stochastic"}), {2, width, width},
               ptx::arguments().add(x.data()).add(50u).add(rounding.seed).add(rounding.stream).add(out.data()));
      CHECK(bits_equal(out, expected));
    }
  }
}
