// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row-wise and column-wise copies on the host, in every scale layout: the bytes of the row-wise form on the matrix or its
// transpose, in their places; padding zero; nothing else written.
#include <doctest/doctest.h>

#include "copies_reference.hpp"

namespace {

using namespace copies_reference;
using mxfp8_recipe = mxfp8<e4m3, mx::rceil>;
using mxfp4_recipe = mxfp4<mx::even, mx::te_nan_ignored>;
using te = nvfp4<nv::te>;
using over = nvfp4<nv::four_over_six<>>;
constexpr auto rows_along = orientation::row_wise;
constexpr auto columns_along = orientation::column_wise;
constexpr auto transposed = orientation::column_wise_transposed;

auto const reversed = [](uint64_t count, auto const& f) {
  for (uint64_t i = count; i-- > 0;) f(i);
};

template <class A, class B, class Recipe, class T>
void both(Recipe recipe, std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  CAPTURE(rows);
  CAPTURE(cols);
  auto const want_a = expected<A>(recipe, x, rows, cols);
  auto const want_b = expected<B>(recipe, x, rows, cols);
  for (uint8_t fill : {uint8_t(0x00), uint8_t(0xcd)}) {
    auto a = room<A, Recipe>(rows, cols, fill), alone = a;
    auto b = room<B, Recipe>(rows, cols, fill);
    quantize(host(), recipe, x.data(), rows, cols, a.copy(), b.copy());
    CHECK(a.values() == want_a);
    CHECK(b.values() == want_b);
    quantize(host(reversed), recipe, x.data(), rows, cols, alone.copy());
    CHECK(alone.values() == want_a);
    CHECK((a.guards_untouched() && b.guards_untouched() && alone.guards_untouched()));
    // And back.
    guarded<float> out(x.size(), fill);
    dequantize(host(), recipe, a.copy(), rows, cols, out.data());
    if (!x.empty()) CHECK(bits_equal(out.values(), meaning<A>(recipe, want_a, rows, cols)));
    dequantize(host(reversed), recipe, b.copy(), rows, cols, out.data());
    if (!x.empty()) CHECK(bits_equal(out.values(), meaning<B>(recipe, want_b, rows, cols)));
    CHECK(out.guards_untouched());
  }
}

std::vector<float> input(uint64_t n, unsigned seed) {
  auto x = hard_floats(n, seed);
  if (n > 40) {
    x[n / 2] = from_bits<float>(0x7f800000u);
    x[n - 3] = from_bits<float>(0xffc00001u);
  }
  return x;
}

TEST_CASE("MXFP8, MXFP4, NVFP4 in every direction and layout") {
  unsigned seed = 0;
  for (auto [rows, cols] : {std::pair<uint64_t, uint64_t>{0, 5},
                            {5, 0},
                            {1, 1},
                            {3, 33},
                            {33, 3},
                            {32, 64},
                            {64, 32},
                            {70, 100},
                            {129, 290},
                            {17, 515}}) {
    auto const x = input(rows * cols, ++seed);
    both<copy_in<rows_along, tiles_128x4, mxfp8_recipe>, copy_in<columns_along, linear_transposed, mxfp8_recipe>>(
        mxfp8_recipe{}, x, rows, cols);
    both<copy_in<rows_along, tiles_8x4, mxfp8_recipe>, copy_in<transposed, tiles_128x4, mxfp8_recipe>>(
        mxfp8_recipe{}, narrowed<bf16>(x), rows, cols);
    both<copy_in<rows_along, linear, mxfp4_recipe, true>, copy_in<columns_along, tiles_128x4, mxfp4_recipe, true>>(
        mxfp4_recipe{}, x, rows, cols);
    both<copy_in<transposed, tiles_8x4, mxfp4_recipe, true>, copy_in<rows_along, tiles_8x4, mxfp4_recipe>>(
        mxfp4_recipe{}, narrowed<f16>(x), rows, cols);
    both<copy_in<rows_along, tiles_128x4, te, true>, copy_in<transposed, tiles_128x4, te, true>>(te{3.0f}, x, rows,
                                                                                                 cols);
    both<copy_in<columns_along, linear, te>, copy_in<rows_along, linear, te, true>>(te{3.0f}, x, rows, cols);
    both<copy_in<rows_along, linear, over, true>, copy_in<transposed, linear, over, true>>(
        over{3.0f}, narrowed<bf16>(x), rows, cols);
    both<copy_in<rows_along, tiles_128x4, nvfp4<nv::exact>, true>, copy_in<transposed, tiles_8x4, nvfp4<nv::exact>>>(
        nvfp4<nv::exact>{3.0f}, x, rows, cols);
  }
}

TEST_CASE("negative control: another layout or direction has other bytes") {
  auto const x = input(70 * 100, 77);
  using a = copy_in<rows_along, tiles_128x4, mxfp8_recipe>;
  auto const want = expected<copy_in<rows_along, tiles_8x4, mxfp8_recipe>>(mxfp8_recipe{}, x, 70, 100);
  auto got = room<a, mxfp8_recipe>(70, 100, 0);
  quantize(host(), mxfp8_recipe{}, x.data(), 70, 100, got.copy());
  CHECK_FALSE(got.values().scales == want.scales);
  CHECK(got.values().codes == want.codes);
  CHECK_FALSE(got.values().codes ==
              expected<copy_in<columns_along, linear, mxfp8_recipe>>(mxfp8_recipe{}, x, 70, 100).codes);
}

TEST_CASE("stochastic rounding: indices of the matrix, two streams") {
  uint64_t const rows = 67, cols = 101;
  auto const x = hard_floats(rows * cols, 5);
  stochastic const rounding{12345, 7}, other{12345, 7 + column_wise_stream};
  using a = copy_in<rows_along, tiles_128x4, te, true>;
  using b = copy_in<transposed, linear, te>;
  te const recipe{2.0f};
  auto got_a = room<a, te>(rows, cols, 0xcd);
  auto got_b = room<b, te>(rows, cols, 0xcd), nearest = got_b;
  quantize(host(), recipe, rounding, x.data(), rows, cols, got_a.copy(), got_b.copy());
  quantize(host(), recipe, x.data(), rows, cols, nearest.copy());

  std::vector<e2m1> codes(x.size());
  std::vector<e4m3> scales(rows * blocks_per_row<te>(cols));
  quantize(host(), recipe, rounding, x.data(), rows, cols, codes.data(), scales.data());
  CHECK(got_a.values() == arranged<a>(codes, scales, rows, cols, 16));

  auto const columns = got_b.values();
  CHECK(columns.scales == nearest.values().scales);
  CHECK_FALSE(columns.codes == nearest.values().codes);
  uint64_t shared = 0;
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) {
      e4m3 const s{columns.scales[c * blocks_per_row<te>(rows) + r / 16]};
      auto const with = [&](stochastic q) { return recipe.encoder(s)(x[r * cols + c], q.bits(r * cols + c)).bits; };
      CHECK(columns.codes[c * rows + r] == with(other));
      shared += columns.codes[c * rows + r] == with(rounding);
    }
  CHECK(shared < rows * cols); // the row-wise stream would give other codes
}

TEST_CASE("squares: both copies hold the same numbers") {
  auto const check = [](auto recipe, uint64_t rows, uint64_t cols, auto const& x) {
    using recipe_type = decltype(recipe);
    constexpr bool packed = std::is_same_v<typename recipe_type::element, e2m1>;
    using a = copy_in<rows_along, tiles_128x4, recipe_type, packed>;
    using b = copy_in<transposed, tiles_8x4, recipe_type, packed>;
    using c = copy_in<columns_along, linear, recipe_type>;
    auto got_a = room<a, recipe_type>(rows, cols, 0xcd);
    auto got_b = room<b, recipe_type>(rows, cols, 0xcd);
    auto got_c = room<c, recipe_type>(rows, cols, 0xcd);
    quantize_square(host(reversed), recipe, x.data(), rows, cols, got_a.copy(), got_b.copy());
    quantize_square(host(), recipe, x.data(), rows, cols, got_c.copy());
    auto const numbers = meaning<a>(recipe, got_a.values(), rows, cols);
    CHECK(bits_equal(meaning<b>(recipe, got_b.values(), rows, cols), numbers));
    CHECK(bits_equal(meaning<c>(recipe, got_c.values(), rows, cols), numbers));
    std::vector<typename recipe_type::element> codes(x.size());
    std::vector<typename recipe_type::scale> scales(rows * blocks_per_row<recipe_type>(cols));
    quantize_square(host(), recipe, x.data(), rows, cols, codes.data(), scales.data());
    CHECK(got_a.values() == arranged<a>(codes, scales, rows, cols, recipe_type::block_size));
    CHECK((got_a.guards_untouched() && got_b.guards_untouched() && got_c.guards_untouched()));
  };
  for (auto [rows, cols] : {std::pair<uint64_t, uint64_t>{1, 1}, {16, 48}, {47, 33}, {130, 66}}) {
    auto const x = input(rows * cols, static_cast<unsigned>(rows));
    check(mxfp8_recipe{}, rows, cols, x);
    check(te{4.0f}, rows, cols, narrowed<bf16>(x));
    check(nvfp4<nv::exact_scale>{0.01f}, rows, cols, x);
  }
}

TEST_CASE("groups: each as a matrix of its own") {
  uint64_t const cols = 75;
  std::vector<uint64_t> const offsets{3, 3, 36, 37, 37, 165, 300, 300};
  auto const x = input(300 * cols, 9);
  auto const check = [&]<class A, class B, class Recipe>(A, B, Recipe recipe) {
    bytes want_a, want_b;
    for (size_t g = 0; g + 1 < offsets.size(); ++g) {
      uint64_t const n = offsets[g + 1] - offsets[g];
      std::vector<float> const part(x.begin() + static_cast<long>(offsets[g] * cols),
                                    x.begin() + static_cast<long>(offsets[g + 1] * cols));
      auto const add = [](bytes& all, bytes const& more) {
        all.codes.insert(all.codes.end(), more.codes.begin(), more.codes.end());
        all.scales.insert(all.scales.end(), more.scales.begin(), more.scales.end());
      };
      add(want_a, expected<A>(recipe, part, n, cols));
      add(want_b, expected<B>(recipe, part, n, cols));
    }
    uint64_t const groups = offsets.size() - 1;
    uint64_t const size_a = grouped_scales_size<Recipe, A::along, typename A::layout>(offsets.data(), groups, cols);
    uint64_t const size_b = grouped_scales_size<Recipe, B::along, typename B::layout>(offsets.data(), groups, cols);
    CHECK(size_a == want_a.scales.size());
    CHECK(size_b == want_b.scales.size());
    storage<A> a(want_a.codes.size(), size_a, 0xcd);
    storage<B> b(want_b.codes.size(), size_b, 0xcd);
    quantize_groups(host(), recipe, x.data(), offsets.data(), groups, cols, a.copy(), b.copy());
    CHECK(a.values() == want_a);
    CHECK(b.values() == want_b);
    CHECK((a.guards_untouched() && b.guards_untouched()));
  };
  check(copy_in<rows_along, tiles_128x4, mxfp8_recipe>{}, copy_in<columns_along, tiles_128x4, mxfp8_recipe>{},
        mxfp8_recipe{});
  check(copy_in<rows_along, tiles_8x4, te, true>{}, copy_in<transposed, tiles_128x4, te, true>{}, te{3.0f});
}

template <class F> std::string message(F const& f) {
  try {
    f();
  } catch (invalid_argument const& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("bad arguments are named, and nothing is written") {
  using a = copy_in<rows_along, tiles_128x4, mxfp8_recipe>;
  using b = copy_in<columns_along, linear, mxfp8_recipe>;
  std::vector<float> const x(64 * 96);
  auto sa = room<a, mxfp8_recipe>(64, 96, 0xcd);
  auto sb = room<b, mxfp8_recipe>(64, 96, 0xcd);
  auto const run = [&](float const* p, uint64_t rows, uint64_t cols, a ca, b cb) {
    auto const text = message([&] { quantize(host(), mxfp8_recipe{}, p, rows, cols, ca, cb); });
    CHECK(sa.untouched());
    CHECK(sb.untouched());
    return text;
  };
  auto const good_a = sa.copy(false);
  auto const good_b = sb.copy(false);
  auto const says = [](std::string const& text, char const* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  auto bad_a = good_a;
  auto bad_b = good_b;
  says(run(x.data(), 64, 95, good_a, good_b), "cols must be a multiple of 32");
  says(run(x.data(), 63, 96, good_a, good_b), "rows must be a multiple of 32");
  says(run(nullptr, 64, 96, good_a, good_b), "x must be non-null");
  says(run(reinterpret_cast<float const*>(reinterpret_cast<char const*>(x.data()) + 1), 32, 96, good_a, good_b),
       "x must be aligned to 4");
  bad_a.codes = nullptr;
  says(run(x.data(), 64, 96, bad_a, good_b), "row_wise.codes must be non-null");
  bad_b.scales = nullptr;
  says(run(x.data(), 64, 96, good_a, bad_b), "column_wise.scales must be non-null");
  bad_a = good_a, bad_b = good_b;
  bad_a.scales_size = 511;
  says(run(x.data(), 64, 96, bad_a, good_b), "row_wise.scales_size must be at least 512");
  bad_b.scales_size = 191;
  says(run(x.data(), 64, 96, good_a, bad_b), "column_wise.scales_size must be at least 192");
  bad_b = good_b;
  bad_b.codes = good_a.codes;
  says(run(x.data(), 64, 96, good_a, bad_b), "column_wise.codes must be disjoint from row_wise.codes");
  says(run(x.data(), uint64_t(1) << 40, uint64_t(1) << 30, good_a, good_b), "rows * cols must be at most");

  auto st = room<copy_in<rows_along, linear, nvfp4<nv::exact_scale>>, nvfp4<nv::exact_scale>>(64, 96, 0xcd);
  for (float t : {0.0f, -0.0f, -1.0f, from_bits<float>(0x7f800000u), from_bits<float>(0x7fc00000u)})
    says(message([&] { quantize(host(), nvfp4<nv::exact_scale>{t}, x.data(), 64, 96, st.copy()); }),
         "recipe.tensor_scale must be finite and positive");
  CHECK(st.untouched());

  std::vector<uint64_t> const wrong{0, 32, 31, 64};
  says(message([&] { quantize_groups(host(), mxfp8_recipe{}, x.data(), wrong.data(), 3, 96, good_a); }),
       "offsets must be in ascending order");
  says(message([&] { quantize_groups(host(), mxfp8_recipe{}, x.data(), nullptr, 3, 96, good_a); }),
       "offsets must be non-null");
  std::vector<uint64_t> const two{0, 32, 64};
  says(message([&] { quantize_groups(host(), mxfp8_recipe{}, x.data(), two.data(), 2, 96, good_a); }),
       "row_wise.scales_size must be at least 1024");
  CHECK(sa.untouched());
  // The good arguments are good.
  quantize(host(), mxfp8_recipe{}, x.data(), 64, 96, good_a, good_b);
  CHECK_FALSE(sa.untouched());
}

} // namespace
