// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MXFP8 on the host: outside vectors, reported cases, an independent reference, bad arguments and hostile environments.
#include <doctest/doctest.h>

#include "quantize_reference.hpp"

#include <cfenv>
#include <cstdlib>
#include <span>
#include <string>

namespace {

using namespace quantize_reference;
using floor_e4m3 = mxfp8<e4m3, mx::floor>;
using rceil_e4m3 = mxfp8<e4m3, mx::rceil>;
using floor_saturate = mxfp8<e4m3, mx::floor, mx::saturate>;
using rceil_saturate = mxfp8<e4m3, mx::rceil, mx::saturate>;
using floor_e5m2 = mxfp8<e5m2, mx::floor>;
using rceil_e5m2 = mxfp8<e5m2, mx::rceil>;

static_assert(quantize_recipe<floor_e4m3> && quantize_recipe<rceil_e5m2>);
static_assert(floor_e4m3::scale_of(0x43e00001).bits == 127 && rceil_e4m3::scale_of(0x43e00001).bits == 128);
static_assert(rceil_e4m3::code_of(450.0f, e8m0{128}).bits == 0x76);
static_assert(to_bits(rceil_e4m3::value_of(e4m3{0x38}, e8m0{0})) == 0x00400000u);

struct block_result {
  std::string codes;
  int scale;
};

template <class Recipe> block_result quantize_one(std::vector<float> const& x) {
  std::vector<typename Recipe::element> codes(x.size());
  e8m0 scale{};
  quantize(host(), Recipe{}, x.data(), 1, x.size(), codes.data(), &scale);
  float values[32];
  typename Recipe::element direct[32];
  std::memcpy(values, x.data(), sizeof values);
  CHECK(quantize_block(thread{}, Recipe{}, values, direct) == scale);
  CHECK(bits_equal(direct, codes));
  static char const digits[] = "0123456789abcdef";
  std::string hex;
  for (auto c : codes) hex += {digits[c.bits >> 4], digits[c.bits & 15]};
  return {hex, scale.bits};
}

std::vector<float> ones_with(int i, float x) {
  std::vector<float> v(32, 1.0f);
  v[i] = x;
  return v;
}

TEST_CASE("scale bytes: outside table") {
  struct row {
    uint32_t amax;
    int e4m3_floor, e4m3_rceil, e2m1_floor, e2m1_rceil;
  };
  constexpr row table[] = {
      {0x00000000, 0, 0, 0, 0},         {0x00800000, 0, 0, 0, 0},         {0x04600000, 0, 0, 6, 7},
      {0x04600001, 0, 1, 6, 7},         {0x3f800000, 119, 119, 125, 125}, {0x3fbfffff, 119, 119, 125, 125},
      {0x3fc00000, 119, 119, 125, 125}, {0x3fc00001, 119, 119, 125, 126}, {0x3fdfffff, 119, 119, 125, 126},
      {0x3fe00000, 119, 119, 125, 126}, {0x3fe00001, 119, 120, 125, 126}, {0x3ff7ffff, 119, 120, 125, 126},
      {0x3ff80000, 119, 120, 125, 126}, {0x3fffffff, 119, 120, 125, 126}, {0x43e00000, 127, 127, 133, 134},
      {0x43e00001, 127, 128, 133, 134}, {0x7f7fffff, 246, 247, 252, 253},
  };
  for (row const& r : table) {
    CAPTURE(r.amax);
    CHECK(floor_e4m3::scale_of(r.amax).bits == r.e4m3_floor);
    CHECK(rceil_e4m3::scale_of(r.amax).bits == r.e4m3_rceil);
    CHECK(mx::recipe<e2m1, mx::floor>::scale_of(r.amax).bits == r.e2m1_floor);
    CHECK(mx::recipe<e2m1, mx::rceil>::scale_of(r.amax).bits == r.e2m1_rceil);
  }
}

template <class E> void round_up_is_the_least_that_fits() {
  for (int k = 0; k < 254; ++k) {
    double const exact = std::ldexp(largest<E>(), k - 127);
    if (exact > 3.4e38) break;
    float const fits = static_cast<float>(exact); // largest * 2^k, and its successor
    CHECK(mx::recipe<E, mx::rceil>::scale_of(to_bits(fits)).bits == k);
    CHECK(mx::recipe<E, mx::rceil>::scale_of(to_bits(fits) + 1).bits == k + 1);
  }
}

TEST_CASE("round-up scales: largest * 2^k and its successor, for every k") {
  round_up_is_the_least_that_fits<e4m3>();
  round_up_is_the_least_that_fits<e5m2>();
  round_up_is_the_least_that_fits<e2m1>();
}

// What these rules are not: the formulas in floating point that libraries use.
TEST_CASE("negative controls: scales from log2 and from a rounded product differ") {
  uint64_t log2_differs = 0;
  for (uint32_t power = 1; power < 254; ++power)
    for (uint32_t below = 1; below < 64; ++below) {
      uint32_t const amax = (power << 23) - below;
      int const byte = static_cast<int>(std::floor(std::log2(from_bits<float>(amax)))) - 8 + 127;
      log2_differs += (byte < 0 ? 0 : byte) != floor_e4m3::scale_of(amax).bits;
    }
  CHECK(log2_differs > 100);

  // amax * fl(1/448), exponent rounded up: wrong for one float, the one whose product rounds to exactly 2^-127.
  auto const product_rule = [](uint32_t amax) {
    uint32_t const q = to_bits(mul(from_bits<float>(amax), from_bits<float>(0x3b124925)));
    uint32_t const exponent = q >> 23, mantissa = q & 0x7fffff;
    return exponent == 0 ? int(mantissa > 0x400000) : static_cast<int>(exponent + (mantissa > 0));
  };
  CHECK(product_rule(0x04600001) == 0);
  CHECK(rceil_e4m3::scale_of(0x04600001).bits == 1);
  uint64_t differ = 0;
  for (uint32_t amax = 0x04000000; amax < 0x04800000; ++amax)
    differ += product_rule(amax) != rceil_e4m3::scale_of(amax).bits;
  CHECK(differ == 1);
}

TEST_CASE("golden blocks") {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = float(i - 16) * 28.125f;
  auto r = quantize_one<floor_e4m3>(x);
  CHECK(r.scale == 0x7f);
  CHECK(r.codes == "fefdfcfbfbfaf9f8f6f4f3f1eeebe6de005e666b6e7173747678797a7b7b7c7d");
  r = quantize_one<rceil_e4m3>(x);
  CHECK(r.scale == 0x80);
  CHECK(r.codes == "f6f5f4f3f3f2f1f0eeecebe9e6e3ded600565e6366696b6c6e70717273737475");

  for (int i = 0; i < 32; ++i) x[i] = float(i - 16);
  for (auto const& b : {quantize_one<floor_e4m3>(x), quantize_one<rceil_e4m3>(x)}) {
    CHECK(b.scale == 0x7b);
    CHECK(b.codes == "f8f7f6f5f4f3f2f1f0eeeceae8e4e0d800586064686a6c6e7071727374757677");
  }

  std::vector<float> tiny(32, 0.0f);
  tiny[0] = -0.0f;
  tiny[3] = from_bits<float>(1);
  tiny[4] = -0x1p-143f;
  tiny[5] = 0x1p-127f;
  for (auto const& b : {quantize_one<floor_e4m3>(tiny), quantize_one<rceil_e4m3>(tiny)}) {
    CHECK(b.scale == 0);
    CHECK(b.codes == "800000008038" + std::string(52, '0'));
  }

  float const most = from_bits<float>(0x7f7fffff);
  r = quantize_one<rceil_e4m3>(ones_with(7, most));
  CHECK(r.scale == 0xf7);
  CHECK(r.codes == std::string(14, '0') + "78" + std::string(48, '0'));
  r = quantize_one<floor_e4m3>(ones_with(7, most));
  CHECK(r.scale == 0xf6);
  CHECK(r.codes == std::string(14, '0') + "7e" + std::string(48, '0'));
}

TEST_CASE("infinity and NaN in every position, under both policies") {
  float const infinity = from_bits<float>(0x7f800000), nan = from_bits<float>(0xffc00001);
  std::string all_nan;
  for (int i = 0; i < 32; ++i) all_nan += "7f";
  for (int i = 0; i < 32; ++i) {
    std::string top(64, '0');
    top.replace(2 * i, 2, "7e");
    std::string bottom(64, '0');
    bottom.replace(2 * i, 2, "fe");
    for (float special : {infinity, -infinity, nan}) {
      for (auto const& b :
           {quantize_one<floor_e4m3>(ones_with(i, special)), quantize_one<rceil_e4m3>(ones_with(i, special))}) {
        CHECK(b.scale == 0xff);
        CHECK(b.codes == all_nan);
      }
      for (auto const& b :
           {quantize_one<floor_saturate>(ones_with(i, special)), quantize_one<rceil_saturate>(ones_with(i, special))}) {
        CHECK(b.scale == (is_nan(special) ? 0xff : 0xfe));
        CHECK(b.codes == (is_nan(special) ? all_nan : special > 0 ? top : bottom));
      }
    }
  }
  // A NaN beats an infinity, wherever the two are.
  auto both = ones_with(3, infinity);
  both[29] = nan;
  CHECK(quantize_one<floor_saturate>(both).scale == 0xff);
}

TEST_CASE("reported: a shared scale rounded down, up or nearest") {
  // 500, 511.5: the up rule takes 2^1, the down rule clips to 448; a detour through bfloat16 would turn 511.5 into 512.
  CHECK(quantize_one<rceil_e4m3>(ones_with(5, 500.0f)).scale == 0x80);
  auto const at = [](block_result const& r, int i) { return r.codes.substr(2 * i, 2); };
  CHECK(at(quantize_one<rceil_e4m3>(ones_with(5, 500.0f)), 5) == "78"); // 256 * 2 = 512
  CHECK(quantize_one<floor_e4m3>(ones_with(5, 500.0f)).scale == 0x7f);
  CHECK(at(quantize_one<floor_e4m3>(ones_with(5, 500.0f)), 5) == "7e"); // 448
  CHECK(quantize_one<floor_e4m3>(ones_with(5, 511.5f)).scale == 0x7f);
  CHECK(quantize_one<floor_e4m3>(ones_with(5, 512.0f)).scale == 0x80);
  CHECK(quantize_one<floor_e4m3>(ones_with(5, 633.5f)).scale == 0x80);
}

TEST_CASE("reported: zero, tiny and infinite blocks") {
  // bfloat16 block with amax 2.8094e-36 (bits 0x0470): scale 1, the largest element 240 * 2^-126.
  std::vector<float> x(32, 0.0f);
  x[9] = decode(encode<bf16>(2.8094e-36f));
  auto const r = quantize_one<rceil_e4m3>(x);
  CHECK(r.scale == 1);
  CHECK(r.codes.substr(18, 2) == "77");
  float value = 0;
  value = rceil_e4m3::value_of(e4m3{0x77}, e8m0{1});
  CHECK(double(value) == std::ldexp(240.0, -126));

  auto const zero = quantize_one<rceil_e4m3>(std::vector<float>(32, 0.0f));
  CHECK(zero.scale == 0);
  CHECK(zero.codes == std::string(64, '0'));

  e4m3 const one{0x38};
  e8m0 const scales[2] = {{0}, {255}};
  e4m3 const codes[2] = {one, one};
  float out[2];
  dequantize(host(), rceil_e4m3{}, codes, scales, 2, 1, out);
  CHECK(to_bits(out[0]) == 0x00400000u);
  CHECK(to_bits(out[1]) == 0x7fc00000u);
}

template <class Recipe, class T> void against_reference(uint64_t rows, uint64_t cols, unsigned seed, size_t misalign) {
  CAPTURE(rows);
  CAPTURE(cols);
  auto const x = narrowed<T>(hard_floats(rows * cols + misalign, seed));
  std::vector<T> const part(x.begin() + misalign, x.end());
  auto const want = quantized<Recipe>(part, rows, cols);
  std::vector<float> values(part.size());
  for (size_t i = 0; i < values.size(); ++i) {
    e8m0 const s = want.scales[i / cols * blocks_per_row<Recipe>(cols) + i % cols / 32];
    double const exact = double(decode(want.codes[i])) * std::ldexp(1.0, s.bits - 127);
    values[i] = static_cast<float>(exact);
  }
  for (uint8_t fill : {0x00, 0xa5}) {
    guarded<typename Recipe::element> codes(want.codes.size(), fill);
    guarded<e8m0> scales(want.scales.size(), fill);
    quantize(host(), Recipe{}, x.data() + misalign, rows, cols, codes.data(), scales.data());
    CHECK(bits_equal(codes.values(), want.codes));
    CHECK(bits_equal(scales.values(), want.scales));
    guarded<float> back(values.size(), fill);
    dequantize(host(), Recipe{}, codes.data(), scales.data(), rows, cols, back.data());
    CHECK(bits_equal(back.values(), values));
    CHECK((codes.guards_untouched() && scales.guards_untouched() && back.guards_untouched()));
  }
}

TEST_CASE("matrices of every shape against the reference") {
  unsigned seed = 1;
  for (uint64_t rows : {1, 2, 5})
    for (uint64_t cols : {1, 2, 7, 31, 32, 33, 63, 64, 65, 96, 127, 160, 257}) {
      against_reference<floor_e4m3, float>(rows, cols, ++seed, 0);
      against_reference<rceil_e4m3, float>(rows, cols, ++seed, 1);
      against_reference<rceil_e5m2, float>(rows, cols, ++seed, 3);
      against_reference<floor_e5m2, bf16>(rows, cols, ++seed, 5);
      against_reference<rceil_e4m3, bf16>(rows, cols, ++seed, 1);
      against_reference<floor_e4m3, f16>(rows, cols, ++seed, 3);
      against_reference<rceil_e4m3, f16>(rows, cols, ++seed, 0);
      against_reference<rceil_e4m3, e5m2>(rows, cols, ++seed, 0);
    }
}

TEST_CASE("the fast path has the bits of the definition") {
  uint64_t const rows = 600, cols = 160;
  auto const x = hard_floats(rows * cols, 99);
  auto const check = [&](auto recipe, auto const& v) {
    using recipe_type = decltype(recipe);
    std::vector<typename recipe_type::element> codes(v.size());
    std::vector<e8m0> scales(rows * cols / 32);
    quantize(host(), recipe, v.data(), rows, cols, codes.data(), scales.data());
    uint64_t wrong = 0;
    for (size_t b = 0; b < scales.size(); ++b) {
      float values[32];
      typename recipe_type::element want[32];
      for (int i = 0; i < 32; ++i) values[i] = decode_element(v[32 * b + i]);
      wrong += quantize_block(thread{}, recipe, values, want) != scales[b];
      wrong += std::memcmp(want, &codes[32 * b], 32) != 0;
    }
    CHECK(wrong == 0);
  };
  auto with_specials = x;
  for (size_t i = 0; i < with_specials.size(); i += 97)
    with_specials[i] = from_bits<float>(i % 2 ? 0x7f800000u : 0xff800001u);
  check(floor_e4m3{}, x);
  check(rceil_e4m3{}, x);
  check(floor_e5m2{}, x);
  check(rceil_e5m2{}, x);
  check(floor_saturate{}, with_specials);
  check(rceil_e4m3{}, with_specials);
  check(rceil_e4m3{}, narrowed<bf16>(x));
  check(floor_e4m3{}, narrowed<f16>(x));
}

TEST_CASE("every float as an element, next to a fixed maximum") {
  // A sample of all floats up to the maximum 1.75 * 2^k, for small, middle and large k.
  uint64_t wrong = 0;
  for (uint32_t top : {0x00e00000u, 0x04600000u, 0x0b600000u, 0x3fe00000u, 0x7f600000u}) {
    uint32_t bits = 0;
    for (int b = 0; b < 4000; ++b) {
      std::vector<float> x(32);
      x[0] = from_bits<float>(top);
      for (int i = 1; i < 32; ++i) {
        bits += 0x9e3779b9u;
        x[i] = from_bits<float>(bits % top | (bits & 0x80000000u));
      }
      e4m3 codes[32];
      e8m0 scale;
      quantize(host(), floor_e4m3{}, x.data(), 1, 32, codes, &scale);
      for (int i = 0; i < 32; ++i) wrong += codes[i] != floor_e4m3::code_of(x[i], scale);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the form for devices, one addition an element, has the bits of the integer form") {
  uint64_t wrong = 0;
  auto const check = [&](auto element, float x, uint8_t byte) {
    using E = decltype(element);
    e8m0 const s{byte};
    wrong += isobit::detail::code_by_addition<E>(x, s) != mx::recipe<E, mx::floor>::code_of(x, s);
  };
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 10007) {
    float const x = from_bits<float>(static_cast<uint32_t>(bits));
    int const exponent = static_cast<int>(magnitude_bits(x) >> 23);
    if (exponent == 255) { // only under these scales
      if (is_inf(x)) check(e4m3{}, x, 254);
      check(e4m3{}, x, 255);
      check(e5m2{}, x, 255);
      continue;
    }
    for (int drop : {0, 1, 5, 9, 16, 20}) {
      int const byte = exponent - 8 + drop;
      uint8_t const scale = static_cast<uint8_t>(byte < 0 ? 0 : byte > 254 ? 254 : byte);
      check(e4m3{}, x, scale);
      check(e5m2{}, x, scale);
      if (drop == 0) check(e4m3{}, x, 255), check(e4m3{}, x, 254), check(e5m2{}, x, 254);
    }
  }
  for (uint32_t bits : {0x7f800000u, 0xff800000u})
    for (int b : {254, 255}) {
      check(e4m3{}, from_bits<float>(bits), static_cast<uint8_t>(b));
      check(e5m2{}, from_bits<float>(bits), static_cast<uint8_t>(b));
    }
  CHECK(wrong == 0);
}

template <class Recipe> void every_code_and_scale() {
  using E = typename Recipe::element;
  uint64_t wrong = 0;
  for (int k = 0; k < 256; ++k) {
    std::vector<E> codes(256);
    std::vector<e8m0> scales(8, e8m0{static_cast<uint8_t>(k)});
    for (int c = 0; c < 256; ++c) codes[c] = {static_cast<uint8_t>(c * 7)}; // special codes spread over the blocks
    if (k % 2)
      for (int c = 0; c < 256; ++c) codes[c] = {static_cast<uint8_t>(c)};
    std::vector<float> out(256);
    dequantize(host(), Recipe{}, codes.data(), scales.data(), 1, 256, out.data());
    for (int c = 0; c < 256; ++c) {
      float const number = decode(codes[c]);
      bool const nan = k == 255 || std::isnan(number);
      float const want = nan ? from_bits<float>(0x7fc00000) : static_cast<float>(std::ldexp(double(number), k - 127));
      wrong += to_bits(out[c]) != to_bits(want) || to_bits(Recipe::value_of(codes[c], scales[0])) != to_bits(want);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("every code with every scale") {
  every_code_and_scale<rceil_e4m3>();
  every_code_and_scale<rceil_e5m2>();
}

TEST_CASE("a block knows nothing of its neighbours") {
  auto const x = hard_floats(32, 5);
  e4m3 alone[32];
  e8m0 scale;
  quantize(host(), rceil_e4m3{}, x.data(), 1, 32, alone, &scale);
  for (float around : {0.0f, 1e30f, from_bits<float>(0x7fc00000)}) {
    std::vector<float> matrix(3 * 96, around);
    std::copy(x.begin(), x.end(), matrix.begin() + 96 + 32);
    std::vector<e4m3> codes(matrix.size());
    std::vector<e8m0> scales(9);
    quantize(host(), rceil_e4m3{}, matrix.data(), 3, 96, codes.data(), scales.data());
    CHECK(scales[4] == scale);
    CHECK(bits_equal(std::span(codes).subspan(128, 32), alone));
  }
}

TEST_CASE("any executor gives the same bits") {
  uint64_t const rows = 37, cols = 1000;
  auto const x = hard_floats(rows * cols, 3);
  auto const want = quantized<rceil_e4m3>(x, rows, cols);
  auto const backwards = [](uint64_t count, auto const& f) {
    for (uint64_t i = count; i-- > 0;) f(i);
  };
  for (uint64_t grain : {1, 32, 100, 4096, 1 << 20}) {
    std::vector<e4m3> codes(x.size());
    std::vector<e8m0> scales(want.scales.size());
    quantize(host(backwards, grain), rceil_e4m3{}, x.data(), rows, cols, codes.data(), scales.data());
    CHECK(bits_equal(codes, want.codes));
    CHECK(bits_equal(scales, want.scales));
  }
}

TEST_CASE("nothing to do, and bad arguments") {
  float x[64] = {};
  guarded<e4m3> codes(64, 0x5a);
  guarded<e8m0> scales(2, 0x5a);
  rceil_e4m3 const recipe;
  float* const no_floats = nullptr;
  e4m3* const no_codes = nullptr;
  e8m0* const no_scales = nullptr;
  quantize(host(), recipe, no_floats, 0, 64, no_codes, no_scales);
  quantize(host(), recipe, no_floats, 5, 0, no_codes, no_scales);
  dequantize(host(), recipe, no_codes, no_scales, 0, 0, no_floats);

  auto const message = [](auto const& call) -> std::string {
    try {
      call();
    } catch (invalid_argument const& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(message([&] { quantize(host(), recipe, no_floats, 2, 32, codes.data(), scales.data()); }) ==
        "isobit::quantize: x must be non-null when rows * cols > 0");
  CHECK(message([&] { quantize(host(), recipe, x, 2, 32, no_codes, scales.data()); }) ==
        "isobit::quantize: codes must be non-null when rows * cols > 0");
  CHECK(message([&] { quantize(host(), recipe, x, 2, 32, codes.data(), no_scales); }) ==
        "isobit::quantize: scales must be non-null when rows * cols > 0");
  auto const odd = reinterpret_cast<float const*>(reinterpret_cast<char const*>(x) + 1);
  CHECK(message([&] { quantize(host(), recipe, odd, 1, 32, codes.data(), scales.data()); }) ==
        "isobit::quantize: x must be aligned to 4 bytes");
  CHECK(message([&] {
          quantize(host(), recipe, x, uint64_t(1) << 40, uint64_t(1) << 40, codes.data(), scales.data());
        }) == "isobit::quantize: rows * cols must be at most 1152921504606846976 elements");
  CHECK(message([&] { quantize(host(), recipe, x, 2, 32, reinterpret_cast<e4m3*>(x) + 255, scales.data()); }) ==
        "isobit::quantize: codes must be disjoint from x");
  CHECK(message([&] { quantize(host(), recipe, x, 2, 32, codes.data(), reinterpret_cast<e8m0*>(x)); }) ==
        "isobit::quantize: scales must be disjoint from x");
  CHECK(message([&] {
          quantize(host(), recipe, x, 2, 32, codes.data(), reinterpret_cast<e8m0*>(codes.data() + 63));
        }) == "isobit::quantize: scales must be disjoint from codes");
  CHECK(message([&] { dequantize(host(), recipe, codes.data(), scales.data(), 2, 32, no_floats); }) ==
        "isobit::dequantize: out must be non-null when rows * cols > 0");
  CHECK((codes.untouched() && scales.untouched()));
}

#if defined(__SSE2__)
TEST_CASE("flush-to-zero and other rounding modes at entry change nothing; they would change plain arithmetic") {
  auto x = hard_floats(40 * 96, 11);
  for (int i = 0; i < 96; ++i) x[i] = from_bits<float>(0x00300000u + 0x1234u * i); // subnormal numbers only
  auto const want = quantized<rceil_e4m3>(x, 40, 96);
  auto const halves = narrowed<f16>(x);
  auto const want_halves = quantized<rceil_e4m3>(halves, 40, 96);
  std::vector<e4m3> codes(x.size());
  std::vector<e8m0> scales(want.scales.size());
  std::vector<float> values(x.size()), clean(x.size());
  dequantize(host(), rceil_e4m3{}, want.codes.data(), want.scales.data(), 40, 96, clean.data());
  unsigned const before = __builtin_ia32_stmxcsr();
  for (unsigned mode : {0x9fc0u, 0x3f80u, 0x5f80u, 0x7f80u, 0xffc0u}) { // FTZ|DAZ; down; up; to zero; both
    codes.assign(codes.size(), e4m3{0xa5});
    scales.assign(scales.size(), e8m0{0xa5});
    __builtin_ia32_ldmxcsr(mode);
    quantize(host(), rceil_e4m3{}, x.data(), 40, 96, codes.data(), scales.data());
    dequantize(host(), rceil_e4m3{}, codes.data(), scales.data(), 40, 96, values.data());
    float block[32];
    e4m3 one[32];
    std::memcpy(block, x.data(), sizeof block);
    e8m0 const scale = quantize_block(thread{}, rceil_e4m3{}, block, one); // no guard: integers
    unsigned const after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    CHECK((after & 0xffc0u) == (mode & 0xffc0u));
    CHECK(bits_equal(codes, want.codes));
    CHECK(bits_equal(scales, want.scales));
    CHECK(bits_equal(values, clean));
    CHECK(scale == want.scales[0]);
    CHECK(bits_equal(one, std::span(want.codes).first(32)));

    __builtin_ia32_ldmxcsr(mode);
    quantize(host(), rceil_e4m3{}, halves.data(), 40, 96, codes.data(), scales.data());
    __builtin_ia32_ldmxcsr(before);
    CHECK(bits_equal(codes, want_halves.codes));
    CHECK(bits_equal(scales, want_halves.scales));
  }
  // The control: multiplying under flush-to-zero loses the tiny block.
  uint64_t differ = 0;
  __builtin_ia32_ldmxcsr(0x9fc0u);
  for (int i = 0; i < 32; ++i) {
    float const volatile number = x[i], factor = reciprocal(want.scales[0]);
    differ += encode<e4m3, overflow::saturate>(number * factor) != want.codes[i];
  }
  __builtin_ia32_ldmxcsr(before);
  CHECK(differ == 32);
}
#endif

TEST_CASE("blocks beyond 2^32 are found") {
  uint64_t const cols = (uint64_t(1) << 33) + 5; // ragged rows
  uint64_t const per_row = blocks_per_row<rceil_e4m3>(cols);
  uint64_t const begin = 3 * per_row - 1;
  std::vector<std::pair<uint64_t, uint32_t>> seen;
  isobit::detail::for_each_block<32>(cols, begin, begin + 3, [&](uint64_t first, uint64_t, uint32_t present) {
    seen.push_back({first, present});
  });
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == std::pair<uint64_t, uint32_t>(3 * cols - 5, 5));
  CHECK(seen[1] == std::pair<uint64_t, uint32_t>(3 * cols, 32));
  CHECK(seen[2] == std::pair<uint64_t, uint32_t>(3 * cols + 32, 32));
}

} // namespace
