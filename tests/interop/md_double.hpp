// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix view with the members of std::mdspan that isobit asks for; many standard libraries have none yet.
#pragma once

#include <array>
#include <cstddef>

namespace interop_test {

template <std::size_t Rank> struct strides {
  std::array<long, Rank> step;
  template <class... I> constexpr long operator()(I... i) const {
    long at = 0;
    std::size_t d = 0;
    ((at += static_cast<long>(i) * step[d++]), ...);
    return at;
  }
};

template <class T> struct plain_accessor {
  constexpr T& access(T* p, std::size_t i) const { return p[i]; }
};
// Gives values, not references: the element is computed.
template <class T> struct negating_accessor {
  constexpr T access(T const* p, std::size_t i) const { return -p[i]; }
};

template <class T, std::size_t Rank, class Accessor = plain_accessor<T>> struct md {
  using index_type = int;
  using value_type = T;
  T* at;
  std::array<int, Rank> extents;
  strides<Rank> map;

  static constexpr std::size_t rank() { return Rank; }
  constexpr int extent(std::size_t r) const { return extents[r]; }
  constexpr std::size_t size() const {
    std::size_t n = 1;
    for (int e : extents) n *= static_cast<std::size_t>(e);
    return n;
  }
  constexpr T* data_handle() const { return at; }
  constexpr strides<Rank> const& mapping() const { return map; }
  constexpr Accessor accessor() const { return {}; }
};

} // namespace interop_test
