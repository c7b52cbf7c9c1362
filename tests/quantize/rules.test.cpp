// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule `nearest`, the reported disagreements about rounding the shared scale, and the form of the codes for devices
// against the integer codecs.
#include <doctest/doctest.h>

#include "copies_reference.hpp"

#include <cstdlib>

namespace {

using namespace copies_reference;

template <class E> int nearest_byte(uint32_t amax) { return mx::recipe<E, mx::nearest>::scale_of(amax).bits; }

// By distances in double: amax and powers of two times the largest number are exact.
template <class E> int nearest_by_distance(uint32_t amax) {
  double const a = from_bits<float>(amax), l = largest<E>();
  int best = 0;
  for (int k = 1; k <= 254; ++k) {
    double const d = std::abs(a - std::ldexp(l, k - 127)), least = std::abs(a - std::ldexp(l, best - 127));
    if (d < least || (d == least && k % 2 == 0)) best = k;
  }
  return best;
}

template <class E> void nearest_everywhere() {
  uint64_t wrong = 0;
  std::mt19937 random(4);
  for (uint32_t e = 0; e < 255; ++e) {
    std::vector<uint32_t> mantissas{0,        1,        0x7fffff, 0x280000, 0x27ffff, 0x280001,
                                    0x100000, 0x0fffff, 0x100001, 0x340000, 0x33ffff, 0x340001};
    for (int i = 0; i < 20; ++i) mantissas.push_back(static_cast<uint32_t>(random() & 0x7fffff));
    for (uint32_t m : mantissas) wrong += nearest_byte<E>(e << 23 | m) != nearest_by_distance<E>(e << 23 | m);
  }
  CHECK(wrong == 0);
}

TEST_CASE("nearest: the power of two nearest to amax / largest, ties to the even byte") {
  nearest_everywhere<e4m3>();
  nearest_everywhere<e5m2>();
  nearest_everywhere<e3m2>();
  nearest_everywhere<e2m3>();
  nearest_everywhere<e2m1>();
  CHECK(mx::recipe<e4m3, mx::nearest>::scale_of(0x7f800000u).bits == 255);
  CHECK(mx::recipe<e4m3, mx::nearest, mx::saturate>::scale_of(0x7f800000u).bits == 254);
}

// One block: `top` and ones. The scale and what becomes of `top`.
template <class Rule> std::pair<int, float> block_of(float top) {
  std::vector<float> x(32, 1.0f), back(32);
  x[5] = top;
  std::vector<e4m3> codes(32);
  e8m0 scale{};
  using recipe = mxfp8<e4m3, Rule>;
  quantize(host(), recipe{}, x.data(), 1, 32, codes.data(), &scale);
  dequantize(host(), recipe{}, codes.data(), &scale, 1, 32, back.data());
  return {scale.bits, back[5]};
}

TEST_CASE("reported: back ends disagree on rounding the shared scale") {
  using result = std::pair<int, float>;
  CHECK(block_of<mx::rceil>(500.0f) == result{0x80, 512.0f});
  CHECK(block_of<mx::floor>(500.0f) == result{0x7f, 448.0f});
  CHECK(block_of<mx::nearest>(633.5f) == result{0x7f, 448.0f}); // 29.28 % are clipped
  CHECK(block_of<mx::rceil>(633.5f).first == 0x80);
  CHECK(block_of<mx::floor>(511.5f).first == 0x7f); // through bf16 it would be 512 and 0x80
  // Scale inputs 3.0 and 0.75, as amax = input * 448.
  CHECK(nearest_byte<e4m3>(to_bits(3.0f * 448)) == 0x80);
  CHECK(mx::recipe<e4m3, mx::rceil>::scale_of(to_bits(3.0f * 448)).bits == 0x81);
  CHECK(nearest_byte<e4m3>(to_bits(0.75f * 448)) == 0x7e);
  CHECK(mx::recipe<e4m3, mx::rceil>::scale_of(to_bits(0.75f * 448)).bits == 0x7f);
  for (float x : {448.0f, 464.0f, 464.0001f, 465.0f}) CHECK(encode<e4m3, overflow::saturate>(x).bits == 0x7e);
  CHECK(encode<e4m3, overflow::saturate>(4.25f).bits == 0x48);
  CHECK(encode<e4m3>(464.0f).bits == 0x7e);
  CHECK(encode<e4m3>(464.0001f).bits == 0x7f);
  CHECK(encode<e4m3>(465.0f).bits == 0x7f);
}

template <class E> uint64_t device_form_differences(uint32_t step) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < (uint64_t(1) << 32); i += step) {
    float const x = from_bits<float>(static_cast<uint32_t>(i));
    wrong += detail::encode_by_addition<E>(x) != encode<E, overflow::saturate>(x);
  }
  // Around every code and every middle between two.
  for (uint32_t c = 0; c < E::format.largest(); ++c)
    for (float v : {decode(E{static_cast<uint8_t>(c)}),
                    mul(0.5f, add(decode(E{static_cast<uint8_t>(c)}), decode(E{static_cast<uint8_t>(c + 1)})))})
      for (uint32_t d = 0; d < 5; ++d)
        for (uint32_t sign : {0u, 0x80000000u}) {
          float const x = from_bits<float>((to_bits(v) + d - (to_bits(v) >= 2 ? 2 : 0)) | sign);
          wrong += detail::encode_by_addition<E>(x) != encode<E, overflow::saturate>(x);
        }
  return wrong;
}

TEST_CASE("the codes for devices are those of the codecs; all floats under ISOBIT_EXHAUSTIVE") {
  uint32_t const step = std::getenv("ISOBIT_EXHAUSTIVE") != nullptr ? 1 : 4099;
  CHECK(device_form_differences<e4m3>(step) == 0);
  CHECK(device_form_differences<e5m2>(step) == 0);
  CHECK(device_form_differences<e3m2>(step) == 0);
  CHECK(device_form_differences<e2m3>(step) == 0);
  CHECK(device_form_differences<e2m1>(step) == 0);
  // The control: without saturation they differ.
  CHECK(detail::encode_by_addition<e4m3>(500.0f) != encode<e4m3>(500.0f));
}

template <class E> uint64_t value_form_differences() {
  uint64_t wrong = 0;
  for (int s = 0; s < 256; ++s)
    for (int c = 0; c < 2 * int(E::format.sign()); ++c) {
      E const code{static_cast<uint8_t>(c)};
      e8m0 const scale{static_cast<uint8_t>(s)};
      wrong += to_bits(detail::value_by_scaling(code, scale)) !=
               to_bits(mx::recipe<E, mx::floor>::value_of(code, scale));
    }
  return wrong;
}

TEST_CASE("the values for devices: every code under every scale") {
  CHECK(value_form_differences<e4m3>() == 0);
  CHECK(value_form_differences<e5m2>() == 0);
  CHECK(value_form_differences<e3m2>() == 0);
  CHECK(value_form_differences<e2m3>() == 0);
  CHECK(value_form_differences<e2m1>() == 0);
}

} // namespace
