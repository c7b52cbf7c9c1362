// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! NVFP4 with the four-over-six choice: a block's largest number goes to code 6 or to code 4, whichever loses less.
#pragma once

#include <isobit/algo/quantize.hpp>
#include <isobit/format/nvfp4.hpp>

namespace isobit::inline bits1 {
namespace nv {

//! The error of a block: the sum of |difference|.
struct absolute_error {
  ISOBIT_HD static constexpr float of(float difference) { return isobit::abs(difference); }
};
//! The error of a block: the sum of difference^2, each square rounded.
struct square_error {
  ISOBIT_HD static constexpr float of(float difference) { return mul(difference, difference); }
};

//! The rule of `nvfp4<nv::four_over_six<Error, Largest>>`.
template <class Error = absolute_error, int Largest = 256> struct four_over_six {};

} // namespace nv

//! The four-over-six recipe, in Transformer Engine's order of operations. `Largest`, 256 or 448: the block scale that the
//! tensor's largest magnitude g would have.
//!
//! With M = 6 * Largest, S = min(RN(M / g), F) (1 where g or S is 0) and base = RN(RN(b / 6) * S), two scales are tried:
//!   scale6 = E4M3(min(base, 448)), scale4 = E4M3(min(RN(base * 1.5), 448)),
//! each with the codes of `nvfp4<nv::te>`'s formulas under this S. The error of a candidate is the sum, from the first
//! element to the last, of Error(RN(value - x)), every operation rounded, where value = RN(RN(RN(code * scale) * g) / M)
//! is also what a code means. scale4 is taken when its error is less, scale6 otherwise, so when an error is NaN.
//! NaNs and infinities, zeros, and the precondition on a host: as for `nvfp4<nv::te>`.
//! Compared: fouroversix 1.0.5 on the CPU has the same bytes for Largest = 256, but for the sign of zeros and for blocks whose
//! errors differ only by the order of the sum (tests/recipes/nvfp4_blocks.test.cpp); Transformer Engine's own output has not
//! been at hand.
template <class Error, int Largest> struct nvfp4<nv::four_over_six<Error, Largest>> {
  static_assert(Largest == 256 || Largest == 448, "isobit: four_over_six takes 256 or 448 as the largest block scale");
  using element = e2m1;
  using scale = e4m3;
  static constexpr uint32_t block_size = 16;
  using chooses = Error; //!< the scale depends on more than the block's largest magnitude
  //! The largest magnitude of the tensor; +0 for a tensor of zeros.
  float tensor_amax;

  static constexpr char const* tensor_argument = "recipe.tensor_amax";
  static constexpr char const* tensor_needed = "finite and not negative";
  ISOBIT_HD constexpr bool is_valid() const { return is_finite(tensor_amax) && !sign_bit(tensor_amax); }

  ISOBIT_HD static constexpr uint32_t magnitude(float x) { return is_nan(x) ? 0 : magnitude_bits(x); }

  ISOBIT_HD constexpr float encode_scale() const {
    if (is_zero(tensor_amax)) return 1.0f;
    float const s = detail::at_most_largest(div(6.0f * Largest, tensor_amax));
    return is_zero(s) ? 1.0f : s;
  }
  //! The scale that gives the block's largest number the code 6.
  ISOBIT_HD constexpr scale scale_of(uint32_t amax) const { return scale_from(base(amax)); }
  //! The scale that gives the block's largest number the code 4.
  ISOBIT_HD constexpr scale scale4_of(uint32_t amax) const { return scale_from(mul(base(amax), 1.5f)); }

  ISOBIT_HD constexpr auto encoder(scale s) const {
    using factor_of = nvfp4<nv::te>::block_encoder;
    return factor_of{detail::at_most_largest(div(1.0f, mul(decode(s), div(1.0f, encode_scale()))))};
  }
  ISOBIT_HD constexpr element code_of(float x, scale s) const { return encoder(s)(x); }
  ISOBIT_HD constexpr float value_of(element code, scale s) const {
    return canonical(div(mul(mul(decode(code), decode(s)), tensor_amax), 6.0f * Largest));
  }

  //! The better of the two scales, for a block that the members of `group` hold as `quantize_block` says; to all of them.
  template <class Group, int K>
  ISOBIT_HD constexpr scale choose(Group group, float const (&values)[K], uint32_t amax) const {
    scale const six = scale_of(amax), four = scale4_of(amax);
    auto const code6 = encoder(six), code4 = encoder(four);
    float error6 = 0.0f, error4 = 0.0f;
    // One member after the other adds its elements, and hands the sums on.
    for (uint32_t turn = 0; turn < Group::size(); ++turn) {
      float sum6 = error6, sum4 = error4;
      ISOBIT_UNROLL
      for (int j = 0; j < K; ++j) {
        sum6 = add(sum6, Error::of(sub(value_of(code6(values[j]), six), values[j])));
        sum4 = add(sum4, Error::of(sub(value_of(code4(values[j]), four), values[j])));
      }
      if constexpr (Group::size() > 1) {
        error6 = group.shuffle(sum6, turn);
        error4 = group.shuffle(sum4, turn);
      } else {
        error6 = sum6;
        error4 = sum4;
      }
    }
    return less(error4, error6) ? four : six;
  }

private:
  ISOBIT_HD constexpr float base(uint32_t amax) const {
    return mul(div(from_bits<float>(amax), 6.0f), encode_scale());
  }
  ISOBIT_HD static constexpr scale scale_from(float x) { return encode<e4m3, overflow::saturate>(detail::at_most_largest(x)); }
};

} // namespace isobit::inline bits1
