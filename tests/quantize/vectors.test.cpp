// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loops of the host, with vectors of 16 and of 32 bytes, against the recipes' definitions, block by block: every
// element, rule and policy; every exponent and the roundings between all codes.
#include <doctest/doctest.h>

#include "copies_reference.hpp"

#include <cstdlib>

namespace {

using namespace copies_reference;

// The blocks that differ from the definition. `run` as run_coder's.
template <class Recipe, class T, class Run>
uint64_t differences(Recipe recipe, std::vector<T> const& x, Run const& run) {
  constexpr uint32_t size = Recipe::block_size;
  uint64_t const blocks = x.size() / size;
  using element = typename Recipe::element;
  std::vector<element> codes(x.size());
  std::vector<typename Recipe::scale> scales(blocks);
  run(x.data(), blocks, codes.data(), scales.data());
  uint64_t wrong = 0;
  for (uint64_t b = 0; b < blocks; ++b) {
    float values[size];
    element want[size];
    for (uint32_t i = 0; i < size; ++i) values[i] = decode_element(x[b * size + i]);
    auto const scale = quantize_block(thread{}, recipe, values, want);
    wrong += scale != scales[b] || std::memcmp(want, codes.data() + b * size, size) != 0;
  }
  if constexpr (std::is_same_v<element, e2m1>) {
    std::vector<e2m1x2> packed(x.size() / 2);
    std::vector<typename Recipe::scale> again(blocks);
    run(x.data(), blocks, packed.data(), again.data());
    for (uint64_t i = 0; i < packed.size(); ++i) wrong += packed[i] != pack(codes[2 * i], codes[2 * i + 1]);
    wrong += scales != again;
  }
  return wrong;
}

template <class Recipe, class T> uint64_t mx_differences(std::vector<T> const& x) {
  uint64_t wrong = 0;
  detail::run_coder<Recipe> const coder(Recipe{}, 1000);
  auto const with = [&](auto isa) {
    wrong += differences(Recipe{}, x, [&](T const* p, uint64_t blocks, auto* codes, e8m0* scales) {
      coder.run_on(isa, p, blocks, codes, scales);
    });
  };
  with(detail::quantize_base{});
#if defined(__x86_64__)
  if (detail::has_avx2()) with(detail::quantize_avx2{});
#endif
  return wrong;
}

template <class Recipe, class T> uint64_t nvfp4_differences(Recipe recipe, std::vector<T> const& x) {
  uint64_t wrong = 0;
  detail::run_coder<Recipe> const coder(recipe, 1000);
  auto const with = [&](auto isa) {
    wrong += differences(recipe, x, [&](T const* p, uint64_t blocks, auto* codes, e4m3* scales) {
      detail::nvfp4_blocks(isa, recipe, coder.tables, p, blocks, codes, scales);
    });
  };
  with(detail::quantize_base{});
#if defined(__x86_64__)
  if (detail::has_avx2()) with(detail::quantize_avx2{});
#endif
  return wrong;
}

// One block for each float exponent, with that exponent's numbers as largest; elements at and beside the middle between
// any two codes of the format; a sprinkling of infinities and NaNs.
template <class Element> std::vector<float> between_codes(unsigned seed) {
  std::mt19937 random(seed);
  auto next = [&] { return static_cast<uint32_t>(random()); };
  std::vector<float> x;
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (int repeat = 0; repeat < 8; ++repeat) {
      float const top = from_bits<float>(exponent << 23 | (next() & (repeat % 2 ? 0x7fffffu : 0x780000u)));
      int const scale = mx::recipe<Element, mx::rceil>::scale_of(magnitude_bits(top)).bits - repeat / 4;
      for (int i = 0; i < 32; ++i) {
        uint32_t const c = next() % Element::format.largest();
        double const low = decode(Element{static_cast<uint8_t>(c)}),
                     high = decode(Element{static_cast<uint8_t>(c + 1)});
        float v = static_cast<float>(std::ldexp((low + high) / 2, scale - 127));
        if (next() % 2) v = from_bits<float>(to_bits(v) + next() % 3 - (to_bits(v) == 0 ? 0 : 1));
        v = from_bits<float>(std::min(to_bits(v), to_bits(top)));
        x.push_back(from_bits<float>(to_bits(v) | (next() & 0x80000000u)));
      }
      x[x.size() - 1 - next() % 32] = top;
      if (next() % 64 == 0) x[x.size() - 1 - next() % 32] = from_bits<float>(next() % 2 ? 0x7f800000u : 0xffc00001u);
    }
  return x;
}

template <class E, class Rule, class NonFinite> void rule() {
  CHECK(mx_differences<mx::recipe<E, Rule, NonFinite>>(between_codes<E>(7)) == 0);
}

TEST_CASE("MX: every element, every rule, every policy") {
  rule<e4m3, mx::floor, mx::block_nan>();
  rule<e4m3, mx::rceil, mx::saturate>();
  rule<e4m3, mx::rceil_te, mx::te_nan_ignored>();
  rule<e4m3, mx::even, mx::block_nan>();
  rule<e4m3, mx::ceil, mx::block_nan>();
  rule<e5m2, mx::floor, mx::saturate>();
  rule<e5m2, mx::rceil, mx::te_nan_ignored>();
  rule<e3m2, mx::floor, mx::saturate>();
  rule<e2m3, mx::floor, mx::te_nan_ignored>();
  rule<e2m1, mx::floor, mx::block_nan>();
  rule<e2m1, mx::even, mx::te_nan_ignored>();
}

TEST_CASE("all 16-bit inputs") {
  auto const all = []<class T>(T) {
    std::mt19937 random(3);
    std::vector<T> x;
    for (uint32_t i = 0; i < 65536; ++i) { // each in a block of its exponent, or one near
      x.push_back({static_cast<uint16_t>(i)});
      for (int k = 0; k < 3; ++k) x.push_back({static_cast<uint16_t>((i & 0x7f80u) | (random() & 0xffu))});
    }
    CHECK(mx_differences<mxfp8<e4m3, mx::rceil>>(x) == 0);
    CHECK(nvfp4_differences(nvfp4<nv::te>{1000.0f}, x) == 0);
    CHECK(nvfp4_differences(nvfp4<nv::exact>{1000.0f}, x) == 0);
  };
  all(bf16{});
  all(f16{});
}

// Every float is once the largest of its block, and every float is an element under the scale of its own exponent.
TEST_CASE("floats by the million; all of them under ISOBIT_EXHAUSTIVE") {
  bool const exhaustive = std::getenv("ISOBIT_EXHAUSTIVE") != nullptr;
  uint32_t const step = exhaustive ? 1 : 2053;
  std::vector<float> x;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < 0x7f800000u; i += step) {
    x.push_back(from_bits<float>(static_cast<uint32_t>(i) | (i % 3 == 0 ? 0x80000000u : 0)));
    if (x.size() < 32 * 1024 && i + step < 0x7f800000u) continue;
    x.resize((x.size() + 31) / 32 * 32);
    wrong += mx_differences<mxfp8<e4m3, mx::rceil>>(x) + mx_differences<mxfp8<e5m2, mx::floor>>(x) +
             mx_differences<mxfp4<mx::even>>(x) + nvfp4_differences(nvfp4<nv::te>{3.0f}, x) +
             nvfp4_differences(nvfp4<nv::exact>{3.0f}, x);
    x.clear();
  }
  CHECK(wrong == 0);
}

TEST_CASE("negative control: another rule differs") {
  auto const x = between_codes<e4m3>(7);
  using wrong_rule = mxfp8<e4m3, mx::ceil>;
  detail::run_coder<wrong_rule> const coder({}, 1000);
  auto const run = [&](float const* p, uint64_t blocks, auto* codes, e8m0* scales) {
    coder.run(p, blocks, codes, scales);
  };
  CHECK(differences(mxfp8<e4m3, mx::floor>{}, x, run) > 100);
}

} // namespace
