// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The NVFP4 recipes: outside blocks, witnesses that tell recipes apart, an exact reference, degenerate blocks, kernels.
#include <doctest/doctest.h>

#include "../golden/nvfp4_te.hpp"
#include "quantize_reference.hpp"

#include <isobit/simt/launch.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <string>
#include <tuple>

namespace {

using namespace isobit;
using te = nvfp4<nv::te>;
using exact = nvfp4<nv::exact>;
using exact_scale = nvfp4<nv::exact_scale>;
static_assert(quantize_recipe<te> && quantize_recipe<exact> && quantize_recipe<exact_scale>);
static_assert(stochastic_recipe<te> && stochastic_recipe<exact> && stochastic_recipe<exact_scale>);

// In constant expressions too.
static_assert(exact{2688.0f}.scale_of(to_bits(6.0f)).bits == 0x38);
static_assert(exact{2688.0f}.code_of(2.5f, e4m3{0x38}).bits == 4);
static_assert(te{2688.0f}.scale_of(to_bits(6.0f)).bits == 0x38);
static_assert(exact{2688.0f}.value_of(e2m1{7}, e4m3{0x38}) == 6.0f);
static_assert(te{2688.0f}.value_of(e2m1{0xf}, e4m3{0x38}) == -6.0f);

std::string hex(std::vector<e2m1x2> const& bytes) {
  static char const digits[] = "0123456789abcdef";
  std::string s;
  for (auto b : bytes) s += {digits[b.bits >> 4], digits[b.bits & 15]};
  return s;
}

template <class Recipe> struct result {
  std::vector<e2m1x2> codes;
  e4m3 scale;
};
template <class Recipe> result<Recipe> block(Recipe recipe, float const* x, uint32_t n = 16) {
  result<Recipe> r{std::vector<e2m1x2>(packed_per_row(n)), {}};
  quantize(host(), recipe, x, 1, n, r.codes.data(), &r.scale);
  return r;
}

TEST_CASE("te: the outside blocks, scale, factor and codes") {
  for (auto const& g : golden::nvfp4_te_blocks) {
    CAPTURE(g.name);
    te const recipe{from_bits<float>(g.amax)};
    CHECK(to_bits(recipe.encode_scale()) == g.encode_scale);
    auto const got = block(recipe, g.x);
    CHECK(got.scale.bits == g.scale);
    CHECK(to_bits(recipe.encoder(got.scale).factor) == g.factor);
    CHECK(hex(got.codes) == g.codes);
    // One element at a time, and by a block of registers.
    e2m1 codes[16];
    CHECK(quantize_block(thread{}, recipe, g.x, codes) == got.scale);
    int wrong = 0;
    for (int i = 0; i < 16; ++i) {
      e2m1 const packed = i % 2 == 0 ? got.codes[i / 2].even() : got.codes[i / 2].odd();
      wrong += codes[i] != packed || recipe.code_of(g.x[i], got.scale) != packed;
    }
    CHECK(wrong == 0);
  }
  // The subnormal block's scale of the tensor has a subnormal reciprocal, which flushing would lose.
  te const tiny{from_bits<float>(0x00571cbf)};
  CHECK(to_bits(isobit::div(1.0f, tiny.encode_scale())) == 0x00200000);
}

#if defined(__SSE2__)
TEST_CASE("te: flush-to-zero at entry changes nothing; plain arithmetic under it does") {
  auto const& g = golden::nvfp4_te_blocks[6];
  te const recipe{from_bits<float>(g.amax)};
  unsigned const before = __builtin_ia32_stmxcsr();
  for (unsigned mode : {0x9fc0u, 0x7f80u, 0x5f80u}) {
    __builtin_ia32_ldmxcsr(mode);
    auto const got = block(recipe, g.x);
    __builtin_ia32_ldmxcsr(before);
    CHECK(got.scale.bits == g.scale);
    CHECK(hex(got.codes) == g.codes);
  }
  e2m1 codes[16];
  __builtin_ia32_ldmxcsr(0x9fc0u);
  e4m3 const flushed = quantize_block(thread{}, recipe, g.x, codes); // no guard: the control
  __builtin_ia32_ldmxcsr(before);
  CHECK(flushed.bits != g.scale);
}
#endif

// The recipes that libraries use, as their sources have them.
uint8_t by_divided_sixth(float b, float g) { // RN(RN(b / 6) * S)
  return encode<e4m3, overflow::saturate>(mul(isobit::div(b, 6.0f), te{g}.encode_scale())).bits;
}
uint8_t torchao(float b, float g) { // RN(RN(b / 6) / RN(g / 2688))
  return encode<e4m3, overflow::saturate>(isobit::div(isobit::div(b, 6.0f), isobit::div(g, 2688.0f))).bits;
}

TEST_CASE("witnesses: block scales that tell te, exact and others apart") {
  float const g = from_bits<float>(0x3f820000);
  struct row {
    float factor;
    int te_scale, exact_scale;
  };
  for (row const& r : {row{1.0f, 0x7b, 0x7a}, row{0.5f, 0x73, 0x72}, row{0.25f, 0x6b, 0x6a}}) {
    float const b = from_bits<float>(0x3f430000) * r.factor;
    CHECK(te{g}.scale_of(to_bits(b)).bits == r.te_scale);
    CHECK(exact{g}.scale_of(to_bits(b)).bits == r.exact_scale);
    CHECK(by_divided_sixth(b, g) == r.exact_scale);
    CHECK(torchao(b, g) == r.exact_scale);
  }
  CHECK(exact{1.09375f}.scale_of(to_bits(0.9765625f)).bits == 0x7c);
  CHECK(torchao(0.9765625f, 1.09375f) == 0x7d);
  CHECK(by_divided_sixth(0.9765625f, 1.09375f) == 0x7d);
}

TEST_CASE("all bfloat16 pairs of nine binades: te differs from exact 189 times, each time at a tie") {
  uint32_t te_differs = 0, divided_differs = 0, torchao_differs = 0, pairs = 0, exact_wrong = 0;
  for (uint32_t gm = 0; gm < 128; ++gm) {
    float const g = from_bits<float>(0x3f800000 + (gm << 16));
    for (uint32_t e = 0; e < 9; ++e)
      for (uint32_t bm = 0; bm < 128; ++bm) {
        float const b = from_bits<float>(((126 - e) << 23) + (bm << 16));
        ++pairs;
        int const want = exact{g}.scale_of(to_bits(b)).bits;
        // 448 b and g times a midpoint are exact in double.
        double const lhs = 448.0 * double(b);
        double const down = want == 0 ? 0 : (double(decode(e4m3{uint8_t(want - 1)})) + decode(e4m3{uint8_t(want)})) / 2;
        double const up = want == 0x7e ? 1e9 : (double(decode(e4m3{uint8_t(want + 1)})) + decode(e4m3{uint8_t(want)})) / 2;
        bool const tie = lhs == down * g || lhs == up * g;
        exact_wrong += lhs < down * g || lhs > up * g || (tie && want % 2 == 1);
        int const other = te{g}.scale_of(to_bits(b)).bits;
        te_differs += other != want;
        exact_wrong += other != want && !tie;
        divided_differs += by_divided_sixth(b, g) != want;
        torchao_differs += torchao(b, g) != want;
      }
  }
  CHECK(pairs == 147456);
  CHECK(exact_wrong == 0);
  CHECK(te_differs == 189);
  CHECK(divided_differs == 45);
  CHECK(torchao_differs == 45);
}

TEST_CASE("reported: one level of scales, a reciprocal instead of a division") {
  e4m3 const s{0x07};
  float const x = 0x1.87fffep-6f; // 0.02392577938735485
  exact_scale const recipe{1.0f};
  CHECK(recipe.code_of(x, s).bits == 3);
  float const r = isobit::div(1.0f, decode(s));
  CHECK(encode<e2m1>(mul(x, r)).bits == 4); // the control
  float const ties[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  int const codes[] = {0, 2, 2, 4, 4, 6, 6};
  for (int i = 0; i < 7; ++i) {
    CHECK(recipe.code_of(ties[i], e4m3{0x38}).bits == codes[i]);
    CHECK(recipe.code_of(-ties[i], e4m3{0x38}).bits == (codes[i] | 8));
  }
}

// The code of x by rationals: x * den against midpoint * scale * num, both exact in double.
uint8_t reference_code(float x, double unit) { // unit = scale of the block times the tensor's, an exact double
  double const magnitude = std::abs(double(x));
  double const value[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  uint8_t c = 0;
  while (c < 7) {
    double const limit = (value[c] + value[c + 1]) / 2 * unit;
    if (magnitude < limit || (magnitude == limit && c % 2 == 0)) break;
    ++c;
  }
  return static_cast<uint8_t>(c | (std::signbit(x) ? 8 : 0));
}

TEST_CASE("every finite scale, every midpoint and its neighbours: the exact rational answer") {
  uint64_t wrong = 0, checked = 0, te_differs = 0;
  for (float t : {1.0f, 1.09375f, from_bits<float>(0x3f820000), from_bits<float>(0x3b124925), 0x1.fffffep-20f, 2688.0f})
    for (int k = 1; k < 0x7f; ++k) {
      e4m3 const s{static_cast<uint8_t>(k)};
      double const single = double(decode(s)) * double(t); // 4 + 24 digits
      for (int c = 0; c < 7; ++c) {
        double const middle = (double(decode(e2m1{uint8_t(c)})) + double(decode(e2m1{uint8_t(c + 1)}))) / 2;
        for (int d = -2; d <= 2; ++d)
          for (int negative = 0; negative < 2; ++negative) {
            auto const near = [&](double x) {
              float const y = from_bits<float>(to_bits(static_cast<float>(x)) + d);
              return negative ? -y : y;
            };
            float x = near(middle * single);
            wrong += exact_scale{t}.code_of(x, s).bits != reference_code(x, single);
            // With the tensor's amax t: 2688 x against scale * t * midpoint.
            x = near(middle * single / 2688);
            double const magnitude = std::abs(double(x)) * 2688; // exact
            uint8_t want = 0;
            while (want < 7) {
              double const m = (double(decode(e2m1{want})) + double(decode(e2m1{uint8_t(want + 1)}))) / 2 * single;
              if (magnitude < m || (magnitude == m && want % 2 == 0)) break;
              ++want;
            }
            wrong += exact{t}.code_of(x, s).bits != (want | (negative ? 8 : 0));
            te_differs += te{t}.code_of(x, s).bits != (want | (negative ? 8 : 0));
            checked += 2;
          }
      }
    }
  CHECK(wrong == 0);
  CHECK(checked == 2 * 6 * 126 * 7 * 10);
  CHECK(te_differs > 0); // float arithmetic is another recipe
}

TEST_CASE("exact: values are rounded once, and quantise to their own codes under the same scale") {
  uint64_t wrong = 0, changed = 0;
  for (uint32_t bits : {0x3f800000u, 0x3f820000u, 0x3b124925u, 0x45280000u, 0x7f7fffffu, 0x01234567u, 0x00571cbfu, 1u}) {
    float const t = from_bits<float>(bits);
    for (int k = 0; k < 0x7f; ++k)
      for (int c = 0; c < 16; ++c) {
        e4m3 const s{static_cast<uint8_t>(k)};
        e2m1 const code{static_cast<uint8_t>(c)};
        // In long double (64 digits) the product is exact; the division is not, but no quotient by 21 lies near a midpoint
        // of floats closer than 2^-62 of itself without being one.
        long double const product = static_cast<long double>(decode(code)) * decode(s) * t;
        wrong += to_bits(exact_scale{t}.value_of(code, s)) != to_bits(static_cast<float>(product));
        float const want = static_cast<float>(product / 2688.0L);
        float const got = exact{t}.value_of(code, s);
        wrong += to_bits(got) != to_bits(want);
        if (bits > 0x10000000 && k > 0) {
          changed += exact{t}.code_of(got, s) != code;
          if (!is_inf(exact_scale{t}.value_of(code, s)))
            changed += exact_scale{t}.code_of(exact_scale{t}.value_of(code, s), s) != code;
        }
      }
  }
  CHECK(wrong == 0);
  CHECK(changed == 0);
}

TEST_CASE("MXFP4 to NVFP4 without loss, for a power of two as the tensor's scale") {
  using mxfp4_floor = mxfp4<mx::floor>;
  auto const x = quantize_reference::hard_floats(32, 77);
  e2m1 codes[32], again[32];
  e8m0 s;
  quantize(host(), mxfp4_floor{}, x.data(), 1, 32, codes, &s);
  float values[32], back[32];
  dequantize(host(), mxfp4_floor{}, codes, &s, 1, 32, values);
  exact_scale const recipe{decode(s)};
  e4m3 const one[2] = {{0x38}, {0x38}};
  for (int i = 0; i < 32; ++i) again[i] = recipe.code_of(values[i], one[0]);
  CHECK(testing::bits_equal(codes, again));
  dequantize(host(), recipe, again, one, 1, 32, back);
  CHECK(testing::bits_equal(values, back));
}

template <class Recipe> void degenerate(bool block_of_nan) {
  float const infinity = from_bits<float>(0x7f800000), nan = from_bits<float>(0xffc00001);
  float x[16] = {};
  float back[16];
  // A block of zeros in a tensor of amax 1, and in a tensor of zeros.
  for (float amax : {1.0f, 0.0f}) {
    x[3] = -0.0f;
    auto const r = block(Recipe{amax}, x);
    CHECK(r.scale.bits == 0);
    CHECK(hex(r.codes) == "0080000000000000");
    dequantize(host(), Recipe{amax}, r.codes.data(), &r.scale, 1, 16, back);
    for (int i = 0; i < 16; ++i) CHECK(is_zero(back[i]));
  }
  // Tensor amax 2688, block amax 0.005: the scale is 0 and the block reads back as zeros.
  for (int i = 0; i < 16; ++i) x[i] = i % 2 ? 0.005f : -0.004f;
  auto const tiny = block(Recipe{2688.0f}, x);
  CHECK(tiny.scale.bits == 0);
  dequantize(host(), Recipe{2688.0f}, tiny.codes.data(), &tiny.scale, 1, 16, back);
  for (int i = 0; i < 16; ++i) CHECK(is_zero(back[i]));
  // No scale is NaN unless a number is not finite; a block far above the tensor's amax saturates.
  for (uint32_t amax = 0; amax < 0x7f800000u; amax += 65537)
    if (Recipe{1.0f}.scale_of(amax).bits > 0x7e) FAIL("scale is NaN for a finite block");
  CHECK(Recipe{1.0f}.scale_of(0x7f7fffff).bits == 0x7e);
  for (int i = 0; i < 16; ++i)
    for (float special : {infinity, -infinity, nan}) {
      for (float& v : x) v = 1.0f;
      int const usual = block(Recipe{6.0f}, x).scale.bits;
      x[i] = special;
      auto const r = block(Recipe{6.0f}, x);
      e2m1 const code = i % 2 ? r.codes[i / 2].odd() : r.codes[i / 2].even();
      dequantize(host(), Recipe{6.0f}, r.codes.data(), &r.scale, 1, 16, back);
      if (block_of_nan) {
        CHECK(r.scale.bits == 0x7f);
        for (float v : back) CHECK(to_bits(v) == 0x7fc00000u);
      } else {
        CHECK(r.scale.bits == (is_nan(special) ? usual : 0x7e));
        CHECK(code.bits == (is_nan(special) || special > 0 ? 7 : 0xf));
        for (float v : back) CHECK(is_finite(v));
      }
    }
}

TEST_CASE("reported: zero, tiny and infinite blocks") {
  degenerate<te>(false);
  degenerate<exact>(true);
}

TEST_CASE("bad tensor scales and arrays are named; nothing is written") {
  float x[32] = {};
  quantize_reference::guarded<e2m1x2> codes(16, 0x5a);
  quantize_reference::guarded<e4m3> scales(2, 0x5a);
  auto const message = [&](auto recipe) -> std::string {
    try {
      quantize(host(), recipe, x, 2, 16, codes.data(), scales.data());
    } catch (invalid_argument const& e) {
      return e.what();
    }
    return "accepted";
  };
  float const infinity = from_bits<float>(0x7f800000), nan = from_bits<float>(0x7fc00000);
  for (float bad : {-1.0f, -0.0f, infinity, nan}) {
    CHECK(message(te{bad}) == "isobit::quantize: recipe.tensor_amax must be finite and not negative");
    CHECK(message(exact{bad}) == "isobit::quantize: recipe.tensor_amax must be finite and not negative");
    CHECK(message(exact_scale{bad}) == "isobit::quantize: recipe.tensor_scale must be finite and positive");
  }
  CHECK(message(exact_scale{0.0f}) == "isobit::quantize: recipe.tensor_scale must be finite and positive");
  float out[32];
  CHECK_THROWS_AS(dequantize(host(), te{-1.0f}, codes.data(), scales.data(), 2, 16, out), invalid_argument);
  CHECK((codes.untouched() && scales.untouched()));
}

TEST_CASE("matrices of every shape: rows of blocks, ragged ends, any executor") {
  for (uint64_t cols : {1, 15, 16, 17, 33, 48}) {
    uint64_t const rows = 4, per_row = blocks_per_row<exact>(cols);
    CHECK(per_row == (cols + 15) / 16);
    auto const x = quantize_reference::hard_floats(rows * cols, 5 + unsigned(cols));
    float const g = from_bits<float>(amax<exact>(host(), x.data(), x.size()));
    auto const check = [&](auto recipe) {
      quantize_reference::guarded<e2m1> codes(rows * cols, 0xa5);
      quantize_reference::guarded<e4m3> scales(rows * per_row, 0xa5);
      auto const backwards = [](uint64_t count, auto const& f) {
        for (uint64_t i = count; i-- > 0;) f(i);
      };
      quantize(host(backwards, 16), recipe, x.data(), rows, cols, codes.data(), scales.data());
      uint64_t wrong = 0;
      auto const got = codes.values();
      auto const s = scales.values();
      for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t b = 0; b < per_row; ++b) {
          uint32_t largest = 0;
          for (uint64_t c = 16 * b; c < cols && c < 16 * b + 16; ++c)
            largest = std::max(largest, magnitude_bits(x[r * cols + c]));
          wrong += recipe.scale_of(largest) != s[r * per_row + b];
          for (uint64_t c = 16 * b; c < cols && c < 16 * b + 16; ++c)
            wrong += recipe.code_of(x[r * cols + c], s[r * per_row + b]) != got[r * cols + c];
        }
      CHECK(wrong == 0);
      CHECK((codes.guards_untouched() && scales.guards_untouched()));
    };
    check(te{g});
    check(exact{g});
    check(exact_scale{0.37f});
  }
}

// The amax of a tensor and its blocks, in somebody's kernel.
template <class Recipe>
ISOBIT_KERNEL void nvfp4_kernel(float const* x, uint32_t blocks, Recipe recipe, e2m1x2* codes, e4m3* scales,
                                uint32_t* largest) {
  tile<8> const lanes;
  uint32_t const found = amax<Recipe>(lanes, 16 * blocks, [=](uint32_t i) { return x[i]; });
  if (machine::block_rank() == 0 && machine::thread_rank() == 0) *largest = found;
  uint32_t const tiles = machine::block_threads() / 8;
  uint32_t const step = static_cast<uint32_t>(machine::grid_blocks()) * tiles;
  for (uint32_t b = static_cast<uint32_t>(machine::block_rank()) * tiles + lanes.tile_rank(); b < blocks; b += step) {
    uint32_t const mine = 16 * b + 2 * lanes.thread_rank();
    float const values[2] = {x[mine], x[mine + 1]};
    e2m1 out[2];
    e4m3 const scale = quantize_block(lanes, recipe, values, out);
    codes[mine / 2] = pack(out[0], out[1]);
    if (lanes.thread_rank() == 0) scales[b] = scale;
  }
}

template <class Recipe> void kernel_equals_host() {
  uint32_t const blocks = 37;
  auto const x = quantize_reference::hard_floats(16 * blocks, 21);
  uint32_t const g = amax<Recipe>(host(), x.data(), x.size());
  Recipe const recipe{from_bits<float>(g)};
  std::vector<e2m1x2> want(8 * blocks);
  std::vector<e4m3> want_scales(blocks);
  quantize(host(), recipe, x.data(), 1, x.size(), want.data(), want_scales.data());
  struct geometry {
    uint32_t grid, block;
  };
  for (auto const [grid, width] : {geometry{1, 8}, geometry{3, 40}, geometry{2, 256}, geometry{5, 16}})
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          std::vector<e2m1x2> codes(want.size());
          std::vector<e4m3> scales(blocks);
          uint32_t largest = 0;
          simt::launch(c, nvfp4_kernel<Recipe>, x.data(), blocks, recipe, codes.data(), scales.data(), &largest);
          return std::tuple(codes, scales, largest);
        },
        [&] { return std::tuple(want, want_scales, g); },
        {.blocks = {width}, .grids = {grid}, .schedules = 3, .seed = width}));
}

TEST_CASE("inside a kernel, by tiles: the host's bytes and the host's maximum") {
  kernel_equals_host<te>();
  kernel_equals_host<exact>();
}

TEST_CASE("amax: order-free, NaN by the recipe's rule") {
  auto x = quantize_reference::hard_floats(1000, 4);
  uint32_t const all = amax<exact>(host(), x.data(), x.size());
  for (size_t cut : {size_t(1), size_t(500), size_t(999)}) {
    uint32_t const left = amax<exact>(host(), x.data(), cut), right = amax<exact>(host(), x.data() + cut, x.size() - cut);
    CHECK(larger_magnitude{}(left, right) == all);
  }
  CHECK(amax<exact>(host(), x.data(), 0) == 0);
  CHECK(amax<exact>(thread{}, 1000, [&](int i) { return x[i]; }) == all);
  x[123] = from_bits<float>(0xffc00001);
  CHECK(amax<te>(host(), x.data(), x.size()) == all);
  CHECK(amax<exact>(host(), x.data(), x.size()) > 0x7f800000);
  CHECK_THROWS_AS(amax<te>(host(), static_cast<float const*>(nullptr), 3), invalid_argument);
}

template <class Error, int Largest> using over = nvfp4<nv::four_over_six<Error, Largest>>;
using over_absolute = over<nv::absolute_error, 256>;
using over_square = over<nv::square_error, 448>;
static_assert(quantize_recipe<over_absolute> && stochastic_recipe<over_square>);

TEST_CASE("four over six: blocks whose better scale is plain") {
  over_absolute const recipe{1536.0f}; // S = 1
  CHECK(recipe.encode_scale() == 1.0f);
  CHECK(recipe.scale_of(to_bits(6.0f)).bits == 0x38);
  CHECK(recipe.scale4_of(to_bits(6.0f)).bits == 0x3c); // 1.5
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 6.0f : -4.5f; // 4 and 3 times 1.5
  auto r = block(recipe, x);
  CHECK(r.scale.bits == 0x3c);
  CHECK(hex(r.codes) == "d6dddddddddddddd");
  for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 6.0f : 2.0f;
  r = block(recipe, x);
  CHECK(r.scale.bits == 0x38);
  CHECK(hex(r.codes) == "4744444444444444");
  for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 6.0f : 3.0f; // no error either way: six
  CHECK(block(recipe, x).scale.bits == 0x38);
  CHECK(block(over<nv::square_error, 256>{1536.0f}, x).scale.bits == 0x38);
  // 448 leaves no room above: the scale of 4 saturates, and code 4 would mean less than the number.
  over_square const full{2688.0f};
  for (int i = 0; i < 16; ++i) x[i] = i == 0 ? 2688.0f : 2016.0f;
  CHECK(full.scale4_of(to_bits(2688.0f)).bits == 0x7e);
  CHECK(block(full, x).scale.bits == 0x7e);
}

template <class Recipe, class Error> void chooses_the_better(float g) {
  Recipe const recipe{g};
  uint64_t wrong = 0, fours = 0, sixes = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    float x[16];
    for (float& v : x) v = (float(random() % 2001) - 1000.0f) / 1000.0f * g / float(1 << seed % 6);
    uint32_t amax = 0;
    for (float v : x) amax = std::max(amax, magnitude_bits(v));
    float error[2] = {};
    e4m3 const scales[2] = {recipe.scale_of(amax), recipe.scale4_of(amax)};
    for (int k = 0; k < 2; ++k)
      for (float v : x) {
        // The steps once more, one by one.
        float const factor =
            detail::at_most_largest(isobit::div(1.0f, mul(decode(scales[k]), isobit::div(1.0f, recipe.encode_scale()))));
        e2m1 const code = encode<e2m1>(mul(v, factor));
        float const difference = sub(recipe.value_of(code, scales[k]), v);
        error[k] = add(error[k], Error::of(difference));
      }
    e4m3 const want = error[1] < error[0] ? scales[1] : scales[0];
    wrong += block(recipe, x).scale != want;
    (want == scales[1] ? fours : sixes) += 1;
  }
  CHECK(wrong == 0);
  CHECK(fours > 20);
  CHECK(sixes > 20);
}

TEST_CASE("four over six: the lesser error wins, on blocks of both kinds") {
  chooses_the_better<over_absolute, nv::absolute_error>(3.7f);
  chooses_the_better<over<nv::square_error, 256>, nv::square_error>(3.7f);
  chooses_the_better<over_square, nv::square_error>(0.031f);
}

TEST_CASE("four over six: in a kernel, where the error is summed across lanes, the host's bytes") {
  kernel_equals_host<over_absolute>();
  kernel_equals_host<over_square>();
}

template <class Recipe, class Code> void squares(Recipe recipe, uint64_t rows, uint64_t cols) {
  CAPTURE(rows);
  CAPTURE(cols);
  uint64_t const size = Recipe::block_size, per_row = blocks_per_row<Recipe>(cols), per_column = blocks_per_row<Recipe>(rows);
  auto const x = quantize_reference::hard_floats(rows * cols, static_cast<unsigned>(rows + 7 * cols));
  std::vector<float> transposed(x.size());
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) transposed[c * rows + r] = x[r * cols + c];
  std::vector<Code> codes(detail::codes_of<Code>(rows, cols)), turned(detail::codes_of<Code>(cols, rows));
  std::vector<typename Recipe::scale> scales(rows * per_row), turned_scales(cols * per_column);
  quantize_square(host(), recipe, x.data(), rows, cols, codes.data(), scales.data());
  quantize_square(host(), recipe, transposed.data(), cols, rows, turned.data(), turned_scales.data());
  uint64_t wrong = 0;
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t k = 0; k < per_row; ++k) {
      uint32_t largest = 0; // of the whole square
      for (uint64_t i = r / size * size; i < rows && i < r / size * size + size; ++i)
        for (uint64_t c = k * size; c < cols && c < k * size + size; ++c)
          largest = std::max(largest, magnitude_bits(x[i * cols + c]));
      wrong += recipe.scale_of(largest) != scales[r * per_row + k];
    }
  std::vector<float> back(x.size()), turned_back(x.size());
  dequantize(host(), recipe, codes.data(), scales.data(), rows, cols, back.data());
  dequantize(host(), recipe, turned.data(), turned_scales.data(), cols, rows, turned_back.data());
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; ++c) {
      auto const s = scales[r * per_row + c / size];
      wrong += to_bits(back[r * cols + c]) != to_bits(recipe.value_of(recipe.code_of(x[r * cols + c], s), s));
      wrong += to_bits(back[r * cols + c]) != to_bits(turned_back[c * rows + r]);
    }
  CHECK(wrong == 0);
}

TEST_CASE("square blocks: one scale a square, and the transpose has the same numbers") {
  for (uint64_t rows : {1, 16, 17, 45})
    for (uint64_t cols : {1, 16, 31, 48}) {
      squares<te, e2m1x2>(te{100.0f}, rows, cols);
      squares<exact, e2m1>(exact{100.0f}, rows, cols);
      squares<mxfp8<e4m3, mx::rceil>, e4m3>({}, rows, cols);
    }
  // The control: row blocks of a matrix and of its transpose do not agree.
  float const x[4] = {1.0f, 100.0f, 1.1f, 1.2f}, turned[4] = {1.0f, 1.1f, 100.0f, 1.2f};
  e2m1 codes[4], turned_codes[4];
  e4m3 scales[2], turned_scales[2];
  quantize(host(), te{100.0f}, x, 2, 2, codes, scales);
  quantize(host(), te{100.0f}, turned, 2, 2, turned_codes, turned_scales);
  CHECK((codes[3] != turned_codes[3]));
  CHECK_THROWS_AS(quantize_square(host(), te{-1.0f}, x, 2, 2, codes, scales), invalid_argument);
}

template <class Recipe> uint64_t fast_path_differences(Recipe recipe, std::vector<float> const& x) {
  uint64_t wrong = 0;
  std::vector<e2m1> all(x.size());
  std::vector<e4m3> scales(x.size() / 16);
  detail::run_coder<Recipe> const coder(recipe, scales.size());
  coder.run(x.data(), scales.size(), all.data(), scales.data());
  for (size_t i = 0; i + 16 <= x.size(); i += 16) {
    e2m1 slow[16];
    float values[16];
    std::copy(x.begin() + i, x.begin() + i + 16, values);
    e4m3 const b = quantize_block(thread{}, recipe, values, slow);
    wrong += scales[i / 16] != b || std::memcmp(all.data() + i, slow, 16) != 0;
  }
  return wrong;
}

template <bool Down, class Recipe> uint64_t wrong_limits() {
  std::mt19937 random(9);
  uint64_t wrong = 0;
  for (int n = 0; n < 4000; ++n) {
    uint32_t bits = random() % 0x7f800000u;
    if (n % 5 == 0) bits &= 0x7fffff; // subnormal
    float const t = from_bits<float>(bits | 1);
    e4m3 const s{static_cast<uint8_t>(1 + random() % 0x7e)};
    detail::exact_tables<Down> const tables(t, 1000);
    int const* const limit = tables.limits[s.bits];
    for (int c = 0; c < 7; ++c) {
      wrong += limit[c] < 0 || limit[c] > 0x7f7fffff || Recipe{t}.code_of(from_bits<float>(limit[c]), s).bits > c;
      if (limit[c] < 0x7f7fffff) wrong += Recipe{t}.code_of(from_bits<float>(limit[c] + 1), s).bits <= c;
    }
    // And of the scales: the last magnitude of this one or of a lower one, and the one after.
    int const last = tables.scale_limit[s.bits - 1];
    wrong += last < 0 || last > 0x7f7fffff || Recipe{t}.scale_of(static_cast<uint32_t>(last)).bits >= s.bits;
    if (last < 0x7f7fffff) wrong += Recipe{t}.scale_of(static_cast<uint32_t>(last) + 1).bits < s.bits;
    for (int d = -1; d <= 2; ++d) {
      uint32_t const m = static_cast<uint32_t>(last + d);
      if (m <= 0x7f7fffffu) wrong += tables.scale_of(m, e4m3{static_cast<uint8_t>(random() % 127)}) != Recipe{t}.scale_of(m);
    }
  }
  return wrong;
}

TEST_CASE("the limits between codes, for scales of every size, are where the long division changes its mind") {
  CHECK(wrong_limits<true, exact>() == 0);
  CHECK(wrong_limits<false, exact_scale>() == 0);
  CHECK(wrong_limits<true, exact_scale>() > 0); // the control: limits of another recipe
}

TEST_CASE("the host's fast paths have the bits of the definition") {
  std::mt19937 random(8);
  for (uint32_t bits : {0x3f800000u, 0x3f820000u, 0x45280000u, 0x3b124925u, 0x7f7fffffu, 0x00800000u, 0x00571cbfu, 1u}) {
    float const t = from_bits<float>(bits);
    // Blocks of every scale, whose elements are midpoints of codes and their neighbours, subnormal ones too.
    std::vector<float> x;
    for (int k = 0; k < 0x7f; ++k)
      for (double unit : {double(decode(e4m3{uint8_t(k)})) * t, double(decode(e4m3{uint8_t(k)})) * t / 2688.0}) {
        for (int i = 0; i < 16; ++i) {
          double const middle[] = {6, .25, .75, 1.25, 1.75, 2.5, 3.5, 5};
          float const y = static_cast<float>(middle[i % 8] * unit);
          uint32_t const m = magnitude_bits(y);
          uint32_t const moved = i % 8 == 0 || m == 0 || m > 0x7f7ffff0u ? m : m + random() % 5 - 2;
          x.push_back(from_bits<float>((moved > 0x7f7fffffu ? 0x7f7fffffu : moved) | (random() & 0x80000000u)));
        }
      }
    auto const hard = quantize_reference::hard_floats(3200, bits);
    x.insert(x.end(), hard.begin(), hard.end());
    x[99] = from_bits<float>(0x7fc00000);
    x[199] = from_bits<float>(0xff800000);
    CHECK(fast_path_differences(te{t}, x) == 0);
    CHECK(fast_path_differences(exact{t}, x) == 0);
    CHECK(fast_path_differences(exact_scale{t}, x) == 0);
  }
}

} // namespace
