// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MX blocks against torchao (to_mx, eager) and gfloat: tests/golden/quantize/mx_blocks.txt, made by
// tools/golden/mx_blocks.py.
//
// torchao deviates where the shared scale is 2^-127, where a block is not finite, and in its `rceil`, which takes log2 in
// float. `like_torchao` is those deviations, written as a recipe; it must give torchao's bytes everywhere.
#include "vectors.hpp"

#include <type_traits>

namespace {
using namespace vectors;

template <small_float E, class Rule> struct like_torchao {
  using exact = mx::recipe<E, std::conditional_t<std::is_same_v<Rule, mx::rceil>, mx::rceil_te, Rule>>;
  using element = E;
  using scale = e8m0;
  static constexpr uint32_t block_size = 32;
  static constexpr bool rceil = std::is_same_v<Rule, mx::rceil>;
  static constexpr bool has_nan = E::format.special != specials::none;
  static uint32_t magnitude(float x) { return magnitude_bits(x); }

  static e8m0 scale_of(uint32_t amax) {
    if (amax > 0x7f800000u) return {0xff};
    if (amax == 0x7f800000u) // the exponent of infinity taken for a number's, but for rceil
      return {static_cast<uint8_t>(rceil ? 254 : 255 - E::format.largest_exponent())};
    e8m0 s = exact::scale_of(amax);
    if constexpr (rceil) {
      // ceil(log2(quotient)) in float: a quotient one or two floats above 2^q has the logarithm q, unless q is near 0.
      int const below = mx::floor::byte<E>(amax), q = below - 127;
      uint32_t const above = (amax & 0x7fffff) - static_cast<uint32_t>(detail::largest_mantissa<E>);
      if ((above == 1 || above == 2) && below >= 0 && (q < -4 || q > 3)) s.bits = static_cast<uint8_t>(below);
    }
    return s;
  }
  static E code_of(float x, e8m0 s) {
    bool const nan = s.bits == 255 && (rceil || magnitude_bits(x) >= 0x7f800000u);
    // Formats without NaN: the bits of torch's NaN, shifted and rounded. x86's NaN of inf / inf is negative.
    uint32_t const sign = is_inf(x) && !rceil ? E::format.sign() : 0;
    if (nan) return {static_cast<uint8_t>((has_nan ? 0x7f : nan_bits) | sign)};
    if (s.bits == 255) return {static_cast<uint8_t>(sign_bit(x) ? E::format.sign() : 0)}; // x / infinity
    // Scale byte 0 is 2^-127, but the numbers are divided by 2^-126; under rceil not at all.
    int const power = s.bits != 0 ? 127 - s.bits : rceil ? 0 : 126;
    return encode<E, overflow::saturate>(x, power);
  }
  static float value_of(E code, e8m0 s) { return exact::value_of(code, s); }
  static constexpr int nan_bits = E::format.mantissa_bits == 1 ? 3 : E::format.mantissa_bits == 2 ? 0x0e : 0x0c;
};

struct both {
  std::string torchao, isobit; // the digests
  uint64_t scales_differ = 0, blocks_differ = 0;
};

template <class Deviating, class Recipe> both digests(std::vector<float> const& x) {
  digest theirs, mine;
  both out;
  for (size_t b = 0; b < x.size(); b += 32) {
    std::vector<typename Recipe::element> a, c;
    auto const begin = x.begin() + static_cast<std::ptrdiff_t>(b);
    std::vector<float> const values(begin, begin + 32);
    e8m0 const s = by_functions(Deviating{}, values, a), t = by_functions(Recipe{}, values, c);
    theirs.add(s.bits);
    mine.add(t.bits);
    bool differs = s != t;
    for (size_t i = 0; i < 32; ++i) {
      theirs.add(a[i].bits);
      mine.add(c[i].bits);
      differs = differs || a[i] != c[i];
    }
    out.scales_differ += s != t;
    out.blocks_differ += differs;
  }
  out.torchao = theirs.text();
  out.isobit = mine.text();
  return out;
}

std::vector<float> with_first(std::vector<float> const& first) {
  std::vector<float> x(32, 1.0f);
  std::copy(first.begin(), first.end(), x.begin());
  return x;
}

// Compares the file with torchao's recipe in isobit's terms, and counts how often isobit's own recipe is another one.
template <small_float E, class Rule> struct comparison {
  using deviating = like_torchao<E, Rule>;
  using recipe = typename deviating::exact;
  std::string element, rule;

  uint64_t differences(std::vector<line> const& file) const {
    uint64_t wrong = 0;
    for (line const& l : lines_of(file, {"blocks", "torchao", element, rule}))
      wrong += digests<deviating, recipe>(blocks(named(l[0]), 2000)).torchao != l[1] + " " + l[2];
    for (line const& l : lines_of(file, {"edges", "torchao", element, rule})) {
      digest d;
      for (uint32_t amax : edges<E>(1)) d.add(deviating::scale_of(amax).bits);
      wrong += d.text() != l[0] + " " + l[1];
    }
    for (line const& l : lines_of(file, {"block", "torchao", element, rule})) {
      std::vector<float> const x = one_block(named(l[0]), std::stoul(l[1]));
      wrong += !is_block(x, l[2], l[3], false) || !is_block(x, l[2], l[3], true);
    }
    for (line const& l : lines_of(file, {"special", "torchao", element, rule}))
      wrong += !is_block(with_first(floats(l[0])), l[1], l[2], false);
    return wrong;
  }

  // Whether the block's scale is `scale` and its codes begin with `codes`.
  static bool is_block(std::vector<float> const& x, std::string const& scale, std::string const& codes, bool mine) {
    std::vector<E> got;
    e8m0 const s = mine ? by_functions(recipe{}, x, got) : by_functions(deviating{}, x, got);
    return hex(s.bits, 2) == scale && hex_of(got).substr(0, codes.size()) == codes;
  }

  void check(std::vector<line> const& file) const {
    INFO(element, " ", rule);
    CHECK(differences(file) == 0);
    // The real recipe: the same bytes for all blocks whose scale is not 2^-127, but for rceil's logarithm ...
    for (std::string set : {"f32", "bf16"}) {
      both const d = digests<deviating, recipe>(blocks(named(set), 2000));
      bool const logarithm = deviating::rceil && set == "f32";
      CHECK((d.isobit == d.torchao) == !logarithm);
      CHECK((d.scales_differ > 0 && d.scales_differ < 40) == logarithm);
      CHECK(d.scales_differ == d.blocks_differ);
    }
    // ... and other codes where it is: torchao's read back as half of the numbers, under rceil as zeros.
    both const low = digests<deviating, recipe>(blocks(named("low"), 2000));
    CHECK(low.scales_differ <= (deviating::rceil ? 40 : 0));
    CHECK(low.blocks_differ > 100);
    uint64_t scales = 0;
    auto const amaxes = edges<E>(1);
    for (uint32_t amax : amaxes) scales += deviating::scale_of(amax) != recipe::scale_of(amax);
    // Two floats above each of 254 powers of two less those with q in [-4, 3] or below the scales; one of them is rceil_te's.
    CHECK(scales == (deviating::rceil ? 2 * (254u - 8 - unsigned(E::format.largest_exponent()) + 1) - 1 : 0));
  }
};

template <class F> void for_all(F const& f) {
  auto const rules = [&f](auto type, char const* name) {
    using E = decltype(type);
    f(comparison<E, mx::floor>{name, "floor"});
    f(comparison<E, mx::rceil>{name, "rceil"});
    f(comparison<E, mx::even>{name, "even"});
    f(comparison<E, mx::ceil>{name, "ceil"});
  };
  rules(e4m3{}, "e4m3");
  rules(e5m2{}, "e5m2");
  rules(e3m2{}, "e3m2");
  rules(e2m3{}, "e2m3");
  rules(e2m1{}, "e2m1");
}

TEST_CASE("torchao: every element and rule, 6000 blocks and all edges of the scale; its deviations are those written above") {
  auto const file = read("mx_blocks.txt");
  CHECK(only(file, "blocks").size() == 5 * (4 * 3 + 3));
  for_all([&](auto const& c) { c.check(file); });
}

TEST_CASE("torchao: the control, one digit changed") {
  auto const file = lines_of(read("mx_blocks.txt"), {});
  for (char const* rule : {"floor", "rceil"}) {
    std::vector<line> part;
    for (line const& l : file)
      if (l[1] == "torchao" && l[2] == "e2m1" && l[3] == rule) part.push_back(l);
    auto const differences = [rule](std::vector<line> const& lines) {
      return rule[0] == 'f' ? comparison<e2m1, mx::floor>{"e2m1", "floor"}.differences(lines)
                            : comparison<e2m1, mx::rceil>{"e2m1", "rceil"}.differences(lines);
    };
    compare_and_control(part, differences, [](line const& l, size_t k) { return k + 1 == l.size(); }, 10);
  }
}

template <small_float E> uint64_t gfloat_differences(std::vector<line> const& file, char const* element) {
  using recipe = mx::recipe<E, mx::floor>;
  uint64_t wrong = 0, lines = 0;
  for (line const& l : lines_of(file, {"blocks", "gfloat", element, "floor"})) {
    wrong += digests<recipe, recipe>(blocks(named(l[0]), 2000)).isobit != l[1] + " " + l[2];
    ++lines;
  }
  return wrong + (lines != 3);
}

TEST_CASE("gfloat: floor, every element, 6000 blocks, those with the scale 2^-127 among them") {
  auto file = read("mx_blocks.txt");
  CHECK(gfloat_differences<e4m3>(file, "e4m3") == 0);
  CHECK(gfloat_differences<e5m2>(file, "e5m2") == 0);
  CHECK(gfloat_differences<e3m2>(file, "e3m2") == 0);
  CHECK(gfloat_differences<e2m3>(file, "e2m3") == 0);
  CHECK(gfloat_differences<e2m1>(file, "e2m1") == 0);
  CHECK(gfloat_differences<e2m1>(file, "e2m3") > 0); // the control
}

} // namespace
