// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of this folder share: inputs, layouts, the definition as reference, simulated launches.
#pragma once

#include <doctest/doctest.h>

#include <isobit/device/segmented_reduce_kernel.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/segments.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace segment_test {

namespace simt = isobit::simt;
using isobit::testing::bits_equal;
using std::uint32_t;
using std::uint64_t;

// Floats of both signs and 60 binades: every bracketing gives other bits.
inline std::vector<float> wild(size_t n, uint64_t seed = 1) {
  std::vector<float> x(n);
  std::mt19937_64 engine(seed);
  for (float& v : x) {
    uint64_t const z = engine();
    v = isobit::from_bits<float>(static_cast<uint32_t>(z & 0x807fffffu) | static_cast<uint32_t>(100 + (z >> 40) % 60)
                                                                              << 23);
  }
  return x;
}

// Memory as an earlier owner may have left it.
template <class T> std::vector<T> poisoned(size_t n, int byte = 0xff) {
  std::vector<T> v(n);
  if (n > 0) std::memset(static_cast<void*>(v.data()), byte, n * sizeof(T));
  return v;
}

// The definition.
template <class Load, class Acc> auto by_definition(uint64_t n, Load const& load, Acc const& acc) {
  return n == 0 ? acc.empty() : acc.finish(isobit::interpret<isobit::tree>(n, load, acc));
}

// A workspace with poison where it needs no initialisation, and guards behind it.
template <class State> struct workspace_memory {
  uint64_t elements, segments;
  int level;
  std::vector<uint64_t> words;
  size_t used;

  workspace_memory(uint64_t n, uint64_t s, int level_, int byte = 0xff)
      : elements(n), segments(s), level(level_), words(poisoned<uint64_t>(bytes() / 8 + 20, byte)), used(bytes()) {
    std::memset(start(), 0, zeroed());
  }
  size_t bytes() const { return isobit::segment_workspace<State>::bytes(elements, segments, level); }
  size_t zeroed() const {
    return bytes() - 2 * isobit::segment_workspace<State>::units_for(elements, segments, level) * sizeof(State);
  }
  void* start() { return words.data() + (reinterpret_cast<uintptr_t>(words.data()) % 16 != 0 ? 1 : 0); }
  isobit::segment_workspace<State> get() {
    return isobit::segment_workspace<State>::at(start(), elements, segments, level);
  }
  bool counters_are_zero() {
    auto const* p = static_cast<unsigned char*>(start());
    for (size_t i = 0; i < zeroed(); ++i)
      if (p[i] != 0) return false;
    return true;
  }
};

} // namespace segment_test
