// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One description and one pair of integer conversions for every floating-point format of 16 bits or fewer.
//! No floating-point arithmetic is used, so that no compiler flag and no processor state can change an answer.
#pragma once

#include <isobit/bits/cast.hpp>

namespace isobit::inline bits1 {

//! What the codes with the largest exponent mean.
enum class specials {
  ieee,    //!< the largest exponent is infinity and NaN, as in IEEE 754
  one_nan, //!< only the code with all bits below the sign set is NaN; there is no infinity
  none     //!< all codes are finite numbers
};

//! What a number beyond the format's largest becomes.
enum class overflow {
  to_special, //!< infinity; NaN where the format has no infinity; the largest number where it has neither
  saturate    //!< the largest number, with its sign; infinity too
};

//! A format of one sign bit, `exponent_bits` and `mantissa_bits`. The value of a normal code is
//! (1 + mantissa / 2^mantissa_bits) * 2^(exponent - bias); exponent 0 holds zero and the subnormal numbers.
struct small_float_format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  specials special;

  ISOBIT_HD constexpr uint32_t magnitude() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  ISOBIT_HD constexpr uint32_t sign() const { return magnitude() + 1; }
  //! The code of infinity, in formats that have one.
  ISOBIT_HD constexpr uint32_t infinity() const { return magnitude() ^ ((1u << mantissa_bits) - 1); }
  //! The code of the largest finite number.
  ISOBIT_HD constexpr uint32_t largest() const {
    return special == specials::ieee ? infinity() - 1 : special == specials::one_nan ? magnitude() - 1 : magnitude();
  }
  //! The code that every NaN becomes, whatever its sign: all bits below the sign (CUDA's NaN). Formats without NaN:
  //! the largest number, as CUDA's conversions do.
  ISOBIT_HD constexpr uint32_t nan() const { return magnitude(); }
  //! The exponent of the largest finite number.
  ISOBIT_HD constexpr int largest_exponent() const { return static_cast<int>(largest() >> mantissa_bits) - bias; }
};

//! A storage type `{ unsigned bits; }` whose format is a `small_float_format`.
template <class T>
concept small_float = requires(T x) {
  { T::format.magnitude() } -> stl::same_as<uint32_t>;
  x.bits;
};

//! The code nearest to `x * 2^power`, ties to even, in one rounding.
//! A NaN becomes `format.nan()`; a zero and a number that rounds to zero keep their signs. Source: IEEE 754-2019 4.3.1
//! and 7.4; for the 8-bit formats OCP OFP8 and the conversions of the CUDA headers, with which all results agree.
template <small_float To, overflow Overflow = overflow::to_special, ieee_float From>
ISOBIT_HD constexpr To encode(From x, int power = 0) {
  using fields = float_fields<From>;
  using word = float_bits<From>;
  constexpr small_float_format f = To::format;
  constexpr int dropped = fields::mantissa_bits - f.mantissa_bits;
  using bits = decltype(To::bits);

  word const magnitude = magnitude_bits(x);
  if (magnitude > fields::exponent) return To{static_cast<bits>(f.nan())};
  uint32_t const sign = sign_bit(x) ? f.sign() : 0;
  if (magnitude == 0) return To{static_cast<bits>(sign)};

  // A subnormal number is an integer times a power of two; as a number of its own the integer is normal.
  bool const subnormal = magnitude <= fields::mantissa;
  word const normal = subnormal ? to_bits(static_cast<From>(magnitude)) : magnitude;
  int const moved = subnormal ? fields::bias + fields::mantissa_bits - 1 : 0;
  word const significand = (normal & fields::mantissa) | (fields::mantissa + 1);

  // The exponent field in the target. Below 1, the mantissa loses one more bit for each step down.
  int const target = static_cast<int>(normal >> fields::mantissa_bits) - moved + power + f.bias - fields::bias;
  int const below = target < 1 ? 1 - target : 0;
  int const shift = dropped + (below < f.mantissa_bits + 2 ? below : f.mantissa_bits + 2);
  word const odd = (significand >> shift) & 1;
  word const rounded = (significand + (word(1) << (shift - 1)) - 1 + odd) >> shift;

  // A carry out of the mantissa moves into the exponent by itself.
  uint32_t const base = target < 1 ? 0 : static_cast<uint32_t>(target - 1);
  uint32_t code = static_cast<uint32_t>(rounded) + (base << f.mantissa_bits);
  if (magnitude == fields::exponent || target > (1 << f.exponent_bits) || code > f.largest())
    code = Overflow == overflow::saturate || f.special == specials::none ? f.largest()
           : f.special == specials::ieee                                 ? f.infinity()
                                                                         : f.nan();
  return To{static_cast<bits>(code | sign)};
}

//! The number that the code means, exactly. Every NaN becomes the one quiet NaN of isobit.
template <small_float T> ISOBIT_HD constexpr float decode(T x) {
  using fields = float_fields<float>;
  constexpr small_float_format f = T::format;
  constexpr int added = fields::mantissa_bits - f.mantissa_bits;
  uint32_t const magnitude = x.bits & f.magnitude();
  uint32_t const sign = (x.bits & f.sign()) != 0 ? fields::sign : 0;

  if (f.special == specials::ieee && magnitude >= f.infinity())
    return from_bits<float>(magnitude == f.infinity() ? fields::exponent | sign : fields::quiet_nan);
  if (f.special == specials::one_nan && magnitude == f.magnitude()) return from_bits<float>(fields::quiet_nan);
  if constexpr (f.exponent_bits == fields::exponent_bits) {
    return from_bits<float>((magnitude << added) | sign);
  } else {
    constexpr uint32_t rebias = static_cast<uint32_t>(fields::bias - f.bias) << fields::mantissa_bits;
    if (magnitude >> f.mantissa_bits) return from_bits<float>(((magnitude << added) + rebias) | sign);
    if (magnitude == 0) return from_bits<float>(sign);
    // A subnormal code is an integer times 2^(1 - bias - mantissa_bits); the integer becomes a float exactly.
    constexpr uint32_t down = static_cast<uint32_t>(f.bias - 1 + f.mantissa_bits) << fields::mantissa_bits;
    return from_bits<float>((to_bits(static_cast<float>(magnitude)) - down) | sign);
  }
}

template <small_float T> ISOBIT_HD constexpr bool is_nan(T x) {
  constexpr small_float_format f = T::format;
  uint32_t const magnitude = x.bits & f.magnitude();
  return f.special == specials::ieee ? magnitude > f.infinity()
                                     : f.special == specials::one_nan && magnitude == f.magnitude();
}

} // namespace isobit::inline bits1
