// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Exclusive scans and initial values by their definition: finish(initial + prefix), and empty() for no element.
#pragma once

#include "common.hpp"

#include <doctest/doctest.h>

namespace scan_test {

// The definition: of the elements before i (exclusive) or up to i, after `initial` if there is one.
template <class Acc, class Load>
auto defined(bool exclusive, std::uint64_t i, Load const& load, Acc const& acc, typename Acc::state const* initial) {
  std::uint64_t const length = exclusive ? i : i + 1;
  if (length == 0) return initial ? acc.finish(*initial) : acc.empty();
  auto const s = isobit::interpret<isobit::tree>(length, load, acc);
  return acc.finish(initial ? acc.combine(*initial, s) : s);
}

template <class Acc, class Load, class Element>
void check_all(Acc const& acc, Load const& load, Element const& first, std::uint64_t longest) {
  using result = typename Acc::result;
  using state = typename Acc::state;
  state const lifted = acc.lift(first);
  for (std::uint64_t n : {std::uint64_t(0), std::uint64_t(1), std::uint64_t(2), std::uint64_t(33), longest}) {
    std::vector<result> excl, incl_from, excl_from;
    for (std::uint64_t i = 0; i < n; ++i) {
      excl.push_back(defined(true, i, load, acc, static_cast<state const*>(nullptr)));
      incl_from.push_back(defined(false, i, load, acc, &lifted));
      excl_from.push_back(defined(true, i, load, acc, &lifted));
    }
    auto const same = [&](std::vector<result> const& wanted, auto const& scan) {
      recorder<result> r(n);
      scan(r.store());
      REQUIRE(r.once());
      if (n > 0) REQUIRE(bits_equal(r.value, wanted));
    };
    auto const groups = [&](auto const& g) {
      same(excl, [&](auto store) { isobit::exclusive_scan(g, n, load, store, acc); });
      same(excl_from, [&](auto store) { isobit::exclusive_scan(g, n, load, store, acc, first); });
      same(excl_from, [&](auto store) { isobit::exclusive_scan(g, n, load, store, acc, lifted); });
      same(incl_from, [&](auto store) { isobit::inclusive_scan(g, n, load, store, acc, first); });
    };
    groups(host());
    groups(isobit::thread{});
  }
}

} // namespace scan_test
