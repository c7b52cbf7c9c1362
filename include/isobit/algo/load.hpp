// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Where elements come from. Anything that can be called with an index is a load; the loads here also know how to
//! read several elements with one 16-byte access.
#pragma once

#include <isobit/format/element.hpp>

namespace isobit::inline bits1 {

namespace detail {

// 16 bytes, moved by one instruction.
struct alignas(16) word16 {
  uint32_t w[4];
};

ISOBIT_HD inline word16 read16(void const* address) {
#if defined(ISOBIT_ON_DEVICE)
  return __builtin_bit_cast(word16, *static_cast<uint4 const*>(address));
#else
  word16 r;
  __builtin_memcpy(&r, address, sizeof r);
  return r;
#endif
}

// A load may say how many neighbouring elements a lane should ask it for; see lane_width.
template <class Load> struct width_hint_of {};
template <class Load>
  requires requires { Load::width_hint; }
struct width_hint_of<Load> {
  static constexpr int width_hint = Load::width_hint;
};

} // namespace detail

//! Reads `width` neighbouring elements of a 16-byte-aligned array with one access.
template <class T> struct aligned_vectors {
  static constexpr int width = 16 / static_cast<int>(sizeof(T));
  T const* data;

  template <class Index> ISOBIT_HD element_value<T> operator()(Index i) const { return decode_element(data[i]); }
  //! `out[0..width)` = elements `i .. i + width`; `i` is a multiple of `width`.
  template <class Index> ISOBIT_HD void get(Index i, element_value<T>* out) const {
    struct alignas(16) pack {
      T element[width];
    };
    auto const p = __builtin_bit_cast(pack, detail::read16(data + i));
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) out[j] = decode_element(p.element[j]);
  }
};

//! The elements of an array; 16-bit and 8-bit floats are decoded to float.
template <class T> struct contiguous {
  using element = T;
  static constexpr bool has_vectors = sizeof(T) <= 8 && (16 % sizeof(T)) == 0 && __is_trivially_copyable(T);
  T const* data;

  template <class Index> ISOBIT_HD element_value<T> operator()(Index i) const { return decode_element(data[i]); }
  ISOBIT_HD bool is_aligned() const { return reinterpret_cast<stl::uintptr_t>(data) % 16 == 0; }
  ISOBIT_HD aligned_vectors<T> vectors() const { return {data}; }
};
template <class T> contiguous(T const*) -> contiguous<T>;
template <class T> contiguous(T*) -> contiguous<T>;

//! `f` of each element of another load, which keeps its 16-byte accesses.
template <class Load, class F> struct mapped {
  Load load;
  F f;

  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(load(i)); }
};

template <class T, class F> struct mapped_vectors {
  static constexpr int width = aligned_vectors<T>::width;
  aligned_vectors<T> load;
  F f;

  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(load(i)); }
  ISOBIT_CALLS_USER_CODE
  template <class Index, class Out> ISOBIT_HD void get(Index i, Out* out) const {
    element_value<T> in[width];
    load.get(i, in);
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) out[j] = f(in[j]);
  }
};

template <class T, class F> struct mapped<contiguous<T>, F> {
  static constexpr bool has_vectors = contiguous<T>::has_vectors;
  contiguous<T> load;
  F f;

  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(load(i)); }
  ISOBIT_HD bool is_aligned() const { return load.is_aligned(); }
  ISOBIT_HD mapped_vectors<T, F> vectors() const { return {load.vectors(), f}; }
};

//! The load of `f(x)` for every element `x` of `load` (or of the array at a pointer).
template <class Load, class F>
  requires(!stl::is_pointer_v<Load>)
ISOBIT_HD mapped<Load, F> map(Load const& load, F const& f) {
  return {load, f};
}
template <class T, class F> ISOBIT_HD mapped<contiguous<T>, F> map(T const* data, F const& f) { return {{data}, f}; }

//! `load`, with its index moved by `offset`. Arrays stay arrays, with their 16-byte accesses.
template <class Load> struct shifted : detail::width_hint_of<Load> {
  Load load;
  uint64_t offset;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t i) const { return load(offset + i); }
};
template <class Load> ISOBIT_HD shifted<Load> shift(Load const& load, uint64_t offset) {
  return {{}, load, offset};
}
template <class T> ISOBIT_HD contiguous<T> shift(contiguous<T> const& load, uint64_t offset) {
  return {load.data + offset};
}
template <class T, class F>
ISOBIT_HD mapped<contiguous<T>, F> shift(mapped<contiguous<T>, F> const& load, uint64_t offset) {
  return {shift(load.load, offset), load.f};
}

} // namespace isobit::inline bits1
