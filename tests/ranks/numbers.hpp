// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Numbers whose sums depend on the order.
#pragma once

#include <isobit/bits/cast.hpp>

#include <random>
#include <vector>

//! `n` floats of both signs with exponents spread over 60 powers of two.
inline std::vector<float> hard_floats(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> x(n);
  for (float& v : x) {
    auto const bits = static_cast<isobit::uint32_t>(random());
    auto const exponent = static_cast<isobit::uint32_t>(100 + random() % 60);
    v = isobit::from_bits<float>((bits & 0x807fffffu) | (exponent << 23));
  }
  return x;
}
