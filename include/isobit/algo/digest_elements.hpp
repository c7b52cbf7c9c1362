// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Digests of elements in logical order, wherever they lie: strided views, 4-bit codes, any callable, with elements
//! that are equal by value or by bits. A tensor of the same elements has the same digest in every layout.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/algo/element_source.hpp>

namespace isobit::inline bits1 {

namespace detail {

// Elements as they are stored, one after the other, in units. `Load`: load(i) is element i, not decoded.
template <digest_form Form, class Load> struct element_units {
  using element = stored_element<Load>;
  static constexpr dtype type = dtype_of<element>;
  static constexpr int bits = dtype_bits(type), per_word = 64 / bits;
  Load load;
  uint64_t count, first, last;

  ISOBIT_HD element_units(Load const& l, uint64_t n, uint64_t first_unit = 0)
      : load(l), count(n), first(first_unit),
        last(first_unit + n / (2 * per_word) + (n % (2 * per_word) != 0 ? 1 : 0)) {}

  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD words2 get(uint64_t unit) const {
    uint64_t const begin = (unit - first) * (2 * per_word);
    auto elements = elements_from(load, begin);
    uint64_t const left = count - begin, in_word = per_word;
    uint64_t const low = word(elements, left);
    return {low, left > in_word ? word(elements, left - in_word) : 0};
  }

private:
  ISOBIT_CALLS_USER_CODE
  template <class Elements> ISOBIT_HD static uint64_t word(Elements& elements, uint64_t left) {
    int const present = left < uint64_t(per_word) ? static_cast<int>(left) : per_word;
    uint64_t w = 0;
    for (int j = 0; j < present; ++j) {
      uint64_t x = stored_bits(elements.next());
      if constexpr (Form::equates_values) x = canonical_bits<type>(x);
      w |= x << (j * bits % 64);
    }
    return w;
  }
};

template <digest_form Form, class Load>
ISOBIT_HD typename Form::sum share_of_elements(Load const& load, uint64_t count, uint64_t first_unit, uint64_t rank,
                                               uint64_t members) {
  using sum = typename Form::sum;
  element_units<Form, Load> const units(load, count, first_unit);
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if (members == 1) return serial_sum<sum>(units);
#endif
  basic_digest_accumulator<sum> mine;
  for (uint64_t u = units.first + rank; u < units.last; u += members) {
    words2 const w = units.get(u);
    mine.add(w.low, w.high, u);
  }
  return mine.sum();
}

} // namespace detail

//! The sum over the elements `load(0) .. load(count - 1)` as they are stored (`stored`, `indexed`, or any callable that
//! returns `float`, `bf16`, `e2m1`, ...), by all members of a thread, tile or block; every member receives it. It
//! equals the sum over memory in which these elements lie one after the other, two 4-bit codes a byte. The elements
//! begin with unit `first_unit` of the tensor, that is with element first_unit * 128 / dtype_bits.
//! Level: run-to-run, geometry, target, partition. Cost: a call of `load` an element and about 90 instructions a unit.
ISOBIT_CALLS_USER_CODE
template <digest_form Form = digest64, class Group, class Load>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD typename Form::sum digest_elements_sum(Group const& g, Load const& load, uint64_t count,
                                                 uint64_t first_unit = 0) {
  return sum_over(g, detail::share_of_elements<Form>(load, count, first_unit, g.thread_rank(), g.size()));
}

//! The digest of the tensor with these elements and the extents `extents[0 .. rank)`, outermost first.
ISOBIT_CALLS_USER_CODE
template <digest_form Form = digest64, class Group, class Load>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD typename Form::value digest_elements(Group const& g, Load const& load, uint64_t const* extents,
                                               uint32_t rank) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) count *= extents[i];
  constexpr dtype type = dtype_of<detail::stored_element<Load>>;
  return finish_digest(digest_elements_sum<Form>(g, load, count), {type, extents, rank, Form::equates_values});
}

//! The digest of a view: that of a tensor with the same elements without gaps.
template <digest_form Form = digest64, class Group, class T, int Rank>
  requires requires(Group const g) { g.thread_rank(); }
ISOBIT_HD typename Form::value digest(Group const& g, tensor_view<T, Rank> const& view) {
  return digest_elements<Form>(g, view, view.extents, Rank);
}

} // namespace isobit::inline bits1
