// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVFP4 blocks against torchao and fouroversix: tests/golden/quantize/nvfp4_blocks.txt, made by
// tools/golden/nvfp4_blocks.py. Neither computes one of isobit's recipes. Their orders of operations are written here as
// recipes of a user's own, which give their bytes; and it is counted how often isobit's recipes differ.
#include "vectors.hpp"

namespace {
using namespace vectors;

// torchao's inference: one or two levels of scales, none below 2^-6, a reciprocal of the product.
template <bool TwoLevels> struct like_torchao {
  using element = e2m1;
  using scale = e4m3;
  static constexpr uint32_t block_size = 16;
  float tensor_scale; // g / 2688

  static uint32_t magnitude(float x) { return magnitude_bits(x); }
  e4m3 scale_of(uint32_t amax) const {
    float const sixth = isobit::div(from_bits<float>(amax), 6.0f);
    float const s = TwoLevels ? isobit::div(sixth, tensor_scale) : sixth;
    return encode<e4m3, overflow::saturate>(less(s, 0x1p-6f) ? 0x1p-6f : s);
  }
  e2m1 code_of(float x, e4m3 s) const {
    float const up = TwoLevels ? isobit::div(1.0f, tensor_scale) : 1.0f;
    return encode<e2m1>(mul(x, isobit::div(up, decode(s))));
  }
  float value_of(e2m1 code, e4m3 s) const { return mul(decode(code), mul(decode(s), tensor_scale)); }
};

// fouroversix: a zero has no sign; static_6 divides by six where Transformer Engine multiplies by a sixth.
template <class Recipe> struct like_fouroversix : Recipe {
  e2m1 code_of(float x, e4m3 s) const {
    if (is_zero(x) || s.bits == 0) return {0};
    return Recipe::code_of(x, s);
  }
  void encoder(e4m3) const = delete;
};
struct static_6 : like_fouroversix<nvfp4<nv::te>> {
  e4m3 scale_of(uint32_t amax) const {
    return encode<e4m3, overflow::saturate>(mul(isobit::div(from_bits<float>(amax), 6.0f), encode_scale()));
  }
};
// Four over six: the errors are added as torch's kernel for eight lanes does, x[i] + x[i + 8] first.
template <class Error> struct fouroversix : like_fouroversix<nvfp4<nv::four_over_six<Error, 256>>> {
  using chooses = Error;
  float error(float const (&x)[16], e4m3 s) const {
    float lane[8], sum = 0.0f;
    auto const one = [&](int i) { return Error::of(sub(this->value_of(this->code_of(x[i], s), s), x[i])); };
    for (int i = 0; i < 8; ++i) lane[i] = add(one(i), one(i + 8));
    for (float v : lane) sum = add(sum, v);
    return sum;
  }
  template <class Group> e4m3 choose(Group, float const (&x)[16], uint32_t amax) const {
    e4m3 const six = this->scale_of(amax), four = this->scale4_of(amax);
    return less(error(x, four), error(x, six)) ? four : six;
  }
};

struct answers {
  std::vector<uint8_t> scales;
  std::vector<std::vector<e2m1>> codes;

  std::string digest() const {
    vectors::digest d;
    for (size_t b = 0; b < scales.size(); ++b) {
      d.add(scales[b]);
      for (e2m1 c : codes[b]) d.add(c.bits);
    }
    return d.text();
  }
};

constexpr uint64_t count = 2000;

// Block by block, each element by `code_of`.
template <class Recipe> answers answer(Recipe const& recipe, std::string const& set) {
  answers out;
  for (uint64_t b = 0; b < count; ++b) {
    auto const x = one_block(named(set), b, 16);
    float values[16];
    std::copy_n(x.begin(), 16, values);
    e4m3 const s = detail::block_scale(thread{}, recipe, values);
    out.scales.push_back(s.bits);
    out.codes.emplace_back();
    for (float v : x) out.codes.back().push_back(recipe.code_of(v, s));
  }
  return out;
}

struct difference {
  int scales = 0, codes = 0; // codes: of blocks with equal scales
  bool operator==(difference const&) const = default;
  difference& operator+=(difference const& d) {
    scales += d.scales;
    codes += d.codes;
    return *this;
  }
};
difference compare(answers const& a, answers const& b) {
  difference d;
  for (size_t i = 0; i < a.scales.size(); ++i) {
    d.scales += a.scales[i] != b.scales[i];
    if (a.scales[i] == b.scales[i])
      for (size_t k = 0; k < 16; ++k) {
        bool const zeros = a.codes[i][k].bits % 8 == 0 && b.codes[i][k].bits % 8 == 0; // fouroversix has no -0
        d.codes += a.codes[i][k] != b.codes[i][k] && !zeros;
      }
  }
  return d;
}

// Calls f with the recipe of a line: LIBRARY RECIPE TENSOR.
template <class F> auto with_recipe(line const& l, F const& f) {
  float const g = from_bits<float>(hexadecimal(l[3]));
  if (l[2] == "one_level") return f(like_torchao<false>{1.0f});
  if (l[2] == "two_levels") return f(like_torchao<true>{isobit::div(g, 2688.0f)});
  if (l[2] == "static_6") return f(static_6{{{g}}});
  if (l[2] == "mae") return f(fouroversix<nv::absolute_error>{{{g}}});
  return f(fouroversix<nv::square_error>{{{g}}});
}

uint64_t differences(std::vector<line> const& file) {
  uint64_t wrong = 0;
  for (line const& l : file) {
    wrong += with_recipe(l, [&](auto const& recipe) -> uint64_t {
      answers const a = answer(recipe, l[4]);
      if (l[0] == "blocks") return a.digest() != l[5] + " " + l[6];
      size_t const n = std::stoul(l[5]);
      return hex(a.scales[n], 2) != l[6] || hex_of(a.codes[n]) != l[7];
    });
  }
  return wrong;
}

TEST_CASE("torchao and fouroversix, in isobit's terms: their bytes") {
  auto const file = read("nvfp4_blocks.txt");
  CHECK(only(file, "blocks").size() == 26);
  for (char const* kind : {"blocks", "block"})
    compare_and_control(only(file, kind), differences, [](line const& l, size_t k) { return k + 1 == l.size(); }, 3);
}

TEST_CASE("how often isobit's recipes differ from them") {
  difference torchao_te, torchao_exact, one_level, static_te, static_exact, absolute, square;
  for (std::string set : {"grid", "fine"}) {
    one_level += compare(answer(like_torchao<false>{1.0f}, set), answer(nvfp4<nv::exact_scale>{1.0f}, set));
    for (uint32_t bits : {0x3f800000u, 0x3f8c0000u, 0x3f820000u}) {
      float const g = from_bits<float>(bits);
      answers const a = answer(like_torchao<true>{isobit::div(g, 2688.0f)}, set), b = answer(static_6{{{g}}}, set);
      answers const te = answer(nvfp4<nv::te>{g}, set), exact = answer(nvfp4<nv::exact>{g}, set);
      torchao_te += compare(a, te);
      torchao_exact += compare(a, exact);
      static_te += compare(b, te);
      static_exact += compare(b, exact);
      using over_absolute = nvfp4<nv::four_over_six<nv::absolute_error, 256>>;
      using over_square = nvfp4<nv::four_over_six<nv::square_error, 256>>;
      absolute += compare(answer(fouroversix<nv::absolute_error>{{{g}}}, set), answer(over_absolute{g}, set));
      square += compare(answer(fouroversix<nv::square_error>{{{g}}}, set), answer(over_square{g}, set));
    }
  }
  // Of 12,000 blocks each, half of them bfloat16; the codes are those of blocks with the same scale. Docs: quantize.md.
  CHECK((torchao_te == difference{30, 41}));
  CHECK((torchao_exact == difference{11, 9}));
  CHECK((static_te == difference{20, 0}));
  CHECK((static_exact == difference{21, 38}));
  CHECK((absolute == difference{2, 0})); // the order of the sums alone
  CHECK((square == difference{2, 0}));
  CHECK((one_level == difference{2737, 1})); // of 4000: torchao's scales are never below 2^-6
}

} // namespace
