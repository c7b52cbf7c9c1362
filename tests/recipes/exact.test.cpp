// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every recipe against rational numbers: tests/golden/quantize/exact.txt, made by tools/golden/exact.py, in which there is
// no float.
#include "vectors.hpp"

namespace {
using namespace vectors;

struct result {
  std::vector<uint8_t> bytes;    // for each block its scale and its codes
  std::vector<float> back;       // what they mean
};

template <class Recipe>
void add_block(result& out, Recipe const& recipe, std::vector<typename Recipe::element> const& codes,
               typename Recipe::scale s) {
  out.bytes.push_back(s.bits);
  for (auto c : codes) out.bytes.push_back(c.bits);
  for (auto c : codes) out.back.push_back(recipe.value_of(c, s));
}

template <class Recipe> result of_blocks(Recipe const& recipe, std::string const& set, uint64_t count) {
  result out;
  for (uint64_t b = 0; b < count; ++b) {
    std::vector<typename Recipe::element> codes;
    auto const s = by_functions(recipe, one_block(named(set), b, Recipe::block_size), codes);
    add_block(out, recipe, codes, s);
  }
  return out;
}

template <class Recipe>
result of_blocks(Recipe const& recipe, stochastic rounding, uint64_t first, std::string const& set, uint64_t count) {
  result out;
  for (uint64_t b = 0; b < count; ++b) {
    std::vector<typename Recipe::element> codes;
    uint64_t const at = first + Recipe::block_size * b;
    auto const s = by_functions(recipe, one_block(named(set), b, Recipe::block_size), codes,
                                [&](uint32_t i) { return rounding.bits(at + i); });
    add_block(out, recipe, codes, s);
  }
  return out;
}

std::string digest_of(std::vector<uint8_t> const& bytes) {
  digest d;
  for (uint8_t b : bytes) d.add(b);
  return d.text();
}
std::string digest_of(std::vector<float> const& x) {
  digest d;
  for (float v : x)
    for (int shift = 0; shift < 32; shift += 8) d.add(static_cast<uint8_t>(to_bits(v) >> shift));
  return d.text();
}
std::string joined(line const& l, size_t k) { return l[k] + " " + l[k + 1]; }

// --- MX ---

template <class Recipe> uint64_t mx_line(line const& l) {
  using E = typename Recipe::element;
  if (l[0] == "scales") {
    digest d;
    for (uint32_t amax : edges<E>()) d.add(Recipe::scale_of(amax).bits);
    return d.text() != joined(l, 3);
  }
  if (l[0] == "blocks") return digest_of(of_blocks(Recipe{}, l[3], 60).bytes) != joined(l, 4);
  if (l[0] == "special") {
    std::vector<float> x = floats(l[4]);
    x.resize(32, l[4][0] == '7' || l[4][0] == 'f' ? 1.0f : 0.0f);
    std::vector<E> codes;
    e8m0 const s = by_functions(Recipe{}, x, codes);
    return hex(s.bits, 2) != l[5] || hex_of(codes).substr(0, 6) != l[6];
  }
  // stochastic_mx
  stochastic const rounding{std::stoull(l[3]), std::stoull(l[4])};
  return digest_of(of_blocks(Recipe{}, rounding, std::stoull(l[5]), "f32", 40).bytes) != joined(l, 6);
}

template <class E, class Rule> uint64_t by_policy(line const& l) {
  if (l[0] == "special" && l[3] == "saturate") return mx_line<mx::recipe<E, Rule, mx::saturate>>(l);
  if (l[0] == "special" && l[3] == "te_nan_ignored") return mx_line<mx::recipe<E, Rule, mx::te_nan_ignored>>(l);
  return mx_line<mx::recipe<E, Rule>>(l);
}

template <class E> uint64_t by_rule(line const& l) {
  return l[2] == "floor"      ? by_policy<E, mx::floor>(l)
         : l[2] == "rceil"    ? by_policy<E, mx::rceil>(l)
         : l[2] == "rceil_te" ? by_policy<E, mx::rceil_te>(l)
         : l[2] == "even"     ? by_policy<E, mx::even>(l)
                              : by_policy<E, mx::ceil>(l);
}

uint64_t mx_differences(std::vector<line> const& file) {
  uint64_t wrong = 0;
  for (line const& l : file)
    wrong += l[1] == "e4m3"   ? by_rule<e4m3>(l)
             : l[1] == "e5m2" ? by_rule<e5m2>(l)
             : l[1] == "e3m2" ? by_rule<e3m2>(l)
             : l[1] == "e2m3" ? by_rule<e2m3>(l)
                              : by_rule<e2m1>(l);
  return wrong;
}

TEST_CASE("MX: scales at every edge, blocks, special blocks, stochastic rounding") {
  auto const file = read("exact.txt");
  struct kind {
    char const* name;
    size_t lines;
    size_t word; // the word that the control changes
  };
  for (kind k : {kind{"scales", 25, 4}, kind{"blocks", 75, 5}, kind{"special", 210, 5}, kind{"stochastic_mx", 15, 7}}) {
    auto const lines = only(file, k.name);
    CHECK(lines.size() == k.lines);
    compare_and_control(lines, mx_differences, [k](line const&, size_t i) { return i >= k.word; }, 8);
  }
}

// --- NVFP4 ---

template <class Recipe> uint64_t nv_line(Recipe const& recipe, line const& l) {
  if (l[0] == "nvblock") {
    std::vector<float> const x = one_block(named(l[3]), std::stoul(l[4]), 16);
    std::vector<e2m1> codes;
    e4m3 const s = by_functions(recipe, x, codes);
    return hex(s.bits, 2) != l[5] || hex_of(codes) != l[6];
  }
  if (l[0] == "nvblocks") {
    result const r = of_blocks(recipe, l[3], 100);
    return (digest_of(r.bytes) != joined(l, 4)) + (digest_of(r.back) != joined(l, 6));
  }
  stochastic const rounding{std::stoull(l[2]), std::stoull(l[3])};
  return digest_of(of_blocks(recipe, rounding, std::stoull(l[4]), "fine", 40).bytes) != joined(l, 5);
}

uint64_t nv_differences(std::vector<line> const& file) {
  uint64_t wrong = 0;
  for (line const& l : file) {
    float const t = from_bits<float>(l[0] == "stochastic_nv" ? 0x3f820000u : hexadecimal(l[2]));
    wrong += l[1] == "te"            ? nv_line(nvfp4<nv::te>{t}, l)
             : l[1] == "exact"       ? nv_line(nvfp4<nv::exact>{t}, l)
             : l[1] == "exact_scale" ? nv_line(nvfp4<nv::exact_scale>{t}, l)
             : l[1] == "over_absolute_256" ? nv_line(nvfp4<nv::four_over_six<nv::absolute_error, 256>>{t}, l)
             : l[1] == "over_absolute_448" ? nv_line(nvfp4<nv::four_over_six<nv::absolute_error, 448>>{t}, l)
             : l[1] == "over_square_256"   ? nv_line(nvfp4<nv::four_over_six<nv::square_error, 256>>{t}, l)
                                           : nv_line(nvfp4<nv::four_over_six<nv::square_error, 448>>{t}, l);
  }
  return wrong;
}

TEST_CASE("NVFP4: te, exact, exact_scale, four over six; blocks, what they mean, stochastic rounding") {
  auto const file = read("exact.txt");
  struct kind {
    char const* name;
    size_t lines;
    size_t word;
  };
  for (kind k : {kind{"nvblocks", 3 * 6 * 3 + 4 * 2 * 3, 5}, kind{"nvblock", 3 * 6 + 4 * 2, 5}, kind{"stochastic_nv", 12, 6}}) {
    auto const lines = only(file, k.name);
    CHECK(lines.size() == k.lines);
    compare_and_control(lines, nv_differences, [k](line const&, size_t i) { return i >= k.word; }, 8);
  }
}

// --- Hadamard ---

uint64_t hadamard_differences(std::vector<line> const& file) {
  uint64_t wrong = 0;
  for (line const& l : file) {
    uint16_t const signs = static_cast<uint16_t>(hexadecimal(l[1]));
    auto const transformed = [&](uint64_t number, bool narrow) {
      auto const v = one_block(named(l[2]), number, 16);
      float x[16];
      std::copy_n(v.begin(), 16, x);
      if (narrow)
        hadamard16_as<bf16>(x, signs);
      else
        hadamard16(x, signs);
      return std::vector<float>(x, x + 16);
    };
    if (l[0] == "hadamard_block") {
      std::string s;
      for (float x : transformed(std::stoul(l[3]), false)) s += hex(to_bits(x), 8);
      wrong += s != l[4];
      continue;
    }
    for (bool narrow : {false, true}) {
      std::vector<float> all;
      for (uint64_t b = 0; b < 100; ++b)
        for (float x : transformed(b, narrow)) all.push_back(x);
      wrong += digest_of(all) != joined(l, narrow ? 5 : 3);
    }
  }
  return wrong;
}

TEST_CASE("Hadamard: the order of the additions, the signs, the rounding to bfloat16") {
  auto const file = read("exact.txt");
  for (char const* kind : {"hadamard", "hadamard_block"}) {
    auto const lines = only(file, kind);
    CHECK(lines.size() == (kind[8] == 0 ? 12 : 4));
    compare_and_control(lines, hadamard_differences, [](line const&, size_t i) { return i >= 4; }, 8);
  }
}

} // namespace
