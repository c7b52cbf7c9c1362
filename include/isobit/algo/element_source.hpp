// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Elements as they are stored, by their number in logical order: arrays, packed 4-bit codes, strided views, and index
//! maps for any layout. Unlike the loads of algo/load.hpp they are not decoded: a fingerprint wants the bits.
#pragma once

#include <isobit/algo/dtype.hpp>
#include <isobit/bits/cast.hpp>

namespace isobit::inline bits1 {

//! The elements of an array, as they are stored. Of two 4-bit codes in a byte the even one is in the low half.
template <class T> struct stored_elements {
  T const* data;
  ISOBIT_HD T operator()(uint64_t i) const { return data[i]; }
};
template <class T>
  requires(elements_in<T> == 2)
struct stored_elements<T> {
  T const* data;
  ISOBIT_HD e2m1 operator()(uint64_t i) const {
    uint8_t const both = isobit::bit_cast<uint8_t>(data[i / 2]);
    return e2m1{static_cast<uint8_t>(i % 2 == 0 ? both & 15 : both >> 4)};
  }
};
template <class T> ISOBIT_HD stored_elements<T> stored(T const* data) { return {data}; }

//! Element i is `load(map(i))`: `map` says where the element with logical number i lies.
template <class Load, class Map> struct indexed_elements {
  Load load;
  Map map;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t i) const { return load(map(i)); }
};
template <class Load, class Map> ISOBIT_HD indexed_elements<Load, Map> indexed(Load const& load, Map const& map) {
  return {load, map};
}

//! A matrix by a map of rows and columns: element i is `load(map(i / columns, i % columns))`.
template <class Map> struct matrix_map {
  uint64_t columns;
  Map map;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD uint64_t operator()(uint64_t i) const { return map(i / columns, i % columns); }
};
template <class Load, class Map>
ISOBIT_HD indexed_elements<Load, matrix_map<Map>> indexed(Load const& load, uint64_t columns, Map const& map) {
  return {load, {columns, map}};
}

//! A view of `Rank` dimensions of an array, outermost extent first. Strides count elements (4-bit codes, not bytes) and
//! may be 0 or negative; element (i0, i1, ...) is number `offset + i0 * strides[0] + i1 * strides[1] + ...` of `data`.
template <class T, int Rank> struct tensor_view {
  static_assert(Rank >= 1, "isobit: a view has at least one dimension");
  T const* data;
  uint64_t extents[Rank];
  int64_t strides[Rank];
  int64_t offset = 0;

  ISOBIT_HD auto operator()(uint64_t i) const { return from(i).next(); }

  ISOBIT_HD constexpr uint64_t count() const {
    uint64_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= extents[d];
    return n;
  }

  //! The elements from logical number `i` on, one after the other, without a division each.
  struct cursor {
    stored_elements<T> elements;
    uint64_t index[Rank], extents[Rank];
    int64_t strides[Rank], at;
    ISOBIT_HD auto next() {
      auto const x = elements(static_cast<uint64_t>(at));
      ISOBIT_UNROLL
      for (int d = Rank - 1; d >= 0; --d) {
        at += strides[d];
        if (++index[d] < extents[d]) break;
        at -= static_cast<int64_t>(extents[d]) * strides[d];
        index[d] = 0;
      }
      return x;
    }
  };
  ISOBIT_HD cursor from(uint64_t i) const {
    cursor c{{data}, {}, {}, {}, offset};
    ISOBIT_UNROLL
    for (int d = Rank - 1; d >= 0; --d) {
      c.extents[d] = extents[d];
      c.strides[d] = strides[d];
      c.index[d] = i % extents[d];
      i /= extents[d];
      c.at += static_cast<int64_t>(c.index[d]) * strides[d];
    }
    return c;
  }
};

namespace detail {

template <class Load> using stored_element = stl::remove_cvref_t<decltype(stl::declval<Load const&>()(uint64_t{}))>;

// Elements one after the other of any callable.
template <class Load> struct counting_cursor {
  Load const* load;
  uint64_t i;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto next() { return (*load)(i++); }
};
ISOBIT_CALLS_USER_CODE
template <class Load> ISOBIT_HD auto elements_from(Load const& load, uint64_t i) {
  if constexpr (requires { load.from(i); })
    return load.from(i);
  else
    return counting_cursor<Load>{&load, i};
}

// The bits of one element, in the low dtype_bits bits.
template <class T> ISOBIT_HD constexpr uint64_t stored_bits(T const& x) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "isobit: an element of a digest has 1, 2, 4 or 8 bytes");
  static_assert(elements_in<T> == 1, "isobit: a load for a digest returns single elements");
  constexpr int bits = dtype_bits(dtype_of<T>);
  if constexpr (bits == 64)
    return isobit::bit_cast<uint64_t>(x);
  else if constexpr (bits == 32)
    return isobit::bit_cast<uint32_t>(x);
  else if constexpr (bits == 16)
    return isobit::bit_cast<uint16_t>(x);
  else
    return isobit::bit_cast<uint8_t>(x) & ((1u << bits) - 1);
}

// Sign, infinity and NaN of a type with numbers; `magnitude` 0: it has only bits.
struct number_fields {
  uint64_t magnitude, first_nan, nan; // bits below the sign; NaNs are the magnitudes from first_nan on
};
ISOBIT_HD constexpr number_fields fields_of(small_float_format const& f) {
  uint64_t const all = f.magnitude();
  if (f.special == specials::ieee) return {all, f.infinity() + 1, f.infinity() | uint64_t(1) << (f.mantissa_bits - 1)};
  return {all, f.special == specials::one_nan ? all : all + 1, all};
}
ISOBIT_HD constexpr number_fields fields_of(dtype type) {
  switch (type) {
  case dtype::f64: return {~uint64_t(0) >> 1, float_fields<double>::exponent + 1, float_fields<double>::quiet_nan};
  case dtype::f32: return {0x7fffffffu, float_fields<float>::exponent + 1, float_fields<float>::quiet_nan};
  case dtype::f16: return fields_of(f16::format);
  case dtype::bf16: return fields_of(bf16::format);
  case dtype::e4m3: return fields_of(e4m3::format);
  case dtype::e5m2: return fields_of(e5m2::format);
  case dtype::e2m1: return fields_of(e2m1::format);
  case dtype::e3m2: return fields_of(e3m2::format);
  case dtype::e2m3: return fields_of(e2m3::format);
  default: return {0, 0, 0};
  }
}

// The same bits for elements that are equal by value: +0 for -0, the format's positive quiet NaN for every NaN.
template <dtype Type> ISOBIT_HD constexpr uint64_t canonical_bits(uint64_t x) {
  constexpr number_fields f = fields_of(Type);
  if constexpr (f.magnitude == 0) {
    return x;
  } else {
    uint64_t const magnitude = x & f.magnitude;
    return magnitude == 0 ? 0 : magnitude >= f.first_nan ? f.nan : x;
  }
}

} // namespace detail
} // namespace isobit::inline bits1
