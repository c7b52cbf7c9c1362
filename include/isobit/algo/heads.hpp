// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Where segments begin, told element by element: `head_flags` (a flag for each element) and `key_changes` (a segment for
//! each run of equal neighbouring keys). The first element begins a segment whatever its flag says.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! Element i begins a segment if data[i] is not zero, or i is 0.
template <class Flag> struct head_flags {
  using element = Flag;
  Flag const* data;
  ISOBIT_HD explicit constexpr head_flags(Flag const* flags) : data(flags) {}
  ISOBIT_HD bool operator()(uint64_t i) const { return i == 0 || data[i] != Flag{}; }
};
template <class Flag> head_flags(Flag const*) -> head_flags<Flag>;
template <class Flag> head_flags(Flag*) -> head_flags<Flag>;

//! Element i begins a segment if its key differs (`==` is false) from the one before, or i is 0.
template <class Key> struct key_changes {
  using element = Key;
  Key const* data;
  ISOBIT_HD explicit constexpr key_changes(Key const* keys) : data(keys) {}
  ISOBIT_HD bool operator()(uint64_t i) const { return i == 0 || !(data[i] == data[i - 1]); }
};
template <class Key> key_changes(Key const*) -> key_changes<Key>;
template <class Key> key_changes(Key*) -> key_changes<Key>;

namespace detail {
template <class T> inline constexpr bool tells_heads = false;
template <class T> inline constexpr bool tells_heads<head_flags<T>> = true;
template <class T> inline constexpr bool tells_heads<key_changes<T>> = true;
} // namespace detail

//! `head_flags` or `key_changes`.
template <class H>
concept segment_heads = detail::tells_heads<H>;

} // namespace isobit::inline bits1
