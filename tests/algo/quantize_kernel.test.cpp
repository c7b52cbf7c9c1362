// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The quantisation kernels on the simulator, at many geometries and schedules: always the bits of the reference, every
// output byte written once, nothing beside the outputs touched. And blocks quantised inside somebody else's kernel.
#include <doctest/doctest.h>

#include "quantize_reference.hpp"

#include <isobit/device/quantize_kernel.hpp>
#include <isobit/simt/launch.hpp>

namespace {

using namespace quantize_reference;
using floor_e4m3 = mxfp8<e4m3, mx::floor>;
using rceil_e4m3 = mxfp8<e4m3, mx::rceil>;
using rceil_saturate = mxfp8<e4m3, mx::rceil, mx::saturate>;

struct geometry {
  uint32_t grid, block;
};
constexpr geometry geometries[] = {{1, 1},  {2, 2},  {1, 3},  {3, 4},   {1, 5},   {2, 31},
                                   {1, 32}, {3, 33}, {2, 64}, {1, 100}, {2, 256}, {1, 1024}};

// As std::vector, but the first element has the wanted alignment modulo 16.
template <class T> class placed {
public:
  placed(std::vector<T> const& x, size_t offset) : storage_(x.size() * sizeof(T) + 64), n_(x.size()) {
    size_t const misaligned = reinterpret_cast<uintptr_t>(storage_.data()) % 16;
    start_ = 16 - misaligned + offset;
    if (n_ > 0) std::memcpy(storage_.data() + start_, x.data(), n_ * sizeof(T));
  }
  T* data() { return reinterpret_cast<T*>(storage_.data() + start_); }

private:
  std::vector<uint8_t> storage_;
  size_t n_, start_;
};

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
  placed<T> in(x, misalign * sizeof(T));

  for (geometry g : geometries) {
    if (uint64_t(g.grid) * g.block > 512 && rows * cols < 64) continue;
    CAPTURE(g.grid);
    CAPTURE(g.block);
    uint8_t const fill = g.block % 2 ? 0x00 : 0xa5;
    guarded<typename Recipe::element> codes(want.codes.size(), fill);
    guarded<e8m0> scales(want.scales.size(), fill);
    simt::launch({.grid = {g.grid}, .block = {g.block}, .seed = seed}, device::quantize_kernel<Recipe, T>,
                 static_cast<T const*>(in.data()), rows, cols, codes.data(), scales.data());
    CHECK(same_bits(codes.values(), want.codes));
    CHECK(same_bits(scales.values(), want.scales));
    guarded<float> out(values.size(), fill);
    simt::launch({.grid = {g.grid}, .block = {g.block}, .seed = seed}, device::dequantize_kernel<Recipe>,
                 static_cast<typename Recipe::element const*>(codes.data()), static_cast<e8m0 const*>(scales.data()),
                 rows, cols, out.data());
    CHECK(same_bits(out.values(), values));
    CHECK((codes.guards_untouched() && scales.guards_untouched() && out.guards_untouched()));
  }
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
  for (uint64_t seed = 0; seed < 10; ++seed) {
    guarded<e4m3> codes(x.size(), 0xa5);
    guarded<e8m0> scales(want.scales.size(), 0xa5);
    simt::launch({.grid = {2, 1, 2}, .block = {3, 5, 2}, .seed = seed, .resident = 3},
                 device::quantize_kernel<rceil_e4m3, float>, x.data(), rows, cols, codes.data(), scales.data());
    CHECK(same_bits(codes.values(), want.codes));
    CHECK(same_bits(scales.values(), want.scales));
  }
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
    guarded<e4m3> codes(n, 0x11);
    std::vector<e8m0> scales(P);
    std::vector<uint32_t> loads(32);
    simt::launch(1, P, activation_kernel<P, rceil_e4m3>, x.data(), n, codes.data(), scales.data(), loads.data());
    for (e8m0 s : scales) CHECK(s.bits == byte); // every lane receives the scale
    for (uint32_t i = 0; i < 32; ++i) CHECK(loads[i] == (i < n));
    auto const got = codes.values();
    for (uint32_t i = 0; i < n; ++i) CHECK(got[i].bits == code<e4m3>(half[i], byte));
    CHECK(codes.guards_untouched());
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
  std::vector<e4m3> codes(32);
  std::vector<e8m0> scales(4);
  simt::launch(1, 4, tile_kernel<tile<4>>, x.data(), codes.data(), scales.data());
  CHECK(same_bits(codes, want.codes));
  CHECK(scales[3] == want.scales[0]);
  simt::launch(1, 4, tile_kernel<deaf_tile>, x.data(), codes.data(), scales.data());
  CHECK_FALSE(same_bits(codes, want.codes));
  CHECK(scales[3] != want.scales[0]);
}

TEST_CASE("the kernels find blocks beyond 2^32") {
  uint32_t present = 0;
  uint64_t const cols = (uint64_t(1) << 33) + 5, per_row = blocks_per_row<rceil_e4m3>(cols);
  device::detail::row_blocks const wide{cols, per_row, 5 * per_row};
  CHECK(wide.first(3 * per_row - 1, 32, present) == 3 * cols - 5);
  CHECK(present == 5);
  CHECK(wide.first(3 * per_row, 32, present) == 3 * cols);
  CHECK(present == 32);
  device::detail::row_blocks const many{33, 2, uint64_t(1) << 33};
  CHECK(many.first((uint64_t(1) << 33) - 1, 32, present) == ((uint64_t(1) << 32) - 1) * 33 + 32);
  CHECK(present == 1);
  device::detail::row_blocks const whole{64, 2, uint64_t(1) << 40};
  CHECK(whole.first((uint64_t(1) << 39) + 1, 32, present) == ((uint64_t(1) << 39) + 1) * 32);
  CHECK(present == 32);
}

} // namespace
