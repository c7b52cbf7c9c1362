// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Digests of tensors on a CPU: arrays, packed 4-bit codes, strided views, any callable.
#pragma once

#include <isobit/algo/digest_elements.hpp>
#include <isobit/algo/digest_host.hpp>

#if !defined(__CUDACC_RTC__)
#include <initializer_list>

namespace isobit::inline bits1 {

namespace detail {

inline uint64_t element_count(char const* function, uint64_t const* extents, size_t rank, uint64_t element_bits) {
  uint64_t count = 1, bits;
  for (size_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(count, extents[i], &count))
      throw invalid_argument(function, "shape", "of fewer than 2^64 elements");
  if (__builtin_mul_overflow(count, element_bits < 8 ? 1 : element_bits / 8, &bits))
    throw invalid_argument(function, "shape", "of fewer than 2^64 bytes");
  return count;
}

// The units [first, last) of another source.
template <class Source> struct units_slice {
  Source source;
  uint64_t first, last;
  words2 get(uint64_t unit) const { return source.get(unit); }
};

// No gaps, and the order of memory.
template <class T, int Rank> constexpr bool is_dense(tensor_view<T, Rank> const& view) {
  uint64_t stride = 1;
  for (int d = Rank - 1; d >= 0; --d) {
    if (view.extents[d] != 1 && static_cast<uint64_t>(view.strides[d]) != stride) return false;
    stride *= view.extents[d];
  }
  return view.offset == 0;
}

} // namespace detail

//! The sum over the elements `load(0) .. load(count - 1)`, as for a group of threads.
//! Level: run-to-run, target, partition. Cost: a call of `load` an element; jobs of 2^16 units for an executor.
template <digest_form Form = digest64, is_host Host, class Load>
typename Form::sum digest_elements_sum(Host const& h, Load const& load, uint64_t count, uint64_t first_unit = 0) {
  using units_type = detail::element_units<Form, Load>;
  using sum = typename Form::sum;
  units_type const units(load, count, first_unit);
  constexpr uint64_t job_units = uint64_t(1) << 16;
  if (stl::same_as<Host, host<>> || units.last - units.first <= job_units) return detail::serial_sum<sum>(units);
  sum total;
  h.run(digest_chunks(units.last - units.first, job_units), [&](uint64_t job) {
    uint64_t const begin = units.first + job * job_units;
    uint64_t const end = units.last - begin < job_units ? units.last : begin + job_units;
    detail::add_atomically(&total, detail::serial_sum<sum>(detail::units_slice<units_type>{units, begin, end}));
  });
  return total;
}

namespace detail {

template <digest_form Form, is_host Host, class T>
typename Form::sum array_sum(Host const& h, T const* x, uint64_t count) {
  constexpr int bits = dtype_bits(dtype_of<T>);
  constexpr bool is_memory = bits * elements_in<T> == 8 * int(sizeof(T)) && !Form::equates_values;
  if constexpr (is_memory && bits >= 8) {
    return digest_range<Form>(h, x, count * sizeof(T));
  } else if constexpr (is_memory) { // whole units are memory; the rest may end with half a byte
    constexpr uint64_t per_unit = 128 / bits;
    uint64_t const units = count / per_unit;
    auto sum = digest_range<Form>(h, x, 16 * units);
    sum += digest_elements_sum<Form>(h, stored(x + units * per_unit / elements_in<T>), count % per_unit, units);
    return sum;
  } else {
    return digest_elements_sum<Form>(h, stored(x), count);
  }
}

} // namespace detail

//! The digest of the tensor with the extents `shape`, outermost first, whose elements in logical order are `load(0)`,
//! `load(1)`, ... Throws `invalid_argument` (a shape of 2^64 elements or more).
template <digest_form Form = digest64, is_host Host, class Load>
  requires(!stl::is_pointer_v<Load>)
typename Form::value digest_elements(Host const& h, Load const& load, std::initializer_list<uint64_t> shape) {
  constexpr dtype type = dtype_of<detail::stored_element<Load>>;
  uint64_t const count = detail::element_count("digest_elements", shape.begin(), shape.size(), dtype_bits(type));
  return finish_digest(digest_elements_sum<Form>(h, load, count),
                       {type, shape.begin(), static_cast<uint32_t>(shape.size()), Form::equates_values});
}

//! The digest of a tensor of `T` with the extents `shape[0 .. rank)`, stored without gaps, outermost extent first. Equal
//! bytes under another type or shape have another digest. Of packed 4-bit codes (`e2m1x2`, `__nv_fp4x2_e2m1`) the shape
//! counts codes; where their number is odd, the last half byte does not count. Bits count: +0 and -0 differ, and so do
//! NaNs with different payloads; not so with `digest<by_value<digest64>>(...)`.
//! Throws `invalid_argument` (null, or a shape of 2^64 bytes or more). Level: run-to-run, target, partition.
template <digest_form Form = digest64, is_host Host, class T>
typename Form::value digest(Host const& h, T const* x, uint64_t const* shape, uint32_t rank) {
  constexpr dtype type = dtype_of<T>;
  uint64_t const count = detail::element_count("digest", shape, rank, dtype_bits(type));
  detail::check_memory("digest", x, count);
  return finish_digest(detail::array_sum<Form>(h, x, count), {type, shape, rank, Form::equates_values});
}
//! The same: `digest(host(), weights, {rows, columns})`.
template <digest_form Form = digest64, is_host Host, class T>
typename Form::value digest(Host const& h, T const* x, std::initializer_list<uint64_t> shape) {
  return digest<Form>(h, x, shape.begin(), static_cast<uint32_t>(shape.size()));
}

//! The digest of a view: that of a tensor with the same elements without gaps.
template <digest_form Form = digest64, is_host Host, class T, int Rank>
typename Form::value digest(Host const& h, tensor_view<T, Rank> const& view) {
  constexpr dtype type = dtype_of<T>;
  uint64_t const count = detail::element_count("digest", view.extents, Rank, dtype_bits(type));
  detail::check_memory("digest", view.data, count);
  auto const sum = detail::is_dense(view) ? detail::array_sum<Form>(h, view.data, count)
                                          : digest_elements_sum<Form>(h, view, count);
  return finish_digest(sum, {type, view.extents, Rank, Form::equates_values});
}

} // namespace isobit::inline bits1
#endif
