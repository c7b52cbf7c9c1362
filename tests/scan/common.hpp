// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the tests of scans share: the definition of a prefix, a store that counts, arrays, segments one by one.
#pragma once

#include "../order/operators.hpp"

#include <isobit/order/interpret.hpp>
#include <isobit/scan.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace scan_test {

using isobit::compensated;
using isobit::host;
using isobit::plain;
using isobit::testing::bits_equal;

template <class Acc, class Load> auto prefix(std::uint64_t length, Load const& load, Acc const& acc) {
  return acc.finish(isobit::interpret<isobit::tree>(length, load, acc));
}

// Evaluates a group's scan with every index stored exactly once, and none beyond n.
template <class R> struct recorder {
  std::vector<R> value;
  std::vector<int> stores;
  explicit recorder(std::size_t n) : value(n), stores(n) {}
  auto store() {
    return [this](std::uint64_t i, R const& r) {
      value.at(i) = r;
      ++stores.at(i);
    };
  }
  bool once() const {
    for (int s : stores)
      if (s != 1) return false;
    return true;
  }
};

inline std::vector<float> floats(std::size_t n, std::uint64_t seed = 0) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = order_test::float_at(seed + i);
  return x;
}
template <class T, class Acc = plain<T>> std::vector<T> host_scan(std::vector<T> const& x, Acc const& acc = {}) {
  std::vector<T> out(x.size());
  isobit::inclusive_scan(host(), x.data(), x.size(), out.data(), acc);
  return out;
}
// Segments, each alone: the neighbourhood law says that this is the answer.
template <class T, class Acc = plain<T>>
std::vector<T> one_by_one(std::vector<T> const& x, std::vector<std::int64_t> const& offsets, T elsewhere,
                          Acc const& acc = {}) {
  std::vector<T> out(x.size(), elsewhere);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    auto const first = x.begin() + offsets[s], last = x.begin() + offsets[s + 1];
    auto const part = host_scan(std::vector<T>(first, last), acc);
    std::copy(part.begin(), part.end(), out.begin() + offsets[s]);
  }
  return out;
}
template <class T, class Acc = plain<T>>
std::vector<T> segmented(std::vector<T> const& x, std::vector<std::int64_t> const& offsets, T elsewhere,
                         Acc const& acc = {}) {
  std::vector<T> out(x.size(), elsewhere);
  isobit::segmented_inclusive_scan(host(), x.data(), x.size(), offsets.data(), offsets.size() - 1, out.data(), acc);
  return out;
}

inline std::vector<std::int64_t> offsets_of(std::vector<std::int64_t> const& lengths, std::int64_t first = 0) {
  std::vector<std::int64_t> offsets = {first};
  for (auto l : lengths) offsets.push_back(offsets.back() + l);
  return offsets;
}

} // namespace scan_test
