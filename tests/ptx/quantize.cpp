// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the quantisation kernels, executed and compared with the host.
#include <doctest/doctest.h>

#include "../quantize/copies_reference.hpp"
#include "compiled.hpp"
#include "quantize_kernels.hpp"

#include <cstring>

namespace {

using namespace copies_reference;
using namespace ptx_quantize;
using compiled::kernels;
using names = std::vector<std::string>;

std::vector<float> input(uint64_t n, unsigned seed) {
  auto x = hard_floats(n, seed);
  x[n / 3] = from_bits<float>(0x7f800000u);
  x[n - 3] = from_bits<float>(0xffc00001u);
  return x;
}

struct shape {
  uint64_t rows, cols;
};

// One launch of the kernel of this name; what it wrote must be what the host writes.
template <bool Square = false, class Recipe, class Rounding, class T, class... Copies>
void run(names const& name, Recipe recipe, Rounding rounding, std::vector<T> const& x, shape s, unsigned grid,
         unsigned block, storage<Copies>... got) {
  auto want = std::tuple<storage<Copies>...>(got...);
  std::apply(
      [&](auto&... w) {
        if constexpr (Square)
          quantize_square(host(), recipe, x.data(), s.rows, s.cols, w.copy()...);
        else if constexpr (std::is_same_v<Rounding, to_nearest>)
          quantize(host(), recipe, x.data(), s.rows, s.cols, w.copy()...);
        else
          quantize(host(), recipe, rounding, x.data(), s.rows, s.cols, w.copy()...);
      },
      want);
  ptx::arguments arguments;
  arguments.add(recipe).add(rounding).add(x.data()).add(s.rows).add(s.cols);
  (arguments.add(got.copy()), ...);
  ptx::run(kernels().find(name), {grid, block, block}, arguments);
  CAPTURE(name[1]);
  CAPTURE(s.rows);
  CAPTURE(s.cols);
  CAPTURE(block);
  std::apply(
      [&](auto&... w) {
        bool const same = ((got.values() == w.values()) && ...);
        CHECK(same);
      },
      want);
  CHECK((got.guards_untouched() && ...));
}

template <class Copy, class Recipe> storage<Copy> room_of(shape s) { return room<Copy, Recipe>(s.rows, s.cols, 0xcd); }

template <class Copy, class Recipe, class Rounding, class T>
void row_kernel(names const& name, Recipe recipe, Rounding rounding, std::vector<T> const& x, shape s) {
  for (unsigned block : {64u, 7u, 1u}) run(name, recipe, rounding, x, s, 2, block, room_of<Copy, Recipe>(s));
}

template <class Copy, class Recipe>
void back(names const& name, Recipe recipe, std::vector<float> const& x, shape s, unsigned block) {
  auto copy = room_of<Copy, Recipe>(s);
  quantize(host(), recipe, x.data(), s.rows, s.cols, copy.copy());
  std::vector<float> expected(s.rows * s.cols);
  dequantize(host(), recipe, copy.copy(), s.rows, s.cols, expected.data());
  guarded<float> out(expected.size(), 0xcd);
  ptx::run(kernels().find(name), {2, block, block},
           ptx::arguments().add(recipe).add(copy.copy()).add(s.rows).add(s.cols).add(out.data()));
  CHECK(bits_equal(out.values(), expected));
  CHECK(out.guards_untouched());
}

} // namespace

TEST_SUITE("compiled device code, quantisation") {
  TEST_CASE("row-wise copies: MXFP8, MXFP6, MXFP4, NVFP4") {
    for (shape const s : {shape{9, 96}, shape{5, 100}, shape{3, 33}, shape{40, 1}}) {
      auto const x = input(s.rows * s.cols, 5);
      auto const b = narrowed<bf16>(x);
      row_kernel<rows<floor8>>({"15quantize_kernel", "5floorE"}, floor8{}, to_nearest{}, x, s);
      row_kernel<rows<rceil8>>({"15quantize_kernel", "5rceilE", "10to_nearestEf"}, rceil8{}, to_nearest{}, x, s);
      row_kernel<rows<rceil8>>({"15quantize_kernel", "5rceilE", "4bf16E"}, rceil8{}, to_nearest{}, b, s);
      row_kernel<rows<rceil_te4, e2m1x2, tiles_128x4>>({"15quantize_kernel", "8rceil_te"}, rceil_te4{}, to_nearest{}, x,
                                                       s);
      row_kernel<rows<even6>>({"15quantize_kernel", "4evenE"}, even6{}, to_nearest{}, b, s);
      for (float amax : {3.0f, 0.0f, from_bits<float>(0x003fffffu)}) {
        row_kernel<rows<te, e2m1x2, tiles_128x4>>({"15quantize_kernel", "2teE", "4bf16E"}, te{amax}, to_nearest{}, b,
                                                  s);
        row_kernel<rows<exact, e2m1x2>>({"15quantize_kernel", "5exactE"}, exact{amax}, to_nearest{}, x, s);
      }
      row_kernel<rows<te, e2m1x2>>({"15quantize_kernel", "2teE", "10stochastic"}, te{2.5f}, stochastic{77, 5}, x, s);
      row_kernel<rows<over, e2m1x2>>({"15quantize_kernel", "four_over_six"}, over{2.5f}, to_nearest{}, x, s);
    }
  }

  TEST_CASE("both copies through tiles, squares, groups") {
    for (shape const s : {shape{64, 64}, shape{70, 100}, shape{3, 33}}) {
      auto const x = input(s.rows * s.cols, 6);
      auto const b = narrowed<bf16>(x);
      for (unsigned block : {64u, 37u}) {
        using mx_rows = rows<rceil8, e4m3, tiles_128x4>;
        using mx_columns = columns<rceil8, e4m3, tiles_128x4>;
        run({"21quantize_tiles_kernel", "Lb0E", "5rceilE"}, rceil8{}, to_nearest{}, b, s, 2, block,
            room_of<mx_rows, rceil8>(s), room_of<mx_columns, rceil8>(s));
        run({"21quantize_tiles_kernel", "Lb0E", "10stochastic"}, te{2.0f}, stochastic{1, 2}, x, s, 2, block,
            room_of<rows<te, e2m1x2>, te>(s), room_of<transposed<te, e2m1x2>, te>(s));
        run<true>({"21quantize_tiles_kernel", "Lb1E"}, te{2.0f}, to_nearest{}, x, s, 2, block,
                  room_of<rows<te, e2m1x2>, te>(s), room_of<transposed<te, e2m1x2>, te>(s));
      }
    }
    uint64_t const cols = 50, offsets[] = {0, 33, 33, 97, 100}, groups = 4;
    auto const x = input(100 * cols, 7);
    using a = rows<rceil8, e4m3, tiles_128x4>;
    using b = columns<rceil8, e4m3, tiles_128x4>;
    storage<a> want_a(100 * cols, grouped_scales_size<rceil8, a::along, tiles_128x4>(offsets, groups, cols), 0xcd),
        got_a = want_a;
    storage<b> want_b(100 * cols, grouped_scales_size<rceil8, b::along, tiles_128x4>(offsets, groups, cols), 0xcd),
        got_b = want_b;
    quantize_groups(host(), rceil8{}, x.data(), offsets, groups, cols, want_a.copy(), want_b.copy());
    ptx::run(kernels().find({"27quantize_group_tiles_kernel"}), {3, 64, 1},
             ptx::arguments()
                 .add(rceil8{})
                 .add(to_nearest{})
                 .add(x.data())
                 .add(&offsets[0])
                 .add(groups)
                 .add(cols)
                 .add(got_a.copy())
                 .add(got_b.copy()));
    CHECK(got_a.values() == want_a.values());
    CHECK(got_b.values() == want_b.values());
  }

  // PTX instructions that are executed for an element of an aligned matrix; SASS has about as many.
  TEST_CASE("work for each element") {
    uint64_t const n_rows = 64, n_cols = 512;
    auto x = hard_floats(n_rows * n_cols, 1);
    auto const b = narrowed<bf16>(x);
    auto const count = [&]<class Recipe, class Rounding, class T, class... Copies>(
                           char const* what, double limit, names const& name, Recipe recipe, Rounding rounding,
                           std::vector<T> const& in, storage<Copies>... got) {
      ptx::arguments arguments;
      arguments.add(recipe).add(rounding).add(in.data()).add(n_rows).add(n_cols);
      (arguments.add(got.copy()), ...);
      double const each = static_cast<double>(ptx::run(kernels().find(name), {4, 256, 1}, arguments)) /
                          static_cast<double>(n_rows * n_cols);
      MESSAGE(std::string(what) << ": " << each);
      CHECK(each > 1);
      CHECK(each < limit);
    };
    shape const s{n_rows, n_cols};
    count("MXFP8 rceil, float", 35, {"15quantize_kernel", "5rceilE", "10to_nearestEf"}, rceil8{}, to_nearest{}, x,
          room_of<rows<rceil8>, rceil8>(s));
    count("MXFP8 rceil, bf16", 35, {"15quantize_kernel", "5rceilE", "4bf16E"}, rceil8{}, to_nearest{}, b,
          room_of<rows<rceil8>, rceil8>(s));
    count("MXFP4 rceil_te, float, packed, 128x4", 70, {"15quantize_kernel", "8rceil_te"}, rceil_te4{}, to_nearest{}, x,
          room_of<rows<rceil_te4, e2m1x2, tiles_128x4>, rceil_te4>(s));
    count("NVFP4 te, bf16, packed, 128x4", 50, {"15quantize_kernel", "2teE", "4bf16E"}, te{3.0f}, to_nearest{}, b,
          room_of<rows<te, e2m1x2, tiles_128x4>, te>(s));
    count("NVFP4 te, float, packed, stochastic", 150, {"15quantize_kernel", "2teE", "10stochastic"}, te{3.0f},
          stochastic{1, 2}, x, room_of<rows<te, e2m1x2>, te>(s));
    count("NVFP4 exact, float, packed", 200, {"15quantize_kernel", "5exactE"}, exact{3.0f}, to_nearest{}, x,
          room_of<rows<exact, e2m1x2>, exact>(s));
    using mx_rows = rows<rceil8, e4m3, tiles_128x4>;
    using mx_columns = columns<rceil8, e4m3, tiles_128x4>;
    count("MXFP8 rceil, bf16, both ways, 128x4", 90, {"21quantize_tiles_kernel", "Lb0E", "5rceilE"}, rceil8{},
          to_nearest{}, b, room_of<mx_rows, rceil8>(s), room_of<mx_columns, rceil8>(s));
    count("NVFP4 te, float, squares, both ways", 120, {"21quantize_tiles_kernel", "Lb1E"}, te{3.0f}, to_nearest{}, x,
          room_of<rows<te, e2m1x2>, te>(s), room_of<transposed<te, e2m1x2>, te>(s));
    auto copy = room_of<rows<rceil8>, rceil8>(s);
    quantize(host(), rceil8{}, x.data(), n_rows, n_cols, copy.copy());
    std::vector<float> out(n_rows * n_cols);
    double const each = static_cast<double>(ptx::run(
                            kernels().find({"17dequantize_kernel", "5rceilE"}), {4, 256, 1},
                            ptx::arguments().add(rceil8{}).add(copy.copy()).add(n_rows).add(n_cols).add(out.data()))) /
                        static_cast<double>(n_rows * n_cols);
    MESSAGE("back from MXFP8: " << each);
    CHECK(each < 40);
  }

  TEST_CASE("Hadamard transform and its amax") {
    uint64_t const runs = 70;
    auto const x = input(16 * runs, 9);
    std::vector<bf16> want(x.size());
    uint32_t const amax = hadamard<te>(host(), x.data(), 1, x.size(), want.data());
    for (unsigned block : {64u, 5u}) {
      guarded<bf16> out(x.size(), 0xcd);
      uint32_t most = 0;
      ptx::run(kernels().find({"15hadamard_kernel"}), {2, block, block},
               ptx::arguments().add(x.data()).add(runs).add(hadamard_signs).add(out.data()).add(&most));
      CHECK(bits_equal(out.values(), want));
      CHECK(out.guards_untouched());
      CHECK(most == amax);
    }
  }

  TEST_CASE("the largest magnitude: the host's bits, NaNs ignored or not") {
    auto const check = []<class Recipe>(names const& name, Recipe const*, auto const& x, uint64_t n,
                                        ptx::launch_config const& config) {
      std::vector<uint64_t> workspace(grid_workspace<uint32_t>::bytes(n) / 8 + 2, ~uint64_t{0});
      auto const address = (reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16;
      std::memset(reinterpret_cast<void*>(address), 0, 16);
      uint32_t most = 0xcdcdcdcdu;
      ptx::run(kernels().find(name), config, ptx::arguments().add(x.data()).add(n).add(&most).add(address).add('\0'));
      CAPTURE(n);
      CAPTURE(config.block);
      CHECK(most == amax<Recipe>(host(), x.data(), n));
      return most;
    };
    te const* const te_rule = nullptr;
    exact const* const exact_rule = nullptr;
    names const ignoring{"magnitude_of", "2teE", "contiguousIfE"}, keeping{"magnitude_of", "5exactE"},
        narrow{"magnitude_of", "2teE", "4bf16"};
    auto const wild = input(9000, 11); // an infinity, a NaN
    auto calm = wild;
    for (float& v : calm) v = from_bits<float>(to_bits(v) & 0xbfffffffu);
    std::vector<bf16> b(calm.size());
    for (size_t i = 0; i < b.size(); ++i) b[i].bits = static_cast<uint16_t>(to_bits(calm[i]) >> 16);
    unsigned grid = 0;
    for (unsigned width : {256u, 96u, 33u, 7u})
      for (uint64_t n : {0u, 1u, 5u, 1000u, 9000u}) {
        if (width < 32 && n > 1000) continue;
        ptx::launch_config const config{++grid % 4 + 1, width, grid};
        check(ignoring, te_rule, calm, n, config);
        check(ignoring, te_rule, wild, n, config);
        check(keeping, exact_rule, wild, n, config);
        check(narrow, te_rule, b, n, config);
      }
    for (uint64_t at : {0u, 1u, 4095u, 8998u}) { // each place counts: the largest, of either sign
      auto x = calm;
      x[at] = from_bits<float>(at % 2 == 0 ? 0x7f000000u : 0xff000000u);
      CHECK(check(ignoring, te_rule, x, 9000, {3, 256, at}) == 0x7f000000u);
      CHECK((check(ignoring, te_rule, x, 8998, {3, 256, at}) == 0x7f000000u) == (at < 8998));
    }
    // Control: the recipes' rules differ where there is a NaN.
    CHECK(check(ignoring, te_rule, wild, 9000, {3, 256, 1}) == 0x7f800000u);
    CHECK(check(keeping, exact_rule, wild, 9000, {3, 256, 1}) > 0x7f800000u);
  }

  TEST_CASE("back") {
    for (shape const s : {shape{9, 96}, shape{70, 33}, shape{5, 1}})
      for (unsigned block : {64u, 7u}) {
        auto const x = input(s.rows * s.cols, 8);
        back<rows<rceil8>>({"17dequantize_kernel", "5rceilE"}, rceil8{}, x, s, block);
        back<columns<te, e2m1x2>>({"17dequantize_kernel", "2teE"}, te{2.0f}, x, s, block);
        back<transposed<te, e2m1x2>>({"28dequantize_transposed_kernel", "2teE"}, te{2.0f}, x, s, block);
      }
  }
}
