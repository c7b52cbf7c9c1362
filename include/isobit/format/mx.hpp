// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Recipes of the OCP microscaling (MX) formats: 32 elements share one power of two. A recipe is a type that names
//! every choice: element format, rule for the scale, and what becomes of infinities and NaNs. Integers only.
//!
//! A recipe that `algo/quantize.hpp` accepts has: `element`, `scale` (types), `block_size`, `magnitude(x)` (what the
//! order-free unsigned maximum is taken of), `scale_of(amax)`, `code_of(x, scale)` and `value_of(code, scale)`.
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/format/e2m1.hpp>
#include <isobit/format/e2m3.hpp>
#include <isobit/format/e3m2.hpp>
#include <isobit/format/e4m3.hpp>
#include <isobit/format/e5m2.hpp>
#include <isobit/format/e8m0.hpp>
#include <isobit/format/element.hpp>
#include <isobit/format/hardware.hpp>
#include <isobit/format/stochastic.hpp>

namespace isobit::inline bits1 {

namespace detail {

// The float fields of an element format's largest number.
template <small_float Element>
inline constexpr uint32_t largest_bits = to_bits(decode(Element{Element::format.largest()}));

template <small_float Element>
inline constexpr int largest_mantissa = static_cast<int>(float_fields<float>::mantissa & largest_bits<Element>);

// The float whose exponent and mantissa continue the format's numbers to the given code, as bits.
template <small_float Element> ISOBIT_HD constexpr int continued_bits(uint32_t code) {
  constexpr small_float_format f = Element::format;
  return static_cast<int>((code << (23 - f.mantissa_bits)) + (static_cast<uint32_t>(127 - f.bias) << 23));
}

// The code of a product without a branch, the form for devices: as `encode`, by one addition that rounds. Magnitudes are
// first cut at `limit`; the sign is kept where `sign_mask` has a bit. |x| + A is a multiple of the element's last place,
// because A = 2^(e + 23 - mantissa_bits) for the numbers in [2^e, 2^(e+1)).
template <small_float Element> ISOBIT_HD constexpr Element round_by_addition(int product, int limit, int sign_mask) {
  constexpr small_float_format f = Element::format;
  constexpr int dropped = 23 - f.mantissa_bits;
  constexpr int first = 128 - f.bias; // the exponent field, in float, of the smallest normal element
  int const all = product & 0x7fffffff;
  int const magnitude = all < limit ? all : limit;
  int const at_least_normal = magnitude < (first << 23) ? first << 23 : magnitude;
  int const addend = (at_least_normal & 0x7f800000) + (dropped << 23);
  int const sum = bit_cast<int>(add(bit_cast<float>(magnitude), bit_cast<float>(addend)));
  int const code = (sum - addend) + (addend >> dropped) - ((dropped + first) << f.mantissa_bits);
  int const sign = (product >> (31 - f.exponent_bits - f.mantissa_bits)) & sign_mask;
  return Element{static_cast<uint8_t>(code | sign)};
}

// `encode<Element, overflow::saturate>(x)` in that form, for every x.
template <small_float Element> ISOBIT_HD constexpr Element encode_by_addition(float x) {
  bool const nan = magnitude_bits(x) > float_fields<float>::exponent;
  int const limit = nan ? continued_bits<Element>(Element::format.nan()) : static_cast<int>(largest_bits<Element>);
  return round_by_addition<Element>(bit_cast<int>(x), limit, nan ? 0 : static_cast<int>(Element::format.sign()));
}

// The code of x / s on a device. Precondition: x is NaN or infinite only if s is NaN or 254, as in every recipe. The
// product is exact, or far below half of the smallest element.
template <small_float Element> ISOBIT_HD constexpr Element code_by_addition(float x, e8m0 s) {
  float const product = mul(x, reciprocal(s));
#if ISOBIT_HARDWARE_CONVERSIONS && defined(ISOBIT_ON_DEVICE)
  if constexpr (has_hardware_conversion<Element>) return encode_by_hardware<Element>(product);
#endif
  // A NaN scale gives NaN products, larger than the limit, which then is what encodes to the code of NaN.
  int const limit =
      is_nan(s) ? continued_bits<Element>(Element::format.nan()) : static_cast<int>(largest_bits<Element>);
  return round_by_addition<Element>(bit_cast<int>(product), limit,
                                    is_nan(s) ? 0 : static_cast<int>(Element::format.sign()));
}

// element * scale by multiplications, the form for devices. Both are exact, but for overflow to infinity.
template <small_float Element> ISOBIT_HD constexpr float value_by_scaling(Element code, e8m0 s) {
  return canonical(mul(decode_by_scaling(code), decode(s)));
}

} // namespace detail

namespace mx {

//! OCP MX v1.0 section 6.3: 2^floor(log2 amax) / 2^emax, where emax is the exponent of the format's largest number.
//! Elements in the upper part of the top binade saturate.
struct floor {
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    return static_cast<int>(amax >> 23) - Element::format.largest_exponent();
  }
};

//! The exact round-up rule: the least power of two s with amax <= largest * s. No element saturates.
struct rceil {
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    int const mantissa = static_cast<int>(amax & float_fields<float>::mantissa);
    return floor::byte<Element>(amax) + (mantissa > detail::largest_mantissa<Element>);
  }
};

//! The round-up rule of Transformer Engine, torchao and cuBLAS: the exponent of RN(amax * fl(1 / largest)), rounded up. It
//! is `rceil` but for one amax in each format, the float after largest * 2^-127, whose product rounds down to 2^-127:
//! the byte is 0 instead of 1, and the largest element saturates.
struct rceil_te {
  //! The one amax whose scale differs from that of `rceil`: 0x04600001 for e4m3.
  template <small_float Element>
  static constexpr uint32_t exception =
      (static_cast<uint32_t>(Element::format.largest_exponent()) << 23) + detail::largest_mantissa<Element> + 1;
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    return rceil::byte<Element>(amax) - (amax == exception<Element>);
  }
};

//! The exponent of amax, one higher when its significand reaches the number halfway between the element's largest
//! significand and the next power of two: half-up of amax at the element's precision, whatever the name says (Quark,
//! aiter, torchao's EVEN, vLLM's MXFP4).
struct even {
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    return floor::byte<Element>(amax + (uint32_t(1) << (22 - Element::format.mantissa_bits)));
  }
};

//! The exponent of amax, rounded up to a power of two, over 2^emax (torchao's CEIL). At most one more than `rceil`.
struct ceil {
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    return floor::byte<Element>(amax) + ((amax & float_fields<float>::mantissa) != 0);
  }
};

//! An infinity or NaN makes the scale NaN: the whole block reads back as NaN. It never hides a NaN (torchao).
struct block_nan {
  static constexpr bool nan_wins = true;
  ISOBIT_HD static constexpr uint8_t byte([[maybe_unused]] uint32_t amax) { return e8m0::nan; }
};

//! An infinity gives the largest scale, 254, and the largest element with its sign; in such a block finite elements
//! are rounded under that scale, most of them to zero. A NaN still makes the scale NaN (ONNX).
struct saturate {
  static constexpr bool nan_wins = true;
  ISOBIT_HD static constexpr uint8_t byte(uint32_t amax) {
    return amax == float_fields<float>::exponent ? uint8_t(254) : e8m0::nan;
  }
};

//! Transformer Engine's and CUTLASS's: a NaN takes no part in the maximum, so that the scale is that of the other elements
//! (byte 0 if there are none), and the element itself becomes the format's NaN, or its largest number where it has
//! none: there the NaN is lost. Infinities as in `saturate`.
struct te_nan_ignored {
  static constexpr bool nan_wins = false;
  ISOBIT_HD static constexpr uint8_t byte([[maybe_unused]] uint32_t amax) { return 254; }
};

//! The power of two nearest to amax / largest, a tie to the even byte: what a cast to E8M0 that rounds to nearest makes of
//! the exact quotient (mlx and ml_dtypes cast so). Elements up to 1.5 times the largest times the scale saturate.
struct nearest {
  template <small_float Element> ISOBIT_HD static constexpr int byte(uint32_t amax) {
    // 3/4 of the largest number's significand, 1.3125 for e4m3: there amax / largest is halfway between two powers.
    constexpr int halfway = (3 * (0x800000 + detail::largest_mantissa<Element>)) / 4 - 0x800000;
    int const mantissa = static_cast<int>(amax & float_fields<float>::mantissa);
    int const low = floor::byte<Element>(amax) - 1;
    return low + (mantissa > halfway || (mantissa == halfway && (low & 1) != 0));
  }
};

//! One MX recipe. `Rule` is `floor`, `rceil`, `rceil_te`, `even`, `ceil` or `nearest`; `NonFinite` is `block_nan`, `saturate` or
//! `te_nan_ignored`.
template <small_float Element, class Rule, class NonFinite = block_nan> struct recipe {
  static_assert(Element::format.exponent_bits + Element::format.mantissa_bits <= 7,
                "isobit: the elements of an MX block have at most 8 bits");
  using element = Element;
  using scale = e8m0;
  static constexpr uint32_t block_size = 32;

  //! What the block's maximum is taken of: bits without sign, in which a NaN is the largest; 0 for a NaN that the
  //! policy ignores.
  ISOBIT_HD static constexpr uint32_t magnitude(float x) {
    return NonFinite::nan_wins || !is_nan(x) ? magnitude_bits(x) : 0;
  }

  //! The scale of a block whose maximal `magnitude` is `amax` (0 for a block of zeros: scale 0, which is 2^-127).
  ISOBIT_HD static constexpr scale scale_of(uint32_t amax) {
    if (amax >= float_fields<float>::exponent) return scale{NonFinite::byte(amax)};
    int const byte = Rule::template byte<Element>(amax);
    return scale{static_cast<uint8_t>(byte < 0 ? 0 : byte > 254 ? 254 : byte)};
  }

  //! The element nearest to x / s, ties to even, saturating; NaN when the scale or x is (the largest number, in formats
  //! without NaN).
  ISOBIT_HD static constexpr element code_of(float x, scale s) {
    if (!NonFinite::nan_wins && is_nan(x)) return element{static_cast<uint8_t>(Element::format.nan())};
#if defined(ISOBIT_ON_DEVICE)
    return detail::code_by_addition<Element>(x, s);
#else
    if (is_nan(s)) return element{static_cast<uint8_t>(Element::format.nan())};
    return encode<Element, overflow::saturate>(x, 127 - s.bits);
#endif
  }

  //! x / s rounded stochastically by `random`, 32 uniform bits; otherwise as above.
  ISOBIT_HD static constexpr element code_of(float x, scale s, uint32_t random) {
    if (is_nan(s)) return element{static_cast<uint8_t>(Element::format.nan())};
    return encode_stochastic<Element>(x, random, 127 - s.bits);
  }

  //! element * scale, exactly; infinity beyond the largest float; the one quiet NaN for a NaN of either.
  ISOBIT_HD static constexpr float value_of(element code, scale s) {
#if defined(ISOBIT_ON_DEVICE)
    if (!__builtin_is_constant_evaluated()) return detail::value_by_scaling(code, s);
#endif
    using fields = float_fields<float>;
    float const x = decode(code);
    uint32_t const magnitude = magnitude_bits(x);
    if (is_nan(s) || is_nan(x)) return from_bits<float>(fields::quiet_nan);
    if (magnitude == 0 || magnitude == fields::exponent) return x;
    uint32_t const sign = to_bits(x) & fields::sign;
    int const exponent = static_cast<int>(magnitude >> 23) + s.bits - 127;
    if (exponent > 254) return from_bits<float>(fields::exponent | sign);
    uint32_t const mantissa = magnitude & fields::mantissa;
    if (exponent > 0) return from_bits<float>((static_cast<uint32_t>(exponent) << 23) | mantissa | sign);
    return from_bits<float>(((mantissa | (fields::mantissa + 1)) >> (1 - exponent)) | sign);
  }
};

} // namespace mx

//! MXFP8: `mxfp8<e4m3, mx::floor>`, `mxfp8<e5m2, mx::rceil, mx::saturate>`, ...
template <small_float Element, class Rule, class NonFinite = mx::block_nan>
  requires(Element::format.sign() == 0x80)
using mxfp8 = mx::recipe<Element, Rule, NonFinite>;

//! MXFP6: `mxfp6<e3m2, mx::floor>`, `mxfp6<e2m3, mx::rceil>`, ...; one code a byte.
template <small_float Element, class Rule, class NonFinite = mx::block_nan>
  requires(Element::format.sign() == 0x20)
using mxfp6 = mx::recipe<Element, Rule, NonFinite>;

//! MXFP4: `mxfp4<mx::floor>`, `mxfp4<mx::even, mx::saturate>`, ...
template <class Rule, class NonFinite = mx::block_nan> using mxfp4 = mx::recipe<e2m1, Rule, NonFinite>;

} // namespace isobit::inline bits1
