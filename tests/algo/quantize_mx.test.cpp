// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every MX recipe: element x rule x policy, against outside tables and an independent reference; packed codes; kernels.
#include <doctest/doctest.h>

#include "../golden/mx_scales.hpp"
#include "quantize_reference.hpp"

#include <isobit/device/quantize_kernel.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <string>
#include <tuple>

namespace {

using namespace quantize_reference;

float const infinity = from_bits<float>(0x7f800000), nan_ = from_bits<float>(0xffc00001);

template <class E, class Rule> int byte_of(uint32_t amax) { return mx::recipe<E, Rule>::scale_of(amax).bits; }

TEST_CASE("scale bytes: the outside table, all rules") {
  for (auto const& g : golden::mx_scales) {
    CAPTURE(g.amax);
    CHECK(byte_of<e4m3, mx::floor>(g.amax) == g.e4m3_floor);
    CHECK(byte_of<e4m3, mx::rceil>(g.amax) == g.e4m3_rceil);
    CHECK(byte_of<e4m3, mx::ceil>(g.amax) == g.e4m3_ceil);
    CHECK(byte_of<e4m3, mx::even>(g.amax) == g.e4m3_even);
    CHECK(byte_of<e2m1, mx::floor>(g.amax) == g.e2m1_floor);
    CHECK(byte_of<e2m1, mx::rceil>(g.amax) == g.e2m1_rceil);
    CHECK(byte_of<e2m1, mx::ceil>(g.amax) == g.e2m1_ceil);
    CHECK(byte_of<e2m1, mx::even>(g.amax) == g.e2m1_even);
  }
}

// Transformer Engine's formula: RN(amax * fl(1 / largest)), its exponent rounded up.
template <class E> int product_rule(uint32_t amax) {
  float const reciprocal = isobit::div(1.0f, decode(E{static_cast<uint8_t>(E::format.largest())}));
  uint32_t const q = to_bits(mul(from_bits<float>(amax), reciprocal));
  uint32_t const exponent = q >> 23, mantissa = q & 0x7fffff;
  if (exponent == 0) return mantissa > 0x400000;
  return static_cast<int>(exponent) + (mantissa > 0 && exponent < 254);
}

template <class E> void rceil_te_is_the_product(uint32_t exception) {
  CHECK(mx::rceil_te::exception<E> == exception);
  CHECK(byte_of<E, mx::rceil>(exception) == 1);
  CHECK(byte_of<E, mx::rceil_te>(exception) == 0);
  uint64_t wrong = 0, exact_wrong = 0;
  auto const check = [&](uint32_t amax) {
    int const want = product_rule<E>(amax);
    wrong += byte_of<E, mx::rceil_te>(amax) != want;
    exact_wrong += byte_of<E, mx::rceil>(amax) != want;
  };
  for (uint32_t u = 0; u < 0x7f800000u; u += 4099) check(u);
  for (uint32_t binade = 0; binade < 255; ++binade) // around every bump
    for (int32_t d = -40; d <= 40; ++d) {
      check((binade << 23) + static_cast<uint32_t>(detail::largest_mantissa<E> + d));
      if (binade > 0) check((binade << 23) + static_cast<uint32_t>(d));
    }
  CHECK(wrong == 0);
  CHECK(exact_wrong == 1); // the control: the exact rule differs, once
}

TEST_CASE("rceil_te is the float product, rceil but for one amax in each format") {
  rceil_te_is_the_product<e4m3>(golden::mx_exceptions[0].amax);
  rceil_te_is_the_product<e5m2>(golden::mx_exceptions[1].amax);
  rceil_te_is_the_product<e3m2>(golden::mx_exceptions[2].amax);
  rceil_te_is_the_product<e2m3>(golden::mx_exceptions[3].amax);
  rceil_te_is_the_product<e2m1>(golden::mx_exceptions[4].amax);
}

TEST_CASE("how often even and rceil bump an e2m1 scale: a quarter and a half of the significands") {
  uint32_t even = 0, rceil = 0, n = 0;
  for (uint32_t m = 0; m < 0x800000; m += 64, ++n) {
    uint32_t const amax = 0x3f800000 | m;
    even += byte_of<e2m1, mx::even>(amax) != byte_of<e2m1, mx::floor>(amax);
    rceil += byte_of<e2m1, mx::rceil>(amax) != byte_of<e2m1, mx::floor>(amax);
  }
  CHECK(even == n / 4);
  CHECK(rceil == n / 2 - 1);
}

template <class Recipe> std::vector<int> block(std::vector<float> const& x) { // the scale, then the codes
  std::vector<typename Recipe::element> codes(x.size());
  e8m0 scale{};
  quantize(host(), Recipe{}, x.data(), 1, x.size(), codes.data(), &scale);
  std::vector<int> all{scale.bits};
  for (auto c : codes) all.push_back(c.bits);
  return all;
}

template <class E, class Rule> void special_cases() {
  using ignored = mx::recipe<E, Rule, mx::te_nan_ignored>;
  using kept = mx::recipe<E, Rule, mx::block_nan>;
  using saturating = mx::recipe<E, Rule, mx::saturate>;
  int const top = E::format.largest(), nan_code = E::format.nan(), sign = E::format.sign();
  uint64_t wrong = 0;
  for (int i = 0; i < 32; ++i) {
    std::vector<float> x(32, 1.0f);
    int const usual = block<ignored>(x)[0];
    int const usual_code = block<ignored>(x)[1];
    wrong += usual == 0 || usual >= 254;
    x[i] = nan_;
    auto b = block<ignored>(x); // the scale of the others
    wrong += b[0] != usual || b[1 + i] != nan_code || b[1 + (i + 1) % 32] != usual_code;
    wrong += block<kept>(x)[0] != 255 || block<kept>(x)[1] != nan_code;
    wrong += block<saturating>(x)[0] != 255 || block<saturating>(x)[1 + i] != nan_code;
    for (float v : {infinity, -infinity}) {
      x[i] = v;
      int const want = v > 0 ? top : top | sign;
      wrong += block<kept>(x)[0] != 255;
      for (auto const& got : {block<ignored>(x), block<saturating>(x)})
        wrong += got[0] != 254 || got[1 + i] != want || got[1 + (i + 1) % 32] != 0;
    }
    x[(i + 5) % 32] = nan_; // beside an infinity
    b = block<ignored>(x);
    wrong += b[0] != 254 || b[1 + i] != (top | sign) || b[1 + (i + 5) % 32] != nan_code;
    wrong += block<saturating>(x)[0] != 255;
  }
  CHECK(wrong == 0);
  auto const all_nan = block<ignored>(std::vector<float>(32, nan_));
  CHECK(all_nan[0] == 0);
  CHECK(all_nan[32] == nan_code);
  auto const zeros = block<ignored>(std::vector<float>(32, -0.0f));
  CHECK(zeros[0] == 0);
  CHECK(zeros[1] == sign);
}

TEST_CASE("infinity and NaN in every position, every policy") {
  special_cases<e4m3, mx::floor>();
  special_cases<e4m3, mx::rceil_te>();
  special_cases<e5m2, mx::even>();
  special_cases<e3m2, mx::ceil>();
  special_cases<e2m3, mx::rceil>();
  special_cases<e2m1, mx::even>();
  special_cases<e2m1, mx::rceil_te>();
}

template <class Recipe, class T = float> void against_reference(uint64_t rows, uint64_t cols, unsigned seed) {
  auto floats = hard_floats(rows * cols, seed);
  for (size_t i = 0; i < floats.size(); i += 101) floats[i] = i % 2 ? infinity : nan_;
  auto x = narrowed<T>(floats);
  for (size_t i = 0; i < x.size(); i += 101) // narrowed saturates
    if constexpr (std::is_same_v<T, bf16>) x[i].bits = i % 2 ? 0xff80 : 0x7fc1;
  auto const want = quantized<Recipe>(x, rows, cols);
  guarded<typename Recipe::element> codes(want.codes.size(), 0xa5);
  guarded<e8m0> scales(want.scales.size(), 0xa5);
  quantize(host(), Recipe{}, x.data(), rows, cols, codes.data(), scales.data());
  CHECK(bits_equal(codes.values(), want.codes));
  CHECK(bits_equal(scales.values(), want.scales));
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        guarded<typename Recipe::element> other(want.codes.size(), 0x5a);
        guarded<e8m0> others(want.scales.size(), 0x5a);
        auto const copy = row_wise(other.data(), others.data(), want.scales.size(), ragged);
        simt::launch(c, device::quantize_kernel<Recipe, isobit::detail::to_nearest, T, decltype(copy)>, Recipe{},
                     isobit::detail::to_nearest{}, static_cast<T const*>(x.data()), rows, cols, copy);
        return std::tuple(other.values(), others.values(), other.guards_untouched() && others.guards_untouched());
      },
      [&] { return std::tuple(want.codes, want.scales, true); },
      {.blocks = {96, 33}, .grids = {2}, .schedules = 3, .seed = seed}));
}

template <class E, class Policy> void all_rules(unsigned seed) {
  for (uint64_t cols : {96, 45}) {
    against_reference<mx::recipe<E, mx::floor, Policy>>(3, cols, ++seed);
    against_reference<mx::recipe<E, mx::rceil, Policy>>(3, cols, ++seed);
    against_reference<mx::recipe<E, mx::rceil_te, Policy>>(3, cols, ++seed);
    against_reference<mx::recipe<E, mx::even, Policy>>(3, cols, ++seed);
    against_reference<mx::recipe<E, mx::ceil, Policy>, bf16>(3, cols, ++seed);
  }
}

TEST_CASE("element x rule x policy against the reference, on the host and as a kernel") {
  all_rules<e4m3, mx::te_nan_ignored>(10);
  all_rules<e4m3, mx::block_nan>(30);
  all_rules<e5m2, mx::saturate>(50);
  all_rules<e3m2, mx::te_nan_ignored>(70);
  all_rules<e2m3, mx::block_nan>(90);
  all_rules<e2m1, mx::block_nan>(110);
  all_rules<e2m1, mx::saturate>(130);
  all_rules<e2m1, mx::te_nan_ignored>(150);
}

TEST_CASE("reported: MXFP4 exponents of 2.7, 5.5 and 1.2; scale inputs 3.0 and 0.75") {
  CHECK(byte_of<e2m1, mx::even>(to_bits(2.7f)) == 126);
  CHECK(byte_of<e2m1, mx::even>(to_bits(5.5f)) == 127);
  CHECK(byte_of<e2m1, mx::even>(to_bits(1.2f)) == 125);
  // As scales themselves: 3.0 is 0x80 rounded down and 0x81 rounded up; 0.75 is 0x7e or 0x7f. Block maxima that ask e4m3
  // for the scales 3 and 0.75: 448 * 3 and 448 * 0.75.
  CHECK(byte_of<e4m3, mx::floor>(to_bits(448 * 3.0f)) == 0x81);
  CHECK(byte_of<e4m3, mx::rceil>(to_bits(448 * 3.0f)) == 0x81);
  CHECK(byte_of<e4m3, mx::rceil>(to_bits(448 * 0.75f)) == 0x7f);
  CHECK(byte_of<e4m3, mx::rceil>(to_bits(448 * 0.5f)) == 0x7e);
}

TEST_CASE("packed codes: the bytes are pairs of the unpacked ones, rows begin with a byte, the spare half is zero") {
  using recipe = mxfp4<mx::even>;
  for (uint64_t cols : {1, 2, 3, 31, 32, 33, 64, 95}) {
    uint64_t const rows = 5;
    auto const x = hard_floats(rows * cols, static_cast<unsigned>(cols));
    auto const want = quantized<recipe>(x, rows, cols);
    guarded<e2m1x2> codes(rows * packed_per_row(cols), 0xa5);
    guarded<e8m0> scales(want.scales.size(), 0xa5);
    quantize(host(), recipe{}, x.data(), rows, cols, codes.data(), scales.data());
    CHECK(bits_equal(scales.values(), want.scales));
    auto const bytes = codes.values();
    uint64_t wrong = 0;
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t c = 0; c < cols; ++c) {
        e2m1x2 const both = bytes[r * packed_per_row(cols) + c / 2];
        wrong += (c % 2 == 0 ? both.even() : both.odd()) != want.codes[r * cols + c];
      }
      if (cols % 2 == 1) wrong += bytes[(r + 1) * packed_per_row(cols) - 1].odd().bits != 0;
    }
    CHECK(wrong == 0);
    std::vector<float> back(x.size()), expected(x.size());
    dequantize(host(), recipe{}, codes.data(), scales.data(), rows, cols, back.data());
    dequantize(host(), recipe{}, want.codes.data(), want.scales.data(), rows, cols, expected.data());
    CHECK(bits_equal(back, expected));
    CHECK((codes.guards_untouched() && scales.guards_untouched()));
  }
  // The control: the other order of the nibbles is another byte.
  CHECK(pack({1}, {2}) != pack({2}, {1}));
}

TEST_CASE("packed codes: bad arguments") {
  using recipe = mxfp4<mx::floor>;
  float x[66] = {};
  e8m0 scales[4];
  guarded<e2m1x2> codes(33, 0x5a);
  auto const message = [](auto const& call) -> std::string {
    try {
      call();
    } catch (invalid_argument const& e) {
      return e.what();
    }
    return "accepted";
  };
  e2m1x2* const none = nullptr;
  CHECK(message([&] { quantize(host(), recipe{}, x, 2, 33, none, scales); }) ==
        "isobit::quantize: codes must be non-null when rows * cols > 0");
  CHECK(message([&] { quantize(host(), recipe{}, x, 2, 33, reinterpret_cast<e2m1x2*>(x) + 263, scales); }) ==
        "isobit::quantize: codes must be disjoint from x");
  // Two rows of 33 take 34 bytes, and no more: the scales may follow.
  auto* const bytes = reinterpret_cast<uint8_t*>(x);
  CHECK(message([&] {
          quantize(host(), recipe{}, x + 32, 2, 17, reinterpret_cast<e2m1x2*>(bytes), reinterpret_cast<e8m0*>(bytes + 17));
        }) == "isobit::quantize: scales must be disjoint from codes");
  CHECK(message([&] {
          quantize(host(), recipe{}, x + 32, 2, 17, reinterpret_cast<e2m1x2*>(bytes), reinterpret_cast<e8m0*>(bytes + 18));
        }) == "accepted");
  CHECK(codes.untouched());
}

} // namespace
