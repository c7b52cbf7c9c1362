// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The quantisation kernels on the simulator, at many geometries and schedules: always the bits of the reference, every
// output byte written once, nothing beside the outputs touched. And blocks quantised inside somebody else's kernel.
#include <doctest/doctest.h>

#include "quantize_reference.hpp"

#include <isobit/device/quantize_tile_kernel.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/every_byte_written.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <tuple>
#include <utility>

namespace {

using namespace quantize_reference;
using floor_e4m3 = mxfp8<e4m3, mx::floor>;
using rceil_e4m3 = mxfp8<e4m3, mx::rceil>;
using rceil_saturate = mxfp8<e4m3, mx::rceil, mx::saturate>;

// What a kernel wrote, and whether it left alone what lies beside its outputs.
template <class E> auto quantised(guarded<E>& codes, guarded<e8m0>& scales) {
  return std::tuple(codes.values(), scales.values(), codes.guards_untouched() && scales.guards_untouched());
}

template <class Recipe, class T>
void kernels_against_reference(uint64_t rows, uint64_t cols, unsigned seed, size_t misalign, bool with_specials) {
  CAPTURE(rows);
  CAPTURE(cols);
  CAPTURE(misalign);
  auto floats = hard_floats(rows * cols, seed);
  if (with_specials && floats.size() > 5) {
    floats[floats.size() / 2] = from_bits<float>(0x7f800000);
    floats.back() = from_bits<float>(0xffffffff);
  }
  std::vector<T> x(floats.size());
  for (size_t i = 0; i < x.size(); ++i)
    if constexpr (std::is_same_v<T, float>)
      x[i] = floats[i];
    else
      x[i] = encode<T>(floats[i]);
  auto const want = quantized<Recipe>(x, rows, cols);
  std::vector<float> values(x.size());
  dequantize(host(), Recipe{}, want.codes.data(), want.scales.data(), rows, cols, values.data());
  testing::placed<T> const in(x, misalign * sizeof(T));
  auto const quantise = [&](simt::config const& c, uint8_t fill) {
    guarded<typename Recipe::element> codes(want.codes.size(), fill);
    guarded<e8m0> scales(want.scales.size(), fill);
    auto const copy = row_wise(codes.data(), scales.data(), want.scales.size(), ragged);
    simt::launch(c, device::quantize_kernel<Recipe, isobit::detail::to_nearest, T, decltype(copy)>, Recipe{},
                 isobit::detail::to_nearest{}, in.data(), rows, cols, copy);
    return quantised(codes, scales);
  };
  auto const dequantise = [&](simt::config const& c, uint8_t fill) {
    guarded<float> out(values.size(), fill);
    auto const copy = row_wise(want.codes.data(), want.scales.data(), want.scales.size(), ragged);
    simt::launch(c, device::dequantize_kernel<Recipe, decltype(copy)>, Recipe{}, copy, rows, cols, out.data());
    return std::pair(out.values(), out.guards_untouched());
  };
  // grid, block
  std::vector<std::pair<uint32_t, uint32_t>> geometries{{1, 1},  {2, 2},  {1, 3},  {3, 4},  {1, 5},
                                                        {2, 31}, {1, 32}, {3, 33}, {2, 64}, {1, 100}};
  if (rows * cols >= 64) geometries.insert(geometries.end(), {{2, 256}, {1, 1024}});
  for (auto const& [grid, block] : geometries) {
    testing::host_options const here{.blocks = {block}, .grids = {grid}, .schedules = 3, .seed = seed};
    uint8_t const fill = block % 2 ? 0x00 : 0xa5;
    CHECK(testing::same_as_host([&](simt::config const& c) { return quantise(c, fill); },
                                [&] { return std::tuple(want.codes, want.scales, true); }, here));
    CHECK(testing::same_as_host([&](simt::config const& c) { return dequantise(c, fill); },
                                [&] { return std::pair(values, true); }, here));
  }
  CHECK(testing::every_byte_written([&](testing::fill const& f) {
    auto const [codes, scales, untouched] = quantise(f.config({.grid = {2}, .block = {31}}), f.byte);
    return std::tuple(codes, scales, dequantise(f.config({.grid = {3}, .block = {33}}), f.byte).first);
  }));
}

TEST_CASE("kernels at many geometries") {
  unsigned seed = 100;
  for (uint64_t cols : {1, 31, 32, 40, 64, 72, 100, 256}) {
    kernels_against_reference<rceil_e4m3, float>(3, cols, ++seed, 0, false);
    kernels_against_reference<floor_e4m3, bf16>(2, cols, ++seed, 0, true);
  }
  for (size_t misalign : {1, 2, 3}) {
    kernels_against_reference<floor_e4m3, float>(2, 64, ++seed, misalign, false);
    kernels_against_reference<rceil_saturate, f16>(3, 96, ++seed, misalign, true);
  }
  kernels_against_reference<mxfp8<e5m2, mx::rceil>, float>(2, 96, ++seed, 0, false);
}

TEST_CASE("kernels with three-dimensional blocks and grids, and other seeds") {
  uint64_t const rows = 4, cols = 96;
  auto const x = hard_floats(rows * cols, 8);
  auto const want = quantized<rceil_e4m3>(x, rows, cols);
  auto const run = [&](simt::config c) {
    c.resident = 3;
    guarded<e4m3> codes(x.size(), 0xa5);
    guarded<e8m0> scales(want.scales.size(), 0xa5);
    auto const copy = row_wise(codes.data(), scales.data(), want.scales.size(), ragged);
    simt::launch(c, device::quantize_kernel<rceil_e4m3, isobit::detail::to_nearest, float, decltype(copy)>,
                 rceil_e4m3{}, isobit::detail::to_nearest{}, x.data(), rows, cols, copy);
    return quantised(codes, scales);
  };
  simt::config const solid{.grid = {2, 1, 2}, .block = {3, 5, 2}};
  CHECK(bits_equal(run(solid), std::tuple(want.codes, want.scales, true)));
  CHECK(testing::repeatable([&](testing::trial const& t) { return run(t.config(solid)); }));
}

// A user's kernel: P lanes share each block of what an activation returns; loads are counted.
template <int P, class Recipe>
ISOBIT_KERNEL void activation_kernel(float const* x, uint32_t n, typename Recipe::element* codes,
                                     typename Recipe::scale* scales, uint32_t* loads) {
  tile<P> const lanes;
  auto const load = [=](uint32_t i) {
    ++loads[i];
    return mul(x[i], 0.5f);
  };
  auto const store = [=](uint32_t i, typename Recipe::element code) { codes[i] = code; };
  scales[lanes.thread_rank()] = quantize_block(lanes, Recipe{}, n, load, store);
}

template <int P> void inside_a_kernel() {
  for (uint32_t n : {0u, 1u, 5u, 8u, 31u, 32u}) {
    auto x = hard_floats(32, 40 + n);
    std::vector<float> half(n);
    for (uint32_t i = 0; i < n; ++i) half[i] = mul(x[i], 0.5f);
    int const byte = scale_byte<rceil_e4m3>(half);
    std::vector<e4m3> expected;
    for (float v : half) expected.push_back({code<e4m3>(v, byte)});
    std::vector<uint32_t> once(32);
    for (uint32_t i = 0; i < n; ++i) once[i] = 1;
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          guarded<e4m3> codes(n, 0x11);
          std::vector<e8m0> scales(P);
          std::vector<uint32_t> loads(32);
          simt::launch(c, activation_kernel<P, rceil_e4m3>, x.data(), n, codes.data(), scales.data(), loads.data());
          return std::tuple(codes.values(), scales, loads, codes.guards_untouched());
        },
        [&] { // every lane receives the scale; every element is loaded once
          return std::tuple(expected, std::vector<e8m0>(P, e8m0{static_cast<uint8_t>(byte)}), once, true);
        },
        {.blocks = {P}, .grids = {1}}));
  }
}

TEST_CASE("blocks inside a user's kernel, by tiles of every size") {
  inside_a_kernel<1>();
  inside_a_kernel<2>();
  inside_a_kernel<4>();
  inside_a_kernel<8>();
  inside_a_kernel<16>();
  inside_a_kernel<32>();
}

// A faulty tile, whose lanes hear only themselves.
struct deaf_tile : tile<4> {
  template <class T> ISOBIT_HD static T shuffle_xor(T const& mine, uint32_t) { return mine; }
};

template <class Group> ISOBIT_KERNEL void tile_kernel(float const* x, e4m3* codes, e8m0* scales) {
  Group const lanes;
  scales[lanes.thread_rank()] = quantize_block(
      lanes, rceil_e4m3{}, 32u, [=](uint32_t i) { return x[i]; }, [=](uint32_t i, e4m3 code) { codes[i] = code; });
}

TEST_CASE("negative control: without the exchange of the maximum the comparison fails") {
  std::vector<float> x(32, 1.0f);
  x[0] = 1000.0f; // held by lane 0 only
  auto const want = quantized<rceil_e4m3>(x, 1, 32);
  auto const gate = [&](auto const& kernel) {
    return testing::same_as_host(
        [&](simt::config const& c) {
          std::vector<e4m3> codes(32);
          std::vector<e8m0> scales(4);
          simt::launch(c, kernel, x.data(), codes.data(), scales.data());
          return std::pair(codes, scales[3]);
        },
        [&] { return std::pair(want.codes, want.scales[0]); }, {.blocks = {4}, .grids = {1}});
  };
  CHECK(gate(tile_kernel<tile<4>>));
  auto const deaf = gate(tile_kernel<deaf_tile>);
  CHECK_FALSE(deaf);
  CHECK(deaf.different() > 1);
}

TEST_CASE("the kernels find blocks beyond 2^32") {
  uint64_t k = 0;
  uint64_t const cols = (uint64_t(1) << 33) + 5, per_row = blocks_per_row<rceil_e4m3>(cols);
  device::quantize_detail::row_blocks const wide{cols, per_row, 5 * per_row};
  CHECK(wide.row(3 * per_row - 1, k) == 2);
  CHECK(k == per_row - 1);
  CHECK(wide.row(3 * per_row, k) == 3);
  CHECK(k == 0);
  device::quantize_detail::row_blocks const many{33, 2, uint64_t(1) << 33};
  CHECK(many.row((uint64_t(1) << 33) - 1, k) == (uint64_t(1) << 32) - 1);
  CHECK(k == 1);
  device::quantize_detail::tile_place const tile((uint64_t(1) << 40) + 3, uint64_t(1) << 42, 64 * 1000 + 1);
  CHECK(tile.top == ((uint64_t(1) << 40) + 3) / 1001 * 64);
  CHECK(tile.left == ((uint64_t(1) << 40) + 3) % 1001 * 64);
}

} // namespace
