// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The orders, and the concept that they model. An order is an empty type that names one expression over n operands.
#pragma once

#include <isobit/order/lanes.hpp>
#include <isobit/order/sequential.hpp>
#include <isobit/order/tree.hpp>

namespace isobit::inline bits1 {

namespace detail {
template <class T> inline constexpr bool names_order = false;
template <> inline constexpr bool names_order<tree> = true;
template <uint64_t L> inline constexpr bool names_order<lanes<L>> = true;
template <> inline constexpr bool names_order<sequential> = true;
} // namespace detail

//! `tree`, `lanes<L>` or `sequential`. The set is closed: an order is a promise about bits, with a name and a version.
template <class T>
concept is_order = detail::names_order<T>;

} // namespace isobit::inline bits1
