// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The inner loop of quantisation on a CPU: runs of whole blocks, on vectors of 16 bytes on every processor, of 32 bytes
//! where the processor has AVX2 (asked at run time, unless the compiler was told so). Every step is exact or one
//! nearest-even rounding, so that the bits are those of the recipes' definitions.
#pragma once

#include <isobit/algo/host_sums.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/algo/quantize.hpp>
#include <isobit/format/nvfp4.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1::detail {

#define ISOBIT_ISA quantize_base
#define ISOBIT_ISA_BYTES 16
#define ISOBIT_ISA_TARGET
#include <isobit/algo/quantize_vectors.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_BYTES
#undef ISOBIT_ISA_TARGET

#if defined(__x86_64__)
#define ISOBIT_ISA quantize_avx2
#define ISOBIT_ISA_BYTES 32
#define ISOBIT_ISA_TARGET gnu::target("avx2")
#include <isobit/algo/quantize_vectors.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_BYTES
#undef ISOBIT_ISA_TARGET
#endif

// Stores of a block's codes, one to an element or packed, from its first code on.
template <class Element> inline void put_codes(Element const* from, uint32_t n, Element* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = from[i];
}
inline void put_codes(e2m1 const* from, uint32_t n, e2m1x2* to) {
  for (uint32_t i = 0; i < n / 2; ++i) to[i] = pack(from[2 * i], from[2 * i + 1]);
  if (n % 2 != 0) to[n / 2] = pack(from[n - 1], e2m1{0});
}
template <class Element> struct codes_at {
  Element* codes;
  ISOBIT_HD void operator()(uint32_t i, Element code) const { codes[i] = code; }
};

// A block of `n` elements by the definition.
template <class Recipe, class T, class Code>
[[gnu::noinline]] typename Recipe::scale quantize_block_exactly(Recipe const& recipe, uint32_t n, T const* x,
                                                                Code* codes) {
  typename Recipe::element block[Recipe::block_size];
  auto const scale = quantize_block(thread{}, recipe, n, contiguous<T>{x}, codes_at<typename Recipe::element>{block});
  put_codes(block, n, codes);
  return scale;
}

// `Code`s of n elements that begin with a byte of their own.
template <class Code> constexpr uint64_t code_count(uint64_t n) { return stl::same_as<Code, e2m1x2> ? (n + 1) / 2 : n; }

// Codes and scales of whole blocks that lie one after another: of any recipe, block by block. Made once for a matrix of
// `blocks` blocks.
template <class Recipe> struct run_coder {
  Recipe recipe;
  run_coder(Recipe const& r, [[maybe_unused]] uint64_t blocks) : recipe(r) {}

  template <class T, class Code>
  void run(T const* x, uint64_t blocks, Code* codes, typename Recipe::scale* scales) const {
    constexpr uint32_t size = Recipe::block_size;
    for (uint64_t b = 0; b < blocks; ++b)
      scales[b] = quantize_block_exactly(recipe, size, x + b * size, codes + code_count<Code>(b * size));
  }
};

// f(the widest vectors that the processor has).
template <class F> inline void with_vectors(F const& f) {
#if defined(__x86_64__)
  if (has_avx2()) return f(quantize_avx2{});
#endif
  f(quantize_base{});
}

// Blocks of this many numbers are worked on together: first their maxima, then their scales, then their codes. They stay in
// the first cache.
inline constexpr uint64_t together = 2048;

template <class Recipe, class T, class Code>
[[gnu::noinline]] void blocks_exactly(Recipe const& recipe, T const* x, uint64_t blocks, uint32_t const* most,
                                      Code* codes, typename Recipe::scale* scales) {
  constexpr uint32_t size = Recipe::block_size;
  for (uint64_t b = 0; b < blocks; ++b)
    if (most[b] >= 0x7f800000u)
      scales[b] = quantize_block_exactly(recipe, size, x + size * b, codes + code_count<Code>(size * b));
}

// The rules whose scale is the exponent of a maximum to which something is added.
template <class Rule>
inline constexpr bool is_adding_rule =
    stl::same_as<Rule, mx::floor> || stl::same_as<Rule, mx::rceil> || stl::same_as<Rule, mx::rceil_te> ||
    stl::same_as<Rule, mx::even> || stl::same_as<Rule, mx::ceil>;
// What a rule adds to a maximum so that its exponent is that of the scale: the distance from the least mantissa that is
// rounded up to the next power of two.
template <class Rule, class Element> constexpr int rounding_of_rule() {
  constexpr uint32_t one = 0x3f800000u;
  auto const goes_up = [](uint32_t m) {
    return Rule::template byte<Element>(one + m) > Rule::template byte<Element>(one);
  };
  if (!goes_up(0x7fffffu)) return 0;
  uint32_t low = 0, high = 0x7fffffu; // goes_up(high)
  while (low < high) {
    uint32_t const middle = (low + high) / 2;
    if (goes_up(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<int>(0x800000u - low);
}
template <class Rule, class Element> constexpr int exception_of_rule() {
  if constexpr (requires { Rule::template exception<Element>; })
    return static_cast<int>(Rule::template exception<Element>);
  else
    return -1;
}

// `n` rounded up to whole vectors, the maxima from n on zero.
inline uint64_t whole_vectors(uint32_t* most, uint64_t n) {
  uint64_t const up = (n + 31) / 32 * 32;
  for (uint64_t i = n; i < up; ++i) most[i] = 0;
  return up;
}

// The MX recipes. A block with infinities or NaNs by the definition.
template <class Element, class Rule, class NonFinite> struct run_coder<mx::recipe<Element, Rule, NonFinite>> {
  using recipe_type = mx::recipe<Element, Rule, NonFinite>;
  recipe_type recipe;
  run_coder(recipe_type const& r, [[maybe_unused]] uint64_t blocks) : recipe(r) {}

  template <class T, class Code> void run(T const* x, uint64_t blocks, Code* codes, e8m0* scales) const {
    with_vectors([&](auto isa) { run_on(isa, x, blocks, codes, scales); });
  }
  // Scales and their reciprocals; true if a block has infinities or NaNs.
  template <class ISA> static bool scales_of(uint32_t* most, uint64_t n, e8m0* scale, float* factor) {
    if constexpr (is_adding_rule<Rule>) {
      constexpr int emax = Element::format.largest_exponent(), add = rounding_of_rule<Rule, Element>();
      uint64_t const padded = whole_vectors(most, n);
      auto const exception = exception_of_rule<Rule, Element>();
      return ISA::mx_scales(most, padded, emax, static_cast<unsigned>(add), exception, scale, factor);
    } else {
      bool special = false;
      for (uint64_t b = 0; b < n; ++b) {
        scale[b] = recipe_type::scale_of(most[b]);
        factor[b] = reciprocal(scale[b]);
        special |= most[b] >= 0x7f800000u;
      }
      return special;
    }
  }
  template <class ISA, class T, class Code>
  void run_on(ISA, T const* x, uint64_t blocks, Code* codes, e8m0* scales) const {
    constexpr uint64_t most_blocks = together / 32;
    uint32_t most[most_blocks];
    e8m0 scale[most_blocks];
    float factor[most_blocks];
    for (uint64_t done = 0; done < blocks; done += most_blocks) {
      uint64_t const n = blocks - done < most_blocks ? blocks - done : most_blocks;
      T const* const from = x + 32 * done;
      Code* const to = codes + code_count<Code>(32 * done);
      ISA::template amax_run<false>(from, n, most);
      bool const special = scales_of<ISA>(most, n, scale, factor);
      __builtin_memcpy(scales + done, scale, n);
      ISA::template mx_codes<Element>(from, n, factor, to);
      if (special) blocks_exactly(recipe, from, n, most, to, scales + done);
    }
  }
};

// ---- NVFP4: what depends on the tensor and a block's scale only is computed once for a matrix. ----

// A run of blocks of 16, two at a time; the last of an odd number by the definition, as those that are not finite.
template <class ISA, class Recipe, class Tables, class T, class Code>
inline void nvfp4_blocks(ISA, Recipe const& recipe, Tables const& tables, T const* x, uint64_t blocks, Code* codes,
                         e4m3* scales) {
  constexpr uint64_t most_blocks = together / 16;
  uint32_t most[most_blocks];
  e4m3 near[most_blocks];
  uint64_t const paired = tables.made ? blocks / 2 * 2 : 0;
  for (uint64_t done = 0; done < paired; done += most_blocks) {
    uint64_t const n = paired - done < most_blocks ? paired - done : most_blocks;
    T const* const from = x + 16 * done;
    Code* const to = codes + code_count<Code>(16 * done);
    ISA::template amax_run<true>(from, n / 2, most);
    bool const special = ISA::e4m3_scales(most, whole_vectors(most, n), tables, near);
    tables.correct(most, n, near);
    __builtin_memcpy(scales + done, near, n);
    tables.codes(ISA{}, from, n / 2, near, to);
    if (special) blocks_exactly(recipe, from, n, most, to, scales + done);
  }
  for (uint64_t b = paired; b < blocks; ++b)
    scales[b] = quantize_block_exactly(recipe, 16, x + 16 * b, codes + code_count<Code>(16 * b));
}

// Fewer blocks are not worth the tables.
inline constexpr uint64_t few_blocks = 64;

template <> struct run_coder<nvfp4<nv::te>> {
  using recipe_type = nvfp4<nv::te>;
  struct tables_of {
    bool made;
    float scale_factor;
    float factor[128];                                      // enc, by the scale's code
    void correct(uint32_t const*, uint64_t, e4m3*) const {} // they are right
    template <class ISA, class T, class Code>
    void codes(ISA, T const* x, uint64_t pairs, e4m3 const* scales, Code* to) const {
      float factors[together / 16];
      for (uint64_t b = 0; b < 2 * pairs; ++b) factors[b] = factor[scales[b].bits & 127];
      ISA::scaled_codes(x, pairs, factors, to);
    }
  };
  recipe_type recipe;
  tables_of tables;
  run_coder(recipe_type const& r, uint64_t blocks) : recipe(r), tables{blocks >= few_blocks, 0.0f, {}} {
    if (!tables.made) return;
    tables.scale_factor = mul(r.encode_scale(), div(1.0f, 6.0f));
    for (int c = 0; c < 127; ++c) tables.factor[c] = r.encoder(e4m3{static_cast<uint8_t>(c)}).factor;
  }
  template <class T, class Code> void run(T const* x, uint64_t blocks, Code* codes, e4m3* scales) const {
    with_vectors([&](auto isa) { nvfp4_blocks(isa, recipe, tables, x, blocks, codes, scales); });
  }
};

// The bits of the largest float magnitude up to product / divisor * 2^exponent; the float before, where that is a float
// and a tie that rounds up. product < 2^63.
inline int last_magnitude(uint64_t product, uint64_t divisor, int exponent, bool tie_goes_up) {
  uint64_t const quotient = product / divisor; // far above 2^24
  int last = bit_width(quotient) - 24;         // the last place of the float
  if (last + exponent < -149) last = -149 - exponent;
  int const field = last + exponent + 149;
  if (field > 253) return 0x7f7fffff;
  uint64_t const kept = last > 63 ? 0 : quotient >> last;
  bool const exact = last <= 63 && kept << last == quotient && quotient * divisor == product;
  return (field << 23) + static_cast<int>(kept) - (exact && tie_goes_up);
}

// The exact recipes: limits of the codes for every scale, and of the scales. Down: the tensor's scale is t / 2688.
template <bool Down> struct exact_tables {
  bool made;
  float scale_factor; // a scale's code is near that of amax times this
  int scale_limit[127];
  int limits[128][8];

  exact_tables(float t, uint64_t blocks) : made(blocks >= few_blocks && !is_zero(t)), scale_factor(0.0f) {
    if (!made) return;
    scale_factor = Down ? div(448.0f, t) : div(div(1.0f, 6.0f), t);
    normal_parts const g = normalise(magnitude_bits(t));
    for (int s = 0; s < 127; ++s) {
      constexpr uint64_t four_halfway[7] = {1, 3, 5, 7, 10, 14, 20};
      normal_parts const c = code_parts(e4m3{static_cast<uint8_t>(s)});
      uint64_t const unit = (uint64_t(c.m) * g.m) << 28;
      for (int i = 0; i < 7; ++i) // halfway between the codes i and i + 1, times both scales
        limits[s][i] = s == 0 ? 0x7fffffff
                              : last_magnitude(unit * four_halfway[i], Down ? 21 : 1,
                                               c.e + g.e - 2 - 28 - (Down ? 7 : 0), i % 2 != 0);
      // Halfway to the next scale: b = scale * t / 448, or scale * t * 6.
      uint64_t const twice = 2 * c.m + 1;
      scale_limit[s] = s == 126 ? 0x7fffffff
                                : last_magnitude((twice * g.m * (Down ? 1 : 3)) << 28, Down ? 7 : 1,
                                                 c.e - 1 + g.e - 28 + (Down ? -6 : 1), s % 2 != 0);
    }
  }
  // The scale of amax, from one that is near. An amax that is not finite gets some scale.
  e4m3 scale_of(uint32_t amax, e4m3 near) const {
    int c = near.bits, most = amax < 0x7f800000u ? static_cast<int>(amax) : 0;
    while (most > scale_limit[c]) ++c;
    while (c > 0 && most <= scale_limit[c - 1]) --c;
    return {static_cast<uint8_t>(c)};
  }
  void correct(uint32_t const* most, uint64_t n, e4m3* scales) const {
    for (uint64_t b = 0; b < n; ++b) scales[b] = scale_of(most[b], scales[b]);
  }
  template <class ISA, class T, class Code>
  void codes(ISA, T const* x, uint64_t pairs, e4m3 const* scales, Code* to) const {
    ISA::counted_codes(x, pairs, limits, scales, to);
  }
};

template <> struct run_coder<nvfp4<nv::exact>> {
  nvfp4<nv::exact> recipe;
  exact_tables<true> tables;
  run_coder(nvfp4<nv::exact> const& r, uint64_t blocks) : recipe(r), tables(r.tensor_amax, blocks) {}
  template <class T, class Code> void run(T const* x, uint64_t blocks, Code* codes, e4m3* scales) const {
    with_vectors([&](auto isa) { nvfp4_blocks(isa, recipe, tables, x, blocks, codes, scales); });
  }
};
template <> struct run_coder<nvfp4<nv::exact_scale>> {
  nvfp4<nv::exact_scale> recipe;
  exact_tables<false> tables;
  run_coder(nvfp4<nv::exact_scale> const& r, uint64_t blocks) : recipe(r), tables(r.tensor_scale, blocks) {}
  template <class T, class Code> void run(T const* x, uint64_t blocks, Code* codes, e4m3* scales) const {
    with_vectors([&](auto isa) { nvfp4_blocks(isa, recipe, tables, x, blocks, codes, scales); });
  }
};

} // namespace isobit::inline bits1::detail
#endif
