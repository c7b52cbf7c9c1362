// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stochastic rounding: known answers of the generator, exactness, both neighbours, the probability itself, no bias, and the
// same bits for any geometry.
#include <doctest/doctest.h>

#include "quantize_reference.hpp"

#include <isobit/simt/launch.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <utility>

namespace {

using namespace quantize_reference;

constexpr bool same(philox_block a, philox_block b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
}

// Random123's kat_vectors, philox4x32 with 10 rounds.
static_assert(same(philox4x32_10({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
static_assert(same(philox4x32_10({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u), {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
static_assert(same(philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
                   {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));

// Which bits an element takes is part of the contract.
static_assert(stochastic{0, 0}.bits(0) == 0x6627e8d5 && stochastic{0, 0}.bits(1) == 0xe169c58d);
static_assert(stochastic{0, 0}.bits(2) == 0xbc57ac4c && stochastic{0, 0}.bits(3) == 0x9b00dbd8);
static_assert(stochastic{~uint64_t(0), ~uint64_t(0)}.bits(~uint64_t(0)) == philox4x32_10({{~0u, 0x3fffffff, ~0u, ~0u}},
                                                                                        ~0u, ~0u).word[3]);

uint32_t const corner_bits[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

template <class T> void representable_values_stay() {
  uint64_t wrong = 0;
  for (uint32_t c = 0; c < 2 * T::format.sign(); ++c) {
    T const x{static_cast<decltype(T::bits)>(c)};
    float const value = decode(x);
    for (uint32_t r : corner_bits) {
      uint32_t want = c;
      if (is_nan(value)) want = T::format.nan();
      else if (is_inf(value)) want = T::format.largest() | (c & T::format.sign());
      wrong += encode_stochastic<T>(value, r).bits != want;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("representable values are exact whatever the bits; infinities saturate") {
  representable_values_stay<e4m3>();
  representable_values_stay<e5m2>();
  representable_values_stay<e3m2>();
  representable_values_stay<e2m3>();
  representable_values_stay<e2m1>();
  representable_values_stay<bf16>();
}

// The probability of rounding away from zero is the number of r that do so over 2^32; the threshold is found by bisection.
template <class T> uint64_t threshold(float x, uint32_t low_code) {
  uint64_t a = 0, b = uint64_t(1) << 32; // r < a rounds up, r >= b does not
  while (a < b) {
    uint64_t const r = (a + b) / 2;
    if ((encode_stochastic<T>(x, static_cast<uint32_t>(r)).bits & T::format.magnitude()) > low_code)
      a = r + 1;
    else
      b = r;
  }
  return a;
}

template <class T> void probabilities() {
  std::mt19937 random(7);
  uint64_t wrong = 0;
  std::vector<double> value;
  for (uint32_t c = 0; c <= T::format.largest(); ++c) value.push_back(decode(T{static_cast<decltype(T::bits)>(c)}));
  for (int trial = 0; trial < 3000; ++trial) {
    uint32_t const c = random() % T::format.largest();
    float const x = static_cast<float>(value[c] + (value[c + 1] - value[c]) * (random() / 4294967296.0));
    if (double(x) <= value[c] || double(x) >= value[c + 1]) continue;
    double const fraction = (double(x) - value[c]) / (value[c + 1] - value[c]); // exact: the divisor is a power of two
    if (fraction < 0x1p-9) continue;
    wrong += double(threshold<T>(x, c)) != fraction * 4294967296.0;
    wrong += encode_stochastic<T>(-x, 0).bits != ((c + 1) | T::format.sign()); // the same of the magnitude
    wrong += encode_stochastic<T>(-x, 0xffffffff).bits != (c | T::format.sign());
  }
  CHECK(wrong == 0);
}

TEST_CASE("the probability is the distance, exactly") {
  probabilities<e4m3>();
  probabilities<e5m2>();
  probabilities<e2m1>();
  probabilities<bf16>();
}

TEST_CASE("tiny, huge and scaled numbers") {
  CHECK(encode_stochastic<e2m1>(from_bits<float>(1), 0).bits == 0); // a probability below 2^-32
  CHECK(encode_stochastic<e2m1>(0x1p-20f, 0).bits == 1);
  CHECK(threshold<e2m1>(0x1p-20f, 0) == uint64_t(1) << 13); // 2^-20 / 0.5 * 2^32
  CHECK(encode_stochastic<e2m1>(-0x1p-40f, 0xffffffff).bits == 8);
  CHECK(encode_stochastic<e2m1>(-0.0f, 0).bits == 8);
  for (uint32_t r : corner_bits) {
    CHECK(encode_stochastic<e2m1>(6.0001f, r).bits == 7);
    CHECK(encode_stochastic<e4m3>(-449.0f, r).bits == 0xfe);
    CHECK(encode_stochastic<e4m3>(3.0e38f, r).bits == 0x7e);
    CHECK(encode_stochastic<bf16>(from_bits<float>(0x7f7fffff), r).bits == 0x7f7f);
    CHECK(encode_stochastic<e5m2>(from_bits<float>(0xffc00000), r).bits == 0x7f);
    // x * 2^power, subnormal x too.
    CHECK(encode_stochastic<e4m3>(0x1.3p-130f, r, 130) == encode_stochastic<e4m3>(0x1.3p0f, r));
  }
}

// NVFP4's exact recipes: how many of the 2^32 random words round x up, against the quotient of integers. `unit`: what the code
// 1.0 means, times 21 where the recipe divides by it (so that it is a double exactly); x is multiplied by as much.
template <class Recipe> uint64_t exact_recipe_wrong(Recipe recipe, e4m3 s, double unit, double factor, unsigned seed) {
  std::mt19937 random(seed);
  uint64_t wrong = 0;
  auto const encoder = recipe.encoder(s);
  for (int trial = 0; trial < 60; ++trial) {
    float const x = static_cast<float>(random() * 0x1p-32 * 6.5 * unit / factor) * (trial % 3 == 0 ? 0x1p-7f : 1.0f);
    if (is_zero(x) || magnitude_bits(x) < 0x00800000) continue;
    uint32_t const below = encoder(x, 0xffffffff).bits;
    if (below == 7) {
      wrong += encoder(x, 0).bits != 7 || encoder(-x, 12345).bits != 15; // saturated
      continue;
    }
    uint64_t a = 0, b = uint64_t(1) << 32; // r < a rounds up, r >= b does not
    while (a < b) {
      uint64_t const r = (a + b) / 2;
      if (encoder(x, static_cast<uint32_t>(r)).bits > below)
        a = r + 1;
      else
        b = r;
    }
    // (x * factor - low * unit) / (gap * unit) * 2^32 within [a, a + 1), all integers times one power of two.
    double const low = decode(e2m1{uint8_t(below)}), gap = decode(e2m1{uint8_t(below + 1)}) - low;
    int const power = 80 - std::ilogb(unit);
    __extension__ typedef __int128 wide;
    auto const integer = [power](double v) { return static_cast<wide>(std::ldexp(v, power)); };
    wide const distance = integer(double(x) * factor) - integer(low * unit), step = integer(gap * unit);
    wrong += distance < 0 || distance >= step;
    wrong += (distance << 32) / step != static_cast<wide>(a);
    wrong += encoder(x, 0).bits != below + (a > 0) || encoder(-x, 0).bits != (encoder(x, 0).bits | 8);
  }
  return wrong;
}

TEST_CASE("the exact NVFP4 recipes: the probability is that of the real quotient") {
  uint64_t wrong = 0, control = 0;
  for (float t : {1.0f, 1.09375f, from_bits<float>(0x3f820000), from_bits<float>(0x3b124925), 2688.0f, 0x1.fffffep-20f})
    for (int k : {1, 2, 7, 8, 0x2b, 0x38, 0x39, 0x3b, 0x77, 0x7e}) {
      e4m3 const s{static_cast<uint8_t>(k)};
      double const unit = double(decode(s)) * double(t);
      wrong += exact_recipe_wrong(nvfp4<nv::exact_scale>{t}, s, unit, 1, unsigned(k));
      wrong += exact_recipe_wrong(nvfp4<nv::exact>{t}, s, unit, 2688, unsigned(k));
      control += exact_recipe_wrong(nvfp4<nv::te>{t}, s, unit, 2688, unsigned(k));
    }
  CHECK(wrong == 0);
  CHECK(control > 0); // float arithmetic has other probabilities
}

template <class Recipe> void exact_recipe_special_values(Recipe recipe) {
  float const infinity = from_bits<float>(0x7f800000), nan = from_bits<float>(0xffc00001);
  uint64_t wrong = 0;
  for (uint32_t r : corner_bits) {
    for (int k = 1; k < 0x7f; ++k) { // what is representable stays, when its value is a float
      auto const encoder = recipe.encoder(e4m3{uint8_t(k)});
      for (uint8_t c = 0; c < 16; ++c) {
        float const x = recipe.value_of(e2m1{c}, e4m3{uint8_t(k)});
        wrong += encoder(x, r).bits != c;
      }
      wrong += encoder(infinity, r).bits != 7 || encoder(-infinity, r).bits != 15 || encoder(3e38f, r).bits != 7;
      wrong += encoder(from_bits<float>(1), r).bits != 0 || encoder(from_bits<float>(0x80000001), r).bits != 8;
      wrong += encoder(nan, r).bits != 7;
    }
    wrong += recipe.encoder(e4m3{0})(1.0f, r).bits != 0 || recipe.encoder(e4m3{0})(-1.0f, r).bits != 8;
    wrong += recipe.encoder(e4m3{0x7f})(-1.0f, r).bits != 7;
  }
  CHECK(wrong == 0);
}

TEST_CASE("the exact NVFP4 recipes: representable, tiny, huge and special numbers, whatever the bits") {
  exact_recipe_special_values(nvfp4<nv::exact>{2688.0f});
  exact_recipe_special_values(nvfp4<nv::exact>{0x1p10f * 21});
  exact_recipe_special_values(nvfp4<nv::exact_scale>{1.0f});
  exact_recipe_special_values(nvfp4<nv::exact_scale>{from_bits<float>(0x3f820000)}); // 7 digits: all products are floats
}

template <class Recipe> double recipe_deviation(Recipe recipe, float x, e4m3 s, stochastic rounding) {
  int const n = 40000;
  auto const encoder = recipe.encoder(s);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(recipe.value_of(encoder(x, rounding.bits(uint64_t(i))), s));
  double const low = recipe.value_of(encoder(x, 0xffffffff), s), high = recipe.value_of(encoder(x, 0), s);
  return std::abs(sum / n - double(x)) / std::sqrt((double(x) - low) * (high - double(x)) / n);
}

TEST_CASE("the exact NVFP4 recipes: unbiased") {
  nvfp4<nv::exact> const recipe{3.7f};
  for (uint64_t stream : {0, 1, 99}) {
    CHECK(recipe_deviation(recipe, 0.2934f, e4m3{0x70}, {5, stream}) < 6);
    CHECK(recipe_deviation(recipe, -0.001f, e4m3{0x70}, {5, stream}) < 6);
    CHECK(recipe_deviation(nvfp4<nv::exact_scale>{0.37f}, 4.3f, e4m3{0x41}, {5, stream}) < 6);
  }
}

// The mean of many roundings is the number, within six standard deviations; a biased rounding is not.
template <class T, class Bits> double deviation(float x, Bits const& bits) {
  int const n = 40000;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double(decode(encode_stochastic<T>(x, bits(uint64_t(i)))));
  double const low = decode(encode_stochastic<T>(x, 0xffffffff)), high = decode(encode_stochastic<T>(x, 0));
  double const sigma = std::sqrt((double(x) - low) * (high - double(x)) / n);
  return std::abs(sum / n - double(x)) / sigma;
}

TEST_CASE("unbiased, for every stream; a skewed source is found out") {
  for (uint64_t stream : {0, 1, 99}) {
    stochastic const rounding{1234, stream};
    auto const bits = [&](uint64_t i) { return rounding.bits(i); };
    CHECK(deviation<e2m1>(0.3f, bits) < 6);
    CHECK(deviation<e2m1>(-4.2f, bits) < 6);
    CHECK(deviation<e4m3>(17.3f, bits) < 6);
    CHECK(deviation<e5m2>(0x1.23p-15f, bits) < 6);
    CHECK(deviation<bf16>(1.0009f, bits) < 6);
    auto const eight_bits_low = [&](uint64_t i) { return rounding.bits(i) >> 8; }; // a source that is never large
    CHECK(deviation<e2m1>(0.3f, eight_bits_low) > 6);
  }
}

using recipe = mxfp4<mx::rceil_te, mx::te_nan_ignored>;

template <class Recipe> struct quantised {
  std::vector<typename Recipe::element> codes;
  std::vector<typename Recipe::scale> scales;
  auto outputs() const { return std::pair(codes, scales); }
};

template <class Recipe>
quantised<Recipe> on_host(Recipe r, stochastic rounding, std::vector<float> const& x, uint64_t rows, uint64_t cols,
                          uint64_t grain = 1000) {
  quantised<Recipe> out{std::vector<typename Recipe::element>(x.size()),
                        std::vector<typename Recipe::scale>(rows * blocks_per_row<Recipe>(cols))};
  auto const backwards = [](uint64_t count, auto const& f) {
    for (uint64_t i = count; i-- > 0;) f(i);
  };
  quantize(host(backwards, grain), r, rounding, x.data(), rows, cols, out.codes.data(), out.scales.data());
  return out;
}

// Tiles of P lanes in any launch.
template <int P, class Recipe>
ISOBIT_KERNEL void stochastic_kernel(float const* x, uint64_t cols, uint64_t blocks, Recipe r, stochastic rounding,
                                     typename Recipe::element* codes, typename Recipe::scale* scales) {
  tile<P> const lanes;
  uint64_t const per_row = blocks_per_row<Recipe>(cols), tiles = machine::block_threads() / P;
  for (uint64_t b = machine::block_rank() * tiles + lanes.tile_rank(); b < blocks; b += machine::grid_blocks() * tiles) {
    uint64_t const row = b / per_row, column = b % per_row * Recipe::block_size, first = row * cols + column;
    uint32_t const n = static_cast<uint32_t>(cols - column < Recipe::block_size ? cols - column : Recipe::block_size);
    auto const s = quantize_block(
        lanes, r, rounding, first, n, [=](uint32_t i) { return x[first + i]; },
        [=](uint32_t i, typename Recipe::element code) { codes[first + i] = code; });
    if (lanes.thread_rank() == 0) scales[b] = s;
  }
}

template <int P, class Recipe> void geometry(Recipe r, uint32_t grid, uint32_t width) {
  uint64_t const rows = 5, cols = 75;
  auto x = hard_floats(rows * cols, 17);
  x[40] = from_bits<float>(0x7fc00000);
  stochastic const rounding{42, 7};
  auto const want = on_host(r, rounding, x, rows, cols);
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        quantised<Recipe> got{std::vector<typename Recipe::element>(x.size()),
                              std::vector<typename Recipe::scale>(want.scales.size())};
        simt::launch(c, stochastic_kernel<P, Recipe>, x.data(), cols, uint64_t(want.scales.size()), r, rounding,
                     got.codes.data(), got.scales.data());
        return got.outputs();
      },
      [&] { return want.outputs(); }, {.blocks = {width}, .grids = {grid}, .schedules = 3, .seed = width}));
}

TEST_CASE("the same bits for any tile, block, grid and executor; packed too") {
  geometry<1>(recipe{}, 1, 1);
  geometry<1>(recipe{}, 3, 37);
  geometry<4>(recipe{}, 2, 64);
  geometry<8>(recipe{}, 1, 40);
  geometry<32>(recipe{}, 4, 96);
  geometry<8>(nvfp4<nv::te>{3.0f}, 2, 64);
  geometry<8>(nvfp4<nv::exact>{3.0f}, 2, 64);
  geometry<4>(nvfp4<nv::exact_scale>{0.37f}, 3, 32);
  geometry<16>(mxfp8<e5m2, mx::floor>{}, 2, 48);

  uint64_t const rows = 5, cols = 75;
  auto const x = hard_floats(rows * cols, 18);
  stochastic const rounding{42, 7};
  auto const want = on_host(recipe{}, rounding, x, rows, cols);
  for (uint64_t grain : {1, 50, 100000})
    CHECK(bits_equal(on_host(recipe{}, rounding, x, rows, cols, grain).outputs(), want.outputs()));
  std::vector<e2m1x2> packed(rows * packed_per_row(cols));
  std::vector<e8m0> scales(want.scales.size());
  quantize(host(), recipe{}, rounding, x.data(), rows, cols, packed.data(), scales.data());
  uint64_t wrong = 0;
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) {
      e2m1x2 const both = packed[r * packed_per_row(cols) + c / 2];
      wrong += (c % 2 ? both.odd() : both.even()) != want.codes[r * cols + c];
    }
  CHECK(wrong == 0);
}

TEST_CASE("another stream, seed or place gives other codes with the same scales") {
  uint64_t const rows = 4, cols = 96;
  auto const x = hard_floats(rows * cols, 19);
  auto const a = on_host(recipe{}, {42, 7}, x, rows, cols);
  for (stochastic other : {stochastic{42, 8}, stochastic{43, 7}, stochastic{42 + (uint64_t(1) << 32), 7},
                           stochastic{42, 7 + (uint64_t(1) << 32)}}) {
    auto const b = on_host(recipe{}, other, x, rows, cols);
    CHECK_FALSE(bits_equal(a.codes, b.codes));
    CHECK(bits_equal(a.scales, b.scales));
  }
  CHECK(bits_equal(on_host(recipe{}, {42, 7}, x, rows, cols).outputs(), a.outputs()));
  // Every code is one of the two neighbours of x / s.
  uint64_t wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    e8m0 const s = a.scales[i / 32];
    e2m1 const down = encode_stochastic<e2m1>(x[i], 0xffffffff, 127 - s.bits);
    e2m1 const up = encode_stochastic<e2m1>(x[i], 0, 127 - s.bits);
    wrong += a.codes[i] != down && a.codes[i] != up;
  }
  CHECK(wrong == 0);
}

} // namespace
