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

namespace detail {

// All units of a source, in jobs of 1 MiB for an executor.
template <class Sum, is_host Host, class Source> Sum source_sum(Host const& h, Source const& source) {
  constexpr uint64_t job_units = uint64_t(1) << 16;
  uint64_t const units = source.last - source.first;
  if (stl::same_as<Host, host<>> || units <= job_units) return serial_sum<Sum>(source);
  Sum total;
  h.run(digest_chunks(units, job_units), [&](uint64_t job) {
    uint64_t const begin = source.first + job * job_units;
    uint64_t const end = source.last - begin < job_units ? source.last : begin + job_units;
    add_atomically(&total, serial_sum<Sum>(units_slice<Source>{source, begin, end}));
  });
  return total;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
// `canonical_bits` of the elements of a unit, all at once. Bits are those of signed integers: magnitudes compare alike.
template <dtype Type> words2 canonical_unit(words2 unit) {
  constexpr int bits = dtype_bits(Type);
  constexpr number_fields f = fields_of(Type);
  if constexpr (f.magnitude == 0) {
    return unit;
  } else {
    using element = stl::conditional_t<
        bits == 64, int64_t,
        stl::conditional_t<bits == 32, int32_t, stl::conditional_t<bits == 16, int16_t, stl::int8_t>>>;
    using elements = vec<element, 128 / bits>;
    elements const x = __builtin_bit_cast(elements, unit), magnitude = x & static_cast<element>(f.magnitude);
    elements const zero = magnitude == elements{};
    elements nan{};
    if constexpr (f.first_nan <= f.magnitude) nan = magnitude >= elements{} + static_cast<element>(f.first_nan);
    return __builtin_bit_cast(words2, (x & ~(zero | nan)) | (nan & static_cast<element>(f.nan)));
  }
}
#pragma GCC diagnostic pop

// The whole units of memory that holds elements, made canonical.
template <dtype Type> struct value_units {
  unsigned char const* data;
  uint64_t first, last;
  words2 get(uint64_t unit) const { return canonical_unit<Type>(read_unit<word16>(data + 16 * (unit - first))); }
};

} // namespace detail

//! The sum over the elements `load(0) .. load(count - 1)`, as for a group of threads.
//! Level: run-to-run, target, partition. Cost: a call of `load` an element; jobs of 2^16 units for an executor.
template <digest_form Form = digest64, is_host Host, class Load>
typename Form::sum digest_elements_sum(Host const& h, Load const& load, uint64_t count, uint64_t first_unit = 0) {
  return detail::source_sum<typename Form::sum>(h, detail::element_units<Form, Load>(load, count, first_unit));
}

namespace detail {

// An array without gaps: whole units are read as memory, the rest of less than a unit element by element.
template <digest_form Form, is_host Host, class T>
typename Form::sum array_sum(Host const& h, T const* x, uint64_t count) {
  constexpr dtype type = dtype_of<T>;
  constexpr int bits = dtype_bits(type);
  constexpr bool is_packed = bits * elements_in<T> == 8 * int(sizeof(T)); // no spare bits
  if constexpr (is_packed && bits >= 8 && !Form::equates_values) {
    return digest_range<Form>(h, x, count * sizeof(T));
  } else if constexpr (is_packed && (bits >= 8 || !Form::equates_values)) {
    constexpr uint64_t per_unit = 128 / bits;
    uint64_t const units = count / per_unit;
    typename Form::sum sum;
    if constexpr (Form::equates_values)
      sum = source_sum<typename Form::sum>(h, value_units<type>{reinterpret_cast<unsigned char const*>(x), 0, units});
    else
      sum = digest_range<Form>(h, x, 16 * units);
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

//! The digest of a tensor of `T` with the extents `shape[0 .. rank)`, stored without gaps, outermost extent first.
//! Equal bytes under another type or shape have another digest. Of packed 4-bit codes (`e2m1x2`, `__nv_fp4x2_e2m1`) the
//! shape counts codes; where their number is odd, the last half byte does not count. Bits count: +0 and -0 differ, and
//! so do NaNs with different payloads; not so with `digest<by_value<digest64>>(...)`.
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
