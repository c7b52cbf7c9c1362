// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Quantisation with stochastic rounding. The random bits of an element are a function of a seed, a stream and the
//! element's index in its matrix, so that no geometry, executor or device can change a code.
#pragma once

#include <isobit/algo/quantize.hpp>
#include <isobit/math/philox.hpp>

namespace isobit::inline bits1 {

//! Where random bits come from. One `stream` for each copy that must not share them: row-wise and column-wise, this
//! tensor and that, this step and the next.
struct stochastic {
  uint64_t seed;
  uint64_t stream = 0;

  //! 32 bits for element `index`: word `index % 4` of Philox4x32-10 with counter (index / 4, stream) and key `seed`.
  ISOBIT_HD constexpr uint32_t bits(uint64_t index) const { return word(four(index / 4), index); }

  //! The bits of elements 4 * quarter ... 4 * quarter + 3, and which of them are those of `index`.
  ISOBIT_HD constexpr philox_block four(uint64_t quarter) const { return philox_at(seed, stream, quarter); }
  ISOBIT_HD static constexpr uint32_t word(philox_block const& four, uint64_t index) {
    uint32_t const k = static_cast<uint32_t>(index % 4);
    return k == 0 ? four.word[0] : k == 1 ? four.word[1] : k == 2 ? four.word[2] : four.word[3];
  }
};

//! `x` rounded stochastically to `To` (e4m3, e5m2, e2m1, bf16, ...), as element `index`; see `encode_stochastic`.
template <small_float To>
ISOBIT_HD constexpr To encode_stochastic(float x, stochastic rounding, uint64_t index) {
  return encode_stochastic<To>(x, rounding.bits(index));
}

//! A recipe whose codes may be rounded stochastically: the MX recipes and those of NVFP4.
template <class R>
concept stochastic_recipe = quantize_recipe<R> && requires(R const r, typename R::scale s, float x, uint32_t random) {
  { detail::encoder_of(r, s)(x, random) } -> stl::same_as<typename R::element>;
};

//! `quantize_block` with stochastic rounding of the codes; the scale is that of the recipe. `first`: the index, in its
//! matrix, of the block's first element. Otherwise as the form of algo/quantize.hpp with `load` and `store`.
//! Guarantee: target and geometry. Cost: one Philox call for four elements.
template <class Group, stochastic_recipe Recipe, class Load, class Store>
ISOBIT_HD typename Recipe::scale quantize_block(Group group, Recipe recipe, stochastic rounding, uint64_t first,
                                                uint32_t n, Load const& load, Store const& store) {
  static_assert(Recipe::block_size % Group::size() == 0,
                "isobit: the size of the group must divide the recipe's block size (32 for MX)");
  using loaded = stl::remove_cvref_t<decltype(load(uint32_t{}))>;
  static_assert(stl::same_as<element_value<loaded>, float>,
                "isobit: quantize_block needs a load that returns float or a narrower float");
  constexpr int share = static_cast<int>(Recipe::block_size / Group::size());
  uint32_t const mine = group.thread_rank() * share;

  float values[share];
  ISOBIT_UNROLL
  for (int j = 0; j < share; ++j) values[j] = mine + j < n ? decode_element(load(mine + j)) : 0.0f;
  auto const scale = detail::block_scale(group, recipe, values);
  auto const code = detail::encoder_of(recipe, scale);
  philox_block four{};
  ISOBIT_UNROLL
  for (int j = 0; j < share; ++j) {
    uint64_t const index = first + mine + j;
    if (j == 0 || index % 4 == 0) four = rounding.four(index / 4);
    if (mine + j < n) store(mine + j, code(values[j], stochastic::word(four, index)));
  }
  return scale;
}

} // namespace isobit::inline bits1
