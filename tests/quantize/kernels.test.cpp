// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The quantisation kernels on the simulator: every recipe, direction and layout against the host's bytes, at many
// geometries; every byte of a copy written, nothing beside it.
#include <doctest/doctest.h>

#include "copies_reference.hpp"

#include <isobit/device/quantize_tile_kernel.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <tuple>

namespace {

using namespace copies_reference;
using isobit::detail::to_nearest;
using mxfp8_recipe = mxfp8<e4m3, mx::rceil>;
using mxfp4_recipe = mxfp4<mx::even, mx::te_nan_ignored>;
using te = nvfp4<nv::te>;
using exact = nvfp4<nv::exact>;
using over = nvfp4<nv::four_over_six<>>;
constexpr auto rows_along = orientation::row_wise;
constexpr auto columns_along = orientation::column_wise;
constexpr auto transposed = orientation::column_wise_transposed;

struct geometry {
  uint32_t grid, block;
};
constexpr geometry geometries[] = {{1, 1}, {3, 2}, {2, 3}, {1, 31}, {2, 32}, {3, 33}, {1, 100}, {2, 256}};

std::vector<float> input(uint64_t n, unsigned seed) {
  auto x = hard_floats(n, seed);
  if (n > 40) {
    x[n / 2] = from_bits<float>(0x7f800000u);
    x[n - 3] = from_bits<float>(0xffc00001u);
  }
  return x;
}

// The tile kernel's copies, and the row kernel's where there is one copy along the rows.
template <bool Square, class Recipe, class Rounding, class T, class... Copies>
void launch(simt::config const& c, Recipe recipe, Rounding rounding, std::vector<T> const& x, uint64_t rows,
            uint64_t cols, Copies... copies) {
  simt::launch(c, device::quantize_tiles_kernel<Square, Recipe, Rounding, T, Copies...>, recipe, rounding, x.data(),
               rows, cols, copies...);
}

template <bool Square, class Recipe, class Rounding, class T, class... Copies>
void on_host(Recipe recipe, Rounding rounding, std::vector<T> const& x, uint64_t rows, uint64_t cols,
             Copies... copies) {
  if constexpr (Square)
    quantize_square(host(), recipe, x.data(), rows, cols, copies...);
  else if constexpr (std::is_same_v<Rounding, to_nearest>)
    quantize(host(), recipe, x.data(), rows, cols, copies...);
  else
    quantize(host(), recipe, rounding, x.data(), rows, cols, copies...);
}

template <class A, class B, bool Square = false, class Recipe, class Rounding, class T>
void both(Recipe recipe, Rounding rounding, std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  CAPTURE(rows);
  CAPTURE(cols);
  auto want_a = room<A, Recipe>(rows, cols, 0x11);
  auto want_b = room<B, Recipe>(rows, cols, 0x11);
  on_host<Square>(recipe, rounding, x, rows, cols, want_a.copy(), want_b.copy());
  for (auto const [grid, block] : geometries) {
    simt::config const c = simt::vary({.grid = {grid}, .block = {block}, .seed = grid + block}, block % 5);
    CAPTURE(block);
    auto a = room<A, Recipe>(rows, cols, 0xcd), alone = a, direct = a;
    auto b = room<B, Recipe>(rows, cols, 0xcd), b_alone = b;
    launch<Square>(c, recipe, rounding, x, rows, cols, a.copy(), b.copy());
    CHECK(a.values() == want_a.values());
    CHECK(b.values() == want_b.values());
    launch<Square>(c, recipe, rounding, x, rows, cols, b_alone.copy());
    CHECK(b_alone.values() == want_b.values());
    if constexpr (A::along_rows && !Square) {
      simt::launch(c, device::quantize_kernel<Recipe, Rounding, T, A>, recipe, rounding, x.data(), rows, cols,
                   direct.copy());
      CHECK(direct.values() == want_a.values());
    } else {
      launch<Square>(c, recipe, rounding, x, rows, cols, alone.copy());
      CHECK(alone.values() == want_a.values());
    }
    CHECK((a.guards_untouched() && b.guards_untouched() && b_alone.guards_untouched() && direct.guards_untouched() &&
           alone.guards_untouched()));

    // And back.
    std::vector<float> expected(rows * cols);
    auto const back = [&](auto& copy) {
      using copy_type = decltype(copy.copy());
      dequantize(host(), recipe, copy.copy(), rows, cols, expected.data());
      guarded<float> out(rows * cols, 0xcd);
      if constexpr (copy_type::is_transposed)
        simt::launch(c, device::dequantize_transposed_kernel<Recipe, copy_type>, recipe, copy.copy(), rows, cols,
                     out.data());
      else
        simt::launch(c, device::dequantize_kernel<Recipe, copy_type>, recipe, copy.copy(), rows, cols, out.data());
      CHECK(bits_equal(out.values(), expected));
      CHECK(out.guards_untouched());
    };
    back(a);
    back(b);
  }
}

constexpr std::pair<uint64_t, uint64_t> shapes[] = {{1, 1}, {3, 50}, {65, 33}, {32, 64}, {70, 130}};

TEST_CASE("both copies in one pass, row-wise and column-wise alone") {
  unsigned seed = 300;
  for (auto const& [rows, cols] : shapes) {
    auto const x = input(rows * cols, ++seed);
    both<copy_in<rows_along, tiles_128x4, mxfp8_recipe>, copy_in<columns_along, linear_transposed, mxfp8_recipe>>(
        mxfp8_recipe{}, to_nearest{}, x, rows, cols);
    both<copy_in<rows_along, tiles_8x4, mxfp4_recipe, true>, copy_in<transposed, tiles_128x4, mxfp4_recipe, true>>(
        mxfp4_recipe{}, to_nearest{}, narrowed<bf16>(x), rows, cols);
    both<copy_in<rows_along, linear, te, true>, copy_in<transposed, tiles_128x4, te, true>>(te{3.0f}, to_nearest{}, x,
                                                                                            rows, cols);
  }
}

TEST_CASE("exact and four-over-six") {
  auto const x = input(70 * 130, 400);
  both<copy_in<rows_along, tiles_128x4, exact, true>, copy_in<columns_along, tiles_8x4, exact, true>>(
      exact{3.0f}, to_nearest{}, narrowed<f16>(x), 70, 130);
  both<copy_in<rows_along, linear, over, true>, copy_in<transposed, linear, over, true>>(over{3.0f}, to_nearest{}, x,
                                                                                         35, 66);
}

TEST_CASE("stochastic rounding") {
  stochastic const rounding{99, 3};
  for (auto const& [rows, cols] : {std::pair<uint64_t, uint64_t>{3, 50}, {65, 33}, {32, 64}}) {
    auto const x = input(rows * cols, 500);
    both<copy_in<rows_along, tiles_128x4, te, true>, copy_in<transposed, tiles_128x4, te, true>>(te{3.0f}, rounding, x,
                                                                                                 rows, cols);
    both<copy_in<rows_along, linear, mxfp8_recipe>, copy_in<columns_along, linear, mxfp8_recipe>>(
        mxfp8_recipe{}, rounding, x, rows, cols);
  }
}

TEST_CASE("squares") {
  for (auto const& [rows, cols] : shapes) {
    auto const x = input(rows * cols, 600);
    both<copy_in<rows_along, tiles_128x4, te, true>, copy_in<transposed, tiles_8x4, te, true>, true>(
        te{3.0f}, to_nearest{}, x, rows, cols);
    both<copy_in<rows_along, linear, mxfp8_recipe>, copy_in<columns_along, tiles_128x4, mxfp8_recipe>, true>(
        mxfp8_recipe{}, to_nearest{}, narrowed<bf16>(x), rows, cols);
  }
}

TEST_CASE("the recipe's amax from device memory, misaligned arrays") {
  uint64_t const rows = 9, cols = 64;
  auto const x = input(rows * cols + 1, 700);
  uint32_t const amax = to_bits(3.0f);
  using copy = copy_in<rows_along, linear, te, true>;
  auto want = room<copy, te>(rows, cols, 0);
  std::vector<float> const shifted(x.begin() + 1, x.end());
  quantize(host(), te{3.0f}, shifted.data(), rows, cols, want.copy());
  storage<copy> got(copy::codes_size(rows, cols) + 1, want.size, 0xcd);
  copy const at{got.codes.data() + 1, got.scales.data(), want.size, false};
  device::recipe_from_amax<te> const recipe{&amax};
  simt::launch({.grid = {2}, .block = {64}},
               device::quantize_kernel<device::recipe_from_amax<te>, to_nearest, float, copy>, recipe, to_nearest{},
               x.data() + 1, rows, cols, at);
  auto codes = got.values().codes;
  CHECK(codes[0] == 0xcd);
  codes.erase(codes.begin());
  CHECK(codes == want.values().codes);
  CHECK(got.values().scales == want.values().scales);
}

TEST_CASE("groups of rows") {
  uint64_t const cols = 75;
  std::vector<uint64_t> const offsets{3, 3, 36, 37, 37, 165, 200, 200};
  uint64_t const groups = offsets.size() - 1;
  auto const x = input(200 * cols, 9);
  auto const check = [&]<class A, class B, class Recipe>(A, B, Recipe recipe) {
    isobit::detail::group_position<A> end_a;
    isobit::detail::group_position<B> end_b;
    for (uint64_t g = 0; g < groups; ++g)
      if (offsets[g] != offsets[g + 1]) {
        end_a.template skip<Recipe>(offsets[g + 1] - offsets[g], cols);
        end_b.template skip<Recipe>(offsets[g + 1] - offsets[g], cols);
      }
    storage<A> want_a(end_a.codes, end_a.scales, 0xcd), a = want_a, direct = want_a;
    storage<B> want_b(end_b.codes, end_b.scales, 0xcd), b = want_b;
    quantize_groups(host(), recipe, x.data(), offsets.data(), groups, cols, want_a.copy(), want_b.copy());
    for (simt::config const& c :
         {simt::config{.grid = {2, 3}, .block = {64}}, simt::config{.grid = {1, 7}, .block = {33}},
          simt::config{.grid = {3, 10}, .block = {1}}}) {
      simt::launch(c, device::quantize_group_tiles_kernel<Recipe, to_nearest, float, A, B>, recipe, to_nearest{},
                   x.data(), offsets.data(), groups, cols, a.copy(), b.copy());
      CHECK(a.values() == want_a.values());
      CHECK(b.values() == want_b.values());
      simt::launch(c, device::quantize_groups_kernel<Recipe, to_nearest, float, A>, recipe, to_nearest{}, x.data(),
                   offsets.data(), groups, cols, direct.copy());
      CHECK(direct.values() == want_a.values());
      CHECK((a.guards_untouched() && b.guards_untouched() && direct.guards_untouched()));
    }
  };
  check(copy_in<rows_along, tiles_128x4, mxfp8_recipe>{}, copy_in<columns_along, tiles_128x4, mxfp8_recipe>{},
        mxfp8_recipe{});
  check(copy_in<rows_along, tiles_8x4, te, true>{}, copy_in<transposed, tiles_128x4, te, true>{}, te{3.0f});
}

TEST_CASE("negative control: a forgotten row is seen") {
  auto const x = input(70 * 130, 1);
  using copy = copy_in<rows_along, tiles_128x4, mxfp8_recipe>;
  auto want = room<copy, mxfp8_recipe>(70, 130, 0), got = want;
  quantize(host(), mxfp8_recipe{}, x.data(), 70, 130, want.copy());
  simt::launch({.grid = {2}, .block = {64}}, device::quantize_kernel<mxfp8_recipe, to_nearest, float, copy>,
               mxfp8_recipe{}, to_nearest{}, x.data(), 69, 130, got.copy());
  CHECK_FALSE(got.values() == want.values());
}

} // namespace
