// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MX formats written down a second time, slowly and differently: scales by comparing exact powers of two in double, codes by a
// search among all codes.
#pragma once

#include <isobit/quantize.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace quantize_reference {
using namespace isobit;

using testing::bits_equal;

template <class Recipe> struct rule_of;
template <class E, class R, class N> struct rule_of<mx::recipe<E, R, N>> {
  using element = E;
  using rule = R;
  static constexpr bool saturates = !std::is_same_v<N, mx::block_nan>;
  static constexpr bool ignores_nan = std::is_same_v<N, mx::te_nan_ignored>;
};

template <class E> double largest() { return decode(E{static_cast<uint8_t>(E::format.largest())}); }

// Whether the scale 2^(k - 127) is large enough for a block of the largest magnitude `amax`.
template <class E, class Rule> bool fits(float amax, int k) {
  int const emax = E::format.largest_exponent();
  if constexpr (std::is_same_v<Rule, mx::floor>) {
    return amax < std::ldexp(2.0, emax + k - 127);
  } else if constexpr (std::is_same_v<Rule, mx::rceil>) {
    return amax <= std::ldexp(largest<E>(), k - 127);
  } else if constexpr (std::is_same_v<Rule, mx::rceil_te>) { // the float formula, product and rounding
    float const reciprocal = static_cast<float>(1.0 / largest<E>());
    return static_cast<float>(double(amax) * double(reciprocal)) <= std::ldexp(1.0, k - 127);
  } else if constexpr (std::is_same_v<Rule, mx::even>) {
    double const half = std::ldexp(0.5, std::max(std::ilogb(amax), -126) - E::format.mantissa_bits);
    return amax + (amax > 0 ? half : 0) < std::ldexp(2.0, emax + k - 127);
  } else {
    static_assert(std::is_same_v<Rule, mx::ceil>);
    return amax <= std::ldexp(1.0, emax + k - 127);
  }
}

// The scale byte of the numbers `x`.
template <class Recipe> int scale_byte(std::vector<float> const& x) {
  using rule = rule_of<Recipe>;
  float amax = 0;
  bool infinite = false;
  for (float v : x) {
    if (std::isnan(v)) {
      if (rule::ignores_nan) continue;
      return 255;
    }
    infinite = infinite || std::isinf(v);
    amax = std::max(amax, std::abs(v));
  }
  if (infinite) return rule::saturates ? 254 : 255;
  for (int k = 0; k < 254; ++k) // the least scale that is enough
    if (fits<typename rule::element, typename rule::rule>(amax, k)) return k;
  return 254;
}

// The code of `x` in a block with the scale byte `k`.
template <class E> uint8_t code(float x, int k) {
  if (k == 255 || std::isnan(x)) return static_cast<uint8_t>(E::format.nan());
  uint8_t const sign = std::signbit(x) ? static_cast<uint8_t>(E::format.sign()) : 0;
  double const scaled = std::ldexp(std::abs(double(x)), 127 - k);
  uint8_t best = 0;
  for (int c = 0; c <= int(E::format.largest()); ++c) {
    double const distance = std::abs(scaled - double(decode(E{static_cast<uint8_t>(c)})));
    double const least = std::abs(scaled - double(decode(E{best})));
    if (distance < least || (distance == least && c % 2 == 0)) best = static_cast<uint8_t>(c);
  }
  if (std::isinf(x)) best = static_cast<uint8_t>(E::format.largest());
  return best | sign;
}

template <class E> struct result {
  std::vector<E> codes;
  std::vector<e8m0> scales;
};

template <class Recipe, class T>
result<typename Recipe::element> quantized(std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  using E = typename Recipe::element;
  result<E> out;
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t c = 0; c < cols; c += 32) {
      std::vector<float> block;
      for (uint64_t i = c; i < cols && i < c + 32; ++i) block.push_back(decode_element(x[r * cols + i]));
      int const k = scale_byte<Recipe>(block);
      out.scales.push_back({static_cast<uint8_t>(k)});
      for (float v : block) out.codes.push_back({code<E>(v, k)});
    }
  return out;
}

// Numbers whose blocks cover the scales and whose elements lie on both sides of the roundings: some blocks tiny, some
// huge, some zero, with ties, signed zeros and subnormal numbers.
inline std::vector<float> hard_floats(uint64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(n);
  uint32_t exponent = 127;
  for (uint64_t i = 0; i < n; ++i) {
    if (i % 32 == 0) exponent = random() % 255;
    uint32_t const drop = random() % 20;
    uint32_t const e = exponent > drop ? exponent - drop : 0;
    uint32_t mantissa = random() & 0x7fffff;
    if (random() % 2) mantissa &= 0x780000;          // ties
    if (random() % 8 == 0) mantissa ^= random() % 2; // next to ties
    x[i] = from_bits<float>((random() & 0x80000000u) | (e << 23) | mantissa);
    if (random() % 16 == 0) x[i] = random() % 2 ? -0.0f : 0.0f;
  }
  for (uint64_t i = 0; i + 64 < n && i < 64; ++i) x[i + 32] = i % 2 ? -0.0f : 0.0f; // blocks of zeros
  return x;
}

template <class T> std::vector<T> narrowed(std::vector<float> const& x) {
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    if constexpr (std::is_same_v<T, float>)
      y[i] = x[i];
    else
      y[i] = encode<T, overflow::saturate>(x[i]);
  return y;
}

// An output array with two guards that must stay as they were, all of it filled with one byte.
template <class T> class guarded {
public:
  guarded(size_t n, uint8_t fill) : bytes_(n * sizeof(T) + 128, fill), n_(n), fill_(fill) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data() + 64); }
  std::vector<T> values() {
    std::vector<T> v(n_);
    if (n_ > 0) std::memcpy(v.data(), data(), n_ * sizeof(T));
    return v;
  }
  bool guards_untouched() const {
    for (size_t i = 0; i < 64; ++i)
      if (bytes_[i] != fill_ || bytes_[bytes_.size() - 1 - i] != fill_) return false;
    return true;
  }
  bool untouched() const {
    for (uint8_t b : bytes_)
      if (b != fill_) return false;
    return true;
  }

private:
  std::vector<uint8_t> bytes_;
  size_t n_;
  uint8_t fill_;
};

} // namespace quantize_reference
