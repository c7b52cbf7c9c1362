// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Names of the orders for traces, files and tests: a string, and its 64-bit hash.
#pragma once

#include <isobit/order/order.hpp>

namespace isobit::inline bits1 {

//! The name of an order, zero-terminated, and the FNV-1a hash of its characters.
struct order_identity {
  char name[40] = {};
  uint64_t hash = 0xcbf29ce484222325u;

  ISOBIT_HD friend constexpr bool operator==(order_identity const& a, order_identity const& b) {
    for (size_t i = 0; i < sizeof name; ++i)
      if (a.name[i] != b.name[i]) return false;
    return true;
  }
};

namespace detail {

// Appends to a name as it hashes it: the hash of a name does not depend on how it was put together.
struct order_name_writer {
  order_identity id{};
  int length = 0;
  ISOBIT_HD constexpr void put(char c) {
    id.name[length++] = c;
    id.hash = (id.hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  ISOBIT_HD constexpr void put(char const* text) {
    for (; *text != 0; ++text) put(*text);
  }
  ISOBIT_HD constexpr void put(uint64_t number) {
    if (number >= 10) put(number / 10);
    put(static_cast<char>('0' + number % 10));
  }
};

ISOBIT_HD constexpr void write_name(order_name_writer& out, tree) { out.put("isobit.tree.1"); }
ISOBIT_HD constexpr void write_name(order_name_writer& out, sequential) { out.put("isobit.sequential.1"); }
template <uint64_t L> ISOBIT_HD constexpr void write_name(order_name_writer& out, lanes<L>) {
  if constexpr (L == 1) return write_name(out, tree{}); // the same expression
  out.put("isobit.lanes.");
  out.put(L);
  out.put(".1");
}

} // namespace detail

//! The identity of `Order`: "isobit.tree.1", "isobit.lanes.16.1", "isobit.sequential.1"; the last number is the version
//! of the order, which never changes: other bits get another name. `lanes<1>` has the name of `tree`: it is the same
//! expression. Stable across releases, compilers and platforms.
template <is_order Order> ISOBIT_HD constexpr order_identity order_id() {
  detail::order_name_writer out;
  detail::write_name(out, Order{});
  return out.id;
}

} // namespace isobit::inline bits1
