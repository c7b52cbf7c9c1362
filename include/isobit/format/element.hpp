// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Which type an array element is computed in, and how it gets there.
#pragma once

#include <isobit/format/bf16.hpp>
#include <isobit/format/e4m3.hpp>
#include <isobit/format/e5m2.hpp>
#include <isobit/format/f16.hpp>

namespace isobit::inline bits1 {

//! How an element of type `T` is read: `value` is the type that arithmetic uses, `decode` the exact conversion.
//! `T` itself for float, double, integers and user types; float for the formats of 16 bits or fewer. Specialise it for
//! a storage type of your own.
template <class T> struct element_traits {
  using value = T;
  ISOBIT_HD static constexpr value decode(T const& x) { return x; }
};

template <small_float T> struct element_traits<T> {
  using value = float;
  ISOBIT_HD static constexpr value decode(T const& x) { return isobit::decode(x); }
};

//! The type in which elements of type `T` are computed.
template <class T> using element_value = typename element_traits<T>::value;

//! The value of an element, exactly.
template <class T> ISOBIT_HD constexpr element_value<T> decode_element(T const& x) {
  return element_traits<T>::decode(x);
}

} // namespace isobit::inline bits1
