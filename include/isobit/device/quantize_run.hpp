// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a thread of the quantisation kernels does: 16 neighbouring elements of a block, read and written by 16-byte accesses
//! where the addresses allow it.
#pragma once

#include <isobit/algo/load.hpp>
#include <isobit/algo/quantized_copy.hpp>

namespace isobit::inline bits1::device {

//! A recipe whose tensor amax lies in device memory, as `device::amax` writes it: no transfer to the host between the two.
template <quantize_recipe Recipe> struct recipe_from_amax {
  uint32_t const* amax; //!< the bits of a float
};

namespace quantize_detail {
using namespace isobit::detail;

template <class Recipe> ISOBIT_HD constexpr Recipe const& recipe_of(Recipe const& recipe) { return recipe; }
template <class Recipe> ISOBIT_HD Recipe recipe_of(recipe_from_amax<Recipe> const& from) {
  return Recipe{from_bits<float>(*from.amax)};
}
template <class Source> using recipe_type = stl::remove_cvref_t<decltype(recipe_of(stl::declval<Source const&>()))>;

inline constexpr uint32_t run = 16; // elements of a thread

ISOBIT_HD inline bool is_aligned(void const* p, uint32_t bytes) {
  return reinterpret_cast<stl::uintptr_t>(p) % bytes == 0;
}

// Elements [0, n) at `x`, zeros behind them.
template <class T> ISOBIT_HD void load_run(T const* x, uint32_t n, float (&values)[run]) {
  constexpr int width = aligned_vectors<T>::width;
  if (n == run && is_aligned(x, 16)) {
    ISOBIT_UNROLL
    for (int j = 0; j < int(run); j += width) aligned_vectors<T>{x}.get(j, values + j);
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) values[j] = j < n ? decode_element(x[j]) : 0.0f;
  }
}

struct alignas(8) word8 {
  uint32_t w[2];
};

// The first n of 16 codes, at `to`: one 16-byte store, 8 bytes if packed.
template <class Element> ISOBIT_HD void store_run(Element* to, uint32_t n, Element const (&codes)[run]) {
  if (n == run && is_aligned(to, 16)) {
    word16 words{};
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) words.w[j / 4] |= uint32_t(codes[j].bits) << (8 * (j % 4));
#if defined(ISOBIT_ON_DEVICE)
    *reinterpret_cast<uint4*>(to) = __builtin_bit_cast(uint4, words);
#else
    __builtin_memcpy(to, &words, sizeof words);
#endif
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j)
      if (j < n) to[j] = codes[j];
  }
}
ISOBIT_HD inline void store_run(e2m1x2* to, uint32_t n, e2m1 const (&codes)[run]) {
  if (n == run && is_aligned(to, 8)) {
    word8 words{};
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) words.w[j / 8] |= uint32_t(codes[j].bits) << (4 * (j % 8));
#if defined(ISOBIT_ON_DEVICE)
    *reinterpret_cast<uint2*>(to) = __builtin_bit_cast(uint2, words);
#else
    __builtin_memcpy(to, &words, sizeof words);
#endif
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; j += 2) {
      uint32_t const odd = j + 1 < n ? codes[j + 1].bits : 0;
      if (j < n) to[j / 2] = e2m1x2{static_cast<uint8_t>(codes[j].bits | odd << 4)};
    }
  }
}

template <class Element> ISOBIT_HD void load_codes(Element const* from, uint32_t n, Element (&codes)[run]) {
  if (n == run && is_aligned(from, 16)) {
    word16 const words = read16(from);
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) codes[j] = Element{static_cast<uint8_t>(words.w[j / 4] >> (8 * (j % 4)))};
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) codes[j] = j < n ? from[j] : Element{0};
  }
}
ISOBIT_HD inline void load_codes(e2m1x2 const* from, uint32_t n, e2m1 (&codes)[run]) {
  ISOBIT_UNROLL
  for (uint32_t j = 0; j < run; j += 2) {
    uint32_t const two = j < n ? from[j / 2].bits : 0;
    codes[j] = e2m1{static_cast<uint8_t>(two & 15)};
    codes[j + 1] = e2m1{static_cast<uint8_t>(two >> 4)};
  }
}

// The first n of 16 numbers, at `to`.
ISOBIT_HD inline void store_floats(float* to, uint32_t n, float const (&values)[run]) {
  struct alignas(16) four {
    float value[4];
  };
  if (n == run && is_aligned(to, 16)) {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; j += 4)
      *reinterpret_cast<four*>(to + j) = four{{values[j], values[j + 1], values[j + 2], values[j + 3]}};
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j)
      if (j < n) to[j] = values[j];
  }
}

// The random bits of 16 neighbouring elements from number `first` on: five calls of Philox, of which four are enough for
// a multiple of 4.
ISOBIT_HD inline void run_bits(stochastic const& rounding, uint64_t first, uint32_t (&bits)[run]) {
  uint32_t words[run + 4];
  ISOBIT_UNROLL
  for (uint32_t q = 0; q < 5; ++q) {
    philox_block four{};
    if (q < 4 || first % 4 != 0) four = rounding.four(first / 4 + q);
    ISOBIT_UNROLL
    for (int k = 0; k < 4; ++k) words[4 * q + k] = four.word[k];
  }
  bool const one = (first & 1) != 0, two = (first & 2) != 0;
  ISOBIT_UNROLL
  for (uint32_t j = 0; j + 1 < run + 4; ++j) {
    uint32_t const here = words[j], next = words[j + 1];
    words[j] = one ? next : here;
  }
  ISOBIT_UNROLL
  for (uint32_t j = 0; j < run; ++j) {
    uint32_t const here = words[j], next = words[j + 2];
    bits[j] = two ? next : here;
  }
}

// The codes of 16 elements, numbered from `first` on in steps of `step`.
template <bool Neighbours, class Encoder, class Element>
ISOBIT_HD void encode_run(Encoder const& code, to_nearest, uint64_t, uint64_t, float const (&values)[run],
                          Element (&codes)[run]) {
  ISOBIT_UNROLL
  for (uint32_t j = 0; j < run; ++j) codes[j] = code(values[j]);
}
template <bool Neighbours, class Encoder, class Element>
ISOBIT_HD void encode_run(Encoder const& code, stochastic const& rounding, uint64_t first, uint64_t step,
                          float const (&values)[run], Element (&codes)[run]) {
  uint32_t bits[run];
  if constexpr (Neighbours) {
    run_bits(rounding, first, bits);
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) bits[j] = rounding.bits(first + j * step);
  }
  ISOBIT_UNROLL
  for (uint32_t j = 0; j < run; ++j) codes[j] = code(values[j], bits[j]);
}

// How many threads share a block of the recipe, and which block of the launch the calling thread works for.
template <class Recipe> struct lanes_of {
  static constexpr uint32_t lanes = Recipe::block_size / run;
  static_assert(Recipe::block_size % run == 0,
                "isobit: the kernels take recipes whose block is a multiple of 16 elements");
  uint32_t teams, mine; // teams of lanes in this thread block; the thread's own, or `teams` for a thread without
  bool alone;           // a thread block narrower than a team: one thread does the work of all lanes
  ISOBIT_HD lanes_of() {
    uint32_t const threads = machine::block_threads();
    alone = threads < lanes;
    teams = alone ? threads : threads / lanes;
    mine = alone ? machine::thread_rank() : machine::thread_rank() / lanes;
  }
};

// One block by its team: load(lane, values) for each lane's 16 elements, store(lane, values, scale) for their codes. Returns
// the scale; `speaks` tells the thread that is to write it.
template <class Recipe, class Load, class Store>
ISOBIT_HD typename Recipe::scale quantize_by_lanes(Recipe const& recipe, bool alone, bool& speaks, Load const& load,
                                                   Store const& store) {
  constexpr uint32_t lanes = lanes_of<Recipe>::lanes;
  float values[run];
  if constexpr (lanes > 1) {
    if (alone) {
      uint32_t amax = 0;
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        load(lane, values);
        uint32_t const m = block_amax<Recipe>(thread{}, values);
        amax = amax < m ? m : amax;
      }
      auto const scale = recipe.scale_of(amax);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        load(lane, values);
        store(lane, values, scale);
      }
      speaks = true;
      return scale;
    }
  }
  tile<int(lanes)> const team;
  load(team.thread_rank(), values);
  auto const scale = block_scale(team, recipe, values);
  store(team.thread_rank(), values, scale);
  speaks = team.thread_rank() == 0;
  return scale;
}

// Of n elements, how many are those of a lane.
ISOBIT_HD inline uint32_t lane_share(uint32_t n, uint32_t lane) {
  uint32_t const first = lane * run;
  return n < first ? 0 : n - first < run ? n - first : run;
}

// Zeros in a copy's padding of scales, by all threads of `blocks` thread blocks.
template <class Recipe, class Copy>
ISOBIT_HD void zero_padding(Copy const& copy, uint64_t rows, uint64_t cols, uint64_t block, uint64_t blocks) {
  scale_padding<typename Copy::layout> const padding{Copy::lines(rows, cols),
                                                     blocks_per_row<Recipe>(Copy::length(rows, cols))};
  uint64_t const n = padding.count(), threads = machine::block_threads();
  for (uint64_t i = block * threads + machine::thread_rank(); i < n; i += blocks * threads)
    copy.scales[padding.offset(i)] = typename Copy::scale{};
}

} // namespace quantize_detail
} // namespace isobit::inline bits1::device
