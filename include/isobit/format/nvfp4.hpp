// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Recipes of NVFP4: 16 elements of E2M1 share a scale of E4M3, and the tensor has one more scale in float. They are the
//! recipes of format/mx.hpp with a state: the tensor's scale.
//!
//! Sources: Transformer Engine, common/cast/nvfp4/core_nvfp4.cuh (`nv::te`); the exact recipes are the definition of the
//! format in real arithmetic, each value rounded once.
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/bits/integer.hpp>
#include <isobit/format/e2m1.hpp>
#include <isobit/format/e4m3.hpp>
#include <isobit/format/mx.hpp>
#include <isobit/format/stochastic.hpp>

namespace isobit::inline bits1 {

namespace detail {

// A finite, non-zero magnitude as m * 2^e with 2^23 <= m < 2^24.
struct normal_parts {
  uint32_t m;
  int e;
};
ISOBIT_HD constexpr normal_parts normalise(uint32_t magnitude) {
  uint32_t const field = magnitude >> 23;
  if (field != 0) return {(magnitude & 0x007fffffu) | 0x00800000u, static_cast<int>(field) - 150};
  int const up = 24 - bit_width(magnitude);
  return {magnitude << up, -149 - up};
}

// The code nearest to a / b * 2^p, ties to even, saturating; a and b are in [1, 2^32). Long division, of which the
// first mantissa_bits + 1 digits are enough, and the remainder decides.
template <small_float To> ISOBIT_HD constexpr uint32_t nearest_ratio(uint64_t a, uint64_t b, int p) {
  constexpr small_float_format f = To::format;
  int e = bit_width(a) - bit_width(b);
  if (e >= 0 ? a < (b << e) : (a << -e) < b) --e; // 2^e <= a / b < 2^(e + 1)
  int const exponent = e + p;
  if (exponent > f.largest_exponent()) return f.largest();
  int const field = exponent + f.bias;
  int const deep = field < 1 ? 1 - field : 0;
  int const below = deep < f.mantissa_bits + 2 ? deep : f.mantissa_bits + 2;
  // The quotient in units of the last place is a * 2^s / b.
  int const s = f.mantissa_bits - e - below;
  uint64_t rest = s > 0 ? a << s : a;
  uint64_t const divisor = s < 0 ? b << -s : b;
  uint32_t q = 0;
  ISOBIT_UNROLL
  for (int bit = f.mantissa_bits; bit >= 0; --bit)
    if (rest >= (divisor << bit)) {
      rest -= divisor << bit;
      q += 1u << bit;
    }
  q += 2 * rest > divisor || (2 * rest == divisor && (q & 1) != 0);
  uint32_t const code = q + (static_cast<uint32_t>(field < 1 ? 0 : field - 1) << f.mantissa_bits);
  return code > f.largest() ? f.largest() : code;
}

// One of the two codes around a / b * 2^p: the upper one with the probability that `encode_stochastic` gives, the distance
// from the lower one rounded down to a multiple of 2^-32 of their distance. Saturates; a is in [1, 2^32), b in [2^23, 2^28).
template <small_float To>
ISOBIT_HD constexpr uint32_t stochastic_ratio(uint64_t a, uint64_t b, int p, uint32_t random) {
  constexpr small_float_format f = To::format;
  int e = bit_width(a) - bit_width(b);
  if (e >= 0 ? a < (b << e) : (a << -e) < b) --e; // 2^e <= a / b < 2^(e + 1)
  int const exponent = e + p;
  if (exponent > f.largest_exponent()) return f.largest();
  int const field = exponent + f.bias;
  // The quotient in units of 2^-32 of the last place, rounded down: a * 2^s / b is below 2^(mantissa_bits + 33).
  int const s = 32 + f.mantissa_bits - e - (field < 1 ? 1 - field : 0);
  uint64_t const digits = (s >= 0 ? a << s : s > -64 ? a >> -s : 0) / b;
  uint32_t const fraction = static_cast<uint32_t>(digits);
  uint32_t const base = static_cast<uint32_t>(field < 1 ? 0 : field - 1) << f.mantissa_bits;
  uint32_t const code = static_cast<uint32_t>(digits >> 32) + base + (random < fraction);
  return code > f.largest() ? f.largest() : code;
}

// The magnitude of a finite, non-zero code as an integer times 2^e.
template <small_float T> ISOBIT_HD constexpr normal_parts code_parts(T x) {
  constexpr small_float_format f = T::format;
  uint32_t const magnitude = x.bits & f.magnitude(), field = magnitude >> f.mantissa_bits;
  uint32_t const mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  int const first = 1 - f.bias - f.mantissa_bits;
  if (field == 0) return {mantissa, first};
  return {mantissa | 1u << f.mantissa_bits, first - 1 + static_cast<int>(field)};
}

// `encode<To, overflow::saturate>(x)`, on a device in its form for devices.
template <small_float To> ISOBIT_HD constexpr To encode_for_target(float x) {
#if defined(ISOBIT_ON_DEVICE)
#if ISOBIT_HARDWARE_CONVERSIONS && defined(ISOBIT_ON_DEVICE)
  if constexpr (has_hardware_conversion<To>) return encode_by_hardware<To>(x);
#endif
  if (!__builtin_is_constant_evaluated()) return encode_by_addition<To>(x);
#endif
  return encode<To, overflow::saturate>(x);
}

// min(x, largest float) for x >= 0; NaN becomes the largest too, as in CUDA's fminf.
ISOBIT_HD constexpr float at_most_largest(float x) {
  uint32_t const magnitude = magnitude_bits(x);
  return from_bits<float>(magnitude < 0x7f7fffffu ? magnitude : 0x7f7fffffu);
}

} // namespace detail

namespace nv {

//! Transformer Engine's order of operations, every one a float rounded to nearest even: see `nvfp4<nv::te>`.
struct te {};
//! Real arithmetic, each scale and each code rounded once; the tensor's scale is amax / 2688.
struct exact {};
//! Real arithmetic, with the tensor's scale given: what a reader multiplies by, as in `code * block scale * scale`.
struct exact_scale {};

} // namespace nv

//! One NVFP4 recipe: `nvfp4<nv::te>{amax}`, `nvfp4<nv::exact>{amax}`, `nvfp4<nv::exact_scale>{scale}`.
template <class Rule> struct nvfp4;

//! The recipe of Transformer Engine, of FlashInfer with its fast math off and of torchao's training reference.
//!
//! With b the block's largest magnitude, g the tensor's, RN one rounding to float and F the largest float:
//!   S = min(RN(2688 / g), F), or 1 where g or S is 0;  scale = E4M3(min(RN(b * RN(S * fl(1/6))), F)), saturating;
//!   enc = min(RN(1 / RN(scale * RN(1 / S))), F);       code = E2M1(RN(x * enc)), saturating;
//!   back: RN(code * RN(RN(scale * g) * fl(1/2688))).
//! A scale of 0 gives enc = F: the codes are then +-6 for all but the tiniest numbers, and read back as zeros. A NaN
//! takes no part in the maximum and becomes code 7 (6.0): it is lost. An infinity gives scale 448.
//! Precondition on a host: the default floating-point environment (host entry points see to it).
template <> struct nvfp4<nv::te> {
  using element = e2m1;
  using scale = e4m3;
  static constexpr uint32_t block_size = 16;
  //! The largest magnitude of the tensor; +0 for a tensor of zeros.
  float tensor_amax;

  static constexpr char const* tensor_argument = "recipe.tensor_amax";
  static constexpr char const* tensor_needed = "finite and not negative";
  ISOBIT_HD constexpr bool is_valid() const { return is_finite(tensor_amax) && !sign_bit(tensor_amax); }

  ISOBIT_HD static constexpr uint32_t magnitude(float x) { return is_nan(x) ? 0 : magnitude_bits(x); }

  //! S: what the tensor is multiplied by before the blocks' scales are taken.
  ISOBIT_HD constexpr float encode_scale() const {
    if (is_zero(tensor_amax)) return 1.0f;
    float const s = detail::at_most_largest(div(2688.0f, tensor_amax));
    return is_zero(s) ? 1.0f : s;
  }
  ISOBIT_HD constexpr scale scale_of(uint32_t amax) const {
    constexpr float sixth = div(1.0f, 6.0f);
    float const b = from_bits<float>(amax);
    return detail::encode_for_target<e4m3>(detail::at_most_largest(mul(b, mul(encode_scale(), sixth))));
  }

  struct block_encoder {
    float factor;
    ISOBIT_HD constexpr element operator()(float x) const { return detail::encode_for_target<e2m1>(mul(x, factor)); }
    ISOBIT_HD constexpr element operator()(float x, uint32_t random) const {
      return encode_stochastic<e2m1>(mul(x, factor), random);
    }
  };
  //! The codes of a block with the scale `s`; its member `factor` is enc.
  ISOBIT_HD constexpr block_encoder encoder(scale s) const {
    return {detail::at_most_largest(div(1.0f, mul(decode(s), div(1.0f, encode_scale()))))};
  }
  ISOBIT_HD constexpr element code_of(float x, scale s) const { return encoder(s)(x); }
  ISOBIT_HD constexpr float value_of(element code, scale s) const {
    constexpr float down = div(1.0f, 2688.0f);
    return canonical(mul(decode(code), mul(mul(decode(s), tensor_amax), down)));
  }
};

namespace detail {

// The exact recipes. The tensor's scale is t / 2688 or t: `Down` tells which.
template <bool Down> struct exact_nvfp4 {
  using element = e2m1;
  using scale = e4m3;
  static constexpr uint32_t block_size = 16;

  ISOBIT_HD static constexpr uint32_t magnitude(float x) { return magnitude_bits(x); }

  // amax / (6 * scale of the tensor): 448 amax / t = 7 * 2^6 amax / t, or amax / (3 * 2 t).
  ISOBIT_HD static constexpr scale scale_for(float t, uint32_t amax) {
    if (amax >= float_fields<float>::exponent || !is_finite(t)) return {static_cast<uint8_t>(e4m3::format.nan())};
    if (amax == 0 || is_zero(t)) return {0};
    normal_parts const b = normalise(amax), g = normalise(magnitude_bits(t));
    uint32_t const code = Down ? nearest_ratio<e4m3>(uint64_t(b.m) * 7, g.m, b.e - g.e + 6)
                               : nearest_ratio<e4m3>(b.m, uint64_t(g.m) * 3, b.e - g.e - 1);
    return {static_cast<uint8_t>(code)};
  }

  struct block_encoder {
    uint64_t divisor; // 0: the block's scale is zero
    int exponent;
    bool nan;
    ISOBIT_HD constexpr element operator()(float x) const {
      return code_of(x, [](uint64_t a, uint64_t b, int p) { return nearest_ratio<e2m1>(a, b, p); });
    }
    ISOBIT_HD constexpr element operator()(float x, uint32_t random) const {
      return code_of(x, [random](uint64_t a, uint64_t b, int p) { return stochastic_ratio<e2m1>(a, b, p, random); });
    }

  private:
    // `rounded` gives the code of a / b * 2^p.
    template <class Rounding> ISOBIT_HD constexpr element code_of(float x, Rounding const& rounded) const {
      uint32_t const magnitude = magnitude_bits(x), sign = sign_bit(x) ? 8 : 0;
      if (nan || magnitude > float_fields<float>::exponent) return {7};
      if (magnitude == 0 || divisor == 0) return {static_cast<uint8_t>(sign)};
      if (magnitude == float_fields<float>::exponent) return {static_cast<uint8_t>(sign | 7)};
      normal_parts const p = normalise(magnitude);
      return {static_cast<uint8_t>(rounded(uint64_t(p.m) * (Down ? 21 : 1), divisor, p.e - exponent) | sign)};
    }
  };
  ISOBIT_HD static constexpr block_encoder encoder_for(float t, scale s) {
    if (is_nan(s) || !is_finite(t)) return {0, 0, true};
    if ((s.bits & 0x7f) == 0 || is_zero(t)) return {0, 0, false};
    normal_parts const c = code_parts(s), g = normalise(magnitude_bits(t));
    return {uint64_t(c.m) * g.m, c.e + g.e - (Down ? 7 : 0), false}; // 2688 = 21 * 2^7
  }

  ISOBIT_HD static constexpr float value_for(float t, element code, scale s) {
    bool const negative = (code.bits & 8) != 0;
    if (is_nan(s) || !is_finite(t)) return soft::detail::nan<float>();
    if ((code.bits & 7) == 0 || (s.bits & 0x7f) == 0 || is_zero(t)) return soft::detail::zero<float>(negative);
    normal_parts const q = code_parts(code), c = code_parts(s), g = normalise(magnitude_bits(t));
    uint64_t const product = uint64_t(q.m * c.m) * g.m;
    int const exponent = q.e + c.e + g.e;
    if constexpr (!Down) return soft::detail::round_and_pack<float>(negative, {0, product}, exponent);
    // At least 46 digits of the quotient, and whether anything is left.
    uint64_t const scaled = product << 28, quotient = scaled / 21;
    uint64_t const sticky = quotient * 21 != scaled;
    return soft::detail::round_and_pack<float>(negative, {0, quotient << 1 | sticky}, exponent - 28 - 7 - 1);
  }
};

} // namespace detail

//! The format's definition in real arithmetic: no division, no float operation, ties decided exactly.
//!
//! With b the block's largest magnitude and g the tensor's: scale = E4M3(448 b / g), saturating; code = E2M1(x / (scale *
//! g / 2688)), saturating; back: code * scale * g / 2688, rounded to float once. All ties to even.
//! A block whose scale rounds to 0 has codes +-0 and reads back as zeros. An infinity or NaN makes the block's scale NaN
//! (0x7f) and its codes 7: the block reads back as NaN.
template <> struct nvfp4<nv::exact> : detail::exact_nvfp4<true> {
  //! The largest magnitude of the tensor; +0 for a tensor of zeros.
  float tensor_amax;

  ISOBIT_HD constexpr explicit nvfp4(float amax) : tensor_amax(amax) {}
  static constexpr char const* tensor_argument = "recipe.tensor_amax";
  static constexpr char const* tensor_needed = "finite and not negative";
  ISOBIT_HD constexpr bool is_valid() const { return is_finite(tensor_amax) && !sign_bit(tensor_amax); }

  ISOBIT_HD constexpr scale scale_of(uint32_t amax) const { return scale_for(tensor_amax, amax); }
  ISOBIT_HD constexpr block_encoder encoder(scale s) const { return encoder_for(tensor_amax, s); }
  ISOBIT_HD constexpr element code_of(float x, scale s) const { return encoder(s)(x); }
  ISOBIT_HD constexpr float value_of(element code, scale s) const { return value_for(tensor_amax, code, s); }
};

//! As `nvfp4<nv::exact>`, for a tensor scale t that is given (a checkpoint's, say; 1 for blocks with one level of scales):
//! scale = E4M3(b / (6 t)), code = E2M1(x / (scale * t)), back: code * scale * t.
template <> struct nvfp4<nv::exact_scale> : detail::exact_nvfp4<false> {
  //! What `code * block scale` is multiplied by; positive.
  float tensor_scale;

  ISOBIT_HD constexpr explicit nvfp4(float t) : tensor_scale(t) {}
  static constexpr char const* tensor_argument = "recipe.tensor_scale";
  static constexpr char const* tensor_needed = "finite and positive";
  ISOBIT_HD constexpr bool is_valid() const {
    return is_finite(tensor_scale) && !sign_bit(tensor_scale) && !is_zero(tensor_scale);
  }

  ISOBIT_HD constexpr scale scale_of(uint32_t amax) const { return scale_for(tensor_scale, amax); }
  ISOBIT_HD constexpr block_encoder encoder(scale s) const { return encoder_for(tensor_scale, s); }
  ISOBIT_HD constexpr element code_of(float x, scale s) const { return encoder(s)(x); }
  ISOBIT_HD constexpr float value_of(element code, scale s) const { return value_for(tensor_scale, code, s); }
};

} // namespace isobit::inline bits1
