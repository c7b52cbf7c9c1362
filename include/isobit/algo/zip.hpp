// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Loads made of other loads that keep their 16-byte accesses: two arrays side by side, and elements with their index.
#pragma once

#include <isobit/accum/extrema.hpp>
#include <isobit/algo/load.hpp>

namespace isobit::inline bits1 {

namespace detail {
// An array (by name or by pointer) as a load; a load as it is.
template <class X> ISOBIT_HD constexpr auto array_or_load(X const& x) {
  if constexpr (stl::is_pointer_v<stl::decay_t<X const>>)
    return contiguous{&x[0]};
  else
    return x;
}
template <class X> using array_or_load_of = decltype(array_or_load(stl::declval<X const&>()));
} // namespace detail

//! `f(x(i), y(i))` of two loads.
template <class X, class Y, class F> struct zipped {
  X x;
  Y y;
  F f;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(x(i), y(i)); }
};

template <class T, class U, class F> struct zipped_vectors {
  static constexpr int width = aligned_vectors<T>::width;
  aligned_vectors<T> x;
  aligned_vectors<U> y;
  F f;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(x(i), y(i)); }
  ISOBIT_CALLS_USER_CODE
  template <class Index, class Out> ISOBIT_HD void get(Index i, Out* out) const {
    element_value<T> a[width];
    element_value<U> b[width];
    x.get(i, a);
    y.get(i, b);
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) out[j] = f(a[j], b[j]);
  }
};

// Two arrays with elements of one size: a lane reads 16 bytes of each.
template <class T, class U, class F> struct zipped<contiguous<T>, contiguous<U>, F> {
  static constexpr bool has_vectors = contiguous<T>::has_vectors && contiguous<U>::has_vectors && sizeof(T) == sizeof(U);
  contiguous<T> x;
  contiguous<U> y;
  F f;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return f(x(i), y(i)); }
  ISOBIT_HD bool is_aligned() const { return x.is_aligned() && y.is_aligned(); }
  ISOBIT_HD zipped_vectors<T, U, F> vectors() const { return {x.vectors(), y.vectors(), f}; }
};

//! The load of `f(x[i], y[i])` for two loads or arrays. Two aligned arrays are read by 16-byte accesses.
template <class X, class Y, class F>
ISOBIT_HD zipped<detail::array_or_load_of<X>, detail::array_or_load_of<Y>, F> zip(X const& x, Y const& y, F const& f) {
  return {detail::array_or_load(x), detail::array_or_load(y), f};
}
template <class T, class U, class F>
ISOBIT_HD zipped<contiguous<T>, contiguous<U>, F> shift(zipped<contiguous<T>, contiguous<U>, F> const& load,
                                                        uint64_t offset) {
  return {shift(load.x, offset), shift(load.y, offset), load.f};
}

//! Element i of `load` as `indexed_value{load(i), first + i}`.
template <class Load> struct numbered {
  Load load;
  uint64_t first;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD auto operator()(uint64_t i) const {
    auto const x = decode_element(load(i));
    return indexed_value<stl::remove_cvref_t<decltype(x)>>{x, first + i};
  }
};

template <class T> struct numbered_vectors {
  static constexpr int width = aligned_vectors<T>::width;
  aligned_vectors<T> load;
  uint64_t first;
  ISOBIT_HD indexed_value<element_value<T>> operator()(uint64_t i) const { return {load(i), first + i}; }
  template <class Out> ISOBIT_HD void get(uint64_t i, Out* out) const {
    element_value<T> in[width];
    load.get(i, in);
    ISOBIT_UNROLL
    for (int j = 0; j < width; ++j) out[j] = {in[j], first + i + static_cast<uint64_t>(j)};
  }
};

template <class T> struct numbered<contiguous<T>> {
  static constexpr bool has_vectors = contiguous<T>::has_vectors;
  contiguous<T> load;
  uint64_t first;
  ISOBIT_HD indexed_value<element_value<T>> operator()(uint64_t i) const { return {load(i), first + i}; }
  ISOBIT_HD bool is_aligned() const { return load.is_aligned(); }
  ISOBIT_HD numbered_vectors<T> vectors() const { return {load.vectors(), first}; }
};

//! The elements of a load or array with their indices, the first of which is `first`: for `extrema`, and for a part of a
//! range that knows where it begins.
template <class X> ISOBIT_HD numbered<detail::array_or_load_of<X>> with_index(X const& x, uint64_t first = 0) {
  return {detail::array_or_load(x), first};
}
template <class T> ISOBIT_HD numbered<contiguous<T>> shift(numbered<contiguous<T>> const& load, uint64_t offset) {
  return {shift(load.load, offset), load.first + offset};
}

} // namespace isobit::inline bits1
