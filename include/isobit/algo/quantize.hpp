// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Quantises one block inside any kernel: the threads of a group share the block, the caller says where the numbers
//! come from and where the codes go.
#pragma once

#include <isobit/format/element.hpp>
#include <isobit/format/mx.hpp>
#include <isobit/group/thread.hpp>
#include <isobit/group/tile.hpp>

namespace isobit::inline bits1 {

//! What the quantisers need of a recipe; see format/mx.hpp and format/nvfp4.hpp. A recipe may also have `encoder(s)`: an
//! object to be called with the numbers of a block whose scale is `s`, which gives the same codes as `code_of`; and a type `chooses` with
//! `choose(group, values, amax)`: the scale of a block, where it depends on more than the largest magnitude.
template <class R>
concept quantize_recipe = requires(R const r, float x, uint32_t amax, typename R::element code, typename R::scale s) {
  { R::block_size } -> stl::convertible_to<uint32_t>;
  { R::magnitude(x) } -> stl::same_as<uint32_t>;
  { r.scale_of(amax) } -> stl::same_as<typename R::scale>;
  { r.code_of(x, s) } -> stl::same_as<typename R::element>;
  { r.value_of(code, s) } -> stl::same_as<float>;
};

namespace detail {

template <class Recipe> struct plain_encoder {
  Recipe recipe;
  typename Recipe::scale scale;
  template <class... Random> ISOBIT_HD constexpr typename Recipe::element operator()(float x, Random... random) const {
    return recipe.code_of(x, scale, random...);
  }
};
template <class Recipe> ISOBIT_HD constexpr auto encoder_of(Recipe const& recipe, typename Recipe::scale scale) {
  if constexpr (requires { recipe.encoder(scale); })
    return recipe.encoder(scale);
  else
    return plain_encoder<Recipe>{recipe, scale};
}

// The largest magnitude of the block that the members of the group hold, to every member.
template <class Recipe, class Group, int K> ISOBIT_HD uint32_t block_amax(Group group, float const (&values)[K]) {
  uint32_t amax = 0;
  ISOBIT_UNROLL
  for (int j = 0; j < K; ++j) {
    uint32_t const m = Recipe::magnitude(values[j]);
    amax = amax < m ? m : amax;
  }
  if constexpr (Group::size() > 1) {
    ISOBIT_UNROLL
    for (uint32_t lane_mask = Group::size() / 2; lane_mask > 0; lane_mask /= 2) {
      uint32_t const other = group.shuffle_xor(amax, lane_mask);
      amax = amax < other ? other : amax;
    }
  }
  return amax;
}

// The scale of the block: from its largest magnitude, or chosen by a recipe that looks at all its numbers.
template <class Group, class Recipe, int K>
ISOBIT_HD typename Recipe::scale block_scale(Group group, Recipe const& recipe, float const (&values)[K]) {
  uint32_t const amax = block_amax<Recipe>(group, values);
  if constexpr (requires { typename Recipe::chooses; })
    return recipe.choose(group, values, amax);
  else
    return recipe.scale_of(amax);
}

} // namespace detail

//! Quantises the block whose elements the members of `group` hold in their registers: member r holds elements
//! `r*K .. r*K + K - 1`. Returns the block's scale to every member.
//!
//! `group`: `thread{}` with K = 32, or `tile<P>{}` with K = 32/P, for the 32 elements of an MX block (16 for NVFP4). All
//! members call together. An absent element of a ragged block is +0: it changes neither the scale nor another code.
//! Guarantee: target and geometry; the scale is also order-free within the block. Cost: log2(P) shuffles.
template <class Group, quantize_recipe Recipe, int K>
ISOBIT_HD typename Recipe::scale quantize_block(Group group, Recipe recipe, float const (&values)[K],
                                                typename Recipe::element (&codes)[K]) {
  constexpr uint32_t members = Group::size();
  static_assert(members * K == Recipe::block_size,
                "isobit: the members of the group must hold exactly one block of the recipe (32 elements for MX)");
  auto const scale = detail::block_scale(group, recipe, values);
  auto const code = detail::encoder_of(recipe, scale);
  ISOBIT_UNROLL
  for (int j = 0; j < K; ++j) codes[j] = code(values[j]);
  return scale;
}

//! Quantises the block of the `n` numbers `load(0) .. load(n - 1)`, n <= the recipe's block size: `store(i, code)` is
//! called once for each of them, by the member that loaded it. Returns the scale to every member.
//!
//! Each `load(i)` is called once, so that it may compute what it returns (the output of an activation, say). It returns
//! a float, or a narrow float such as `bf16`. n is the same for all members, who all call together.
//! Guarantee and cost: as above.
template <class Group, quantize_recipe Recipe, class Load, class Store>
ISOBIT_HD typename Recipe::scale quantize_block(Group group, Recipe recipe, uint32_t n, Load const& load,
                                                Store const& store) {
  static_assert(Recipe::block_size % Group::size() == 0,
                "isobit: the size of the group must divide the recipe's block size (32 for MX)");
  using loaded = stl::remove_cvref_t<decltype(load(uint32_t{}))>;
  static_assert(stl::same_as<element_value<loaded>, float>,
                "isobit: quantize_block needs a load that returns float or a narrower float");
  constexpr int share = static_cast<int>(Recipe::block_size / Group::size());
  uint32_t const first = group.thread_rank() * share;

  float values[share];
  typename Recipe::element codes[share];
  ISOBIT_UNROLL
  for (int j = 0; j < share; ++j) values[j] = first + j < n ? decode_element(load(first + j)) : 0.0f;
  auto const scale = quantize_block(group, recipe, values, codes);
  ISOBIT_UNROLL
  for (int j = 0; j < share; ++j)
    if (first + j < n) store(first + j, codes[j]);
  return scale;
}

//! How many blocks, and so scales, a row of `cols` elements has: the last one may be ragged.
template <quantize_recipe Recipe> ISOBIT_HD constexpr uint64_t blocks_per_row(uint64_t cols) {
  return cols / Recipe::block_size + (cols % Recipe::block_size != 0);
}

} // namespace isobit::inline bits1
