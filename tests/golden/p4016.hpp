// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! An outside test vector for the orders: one million doubles, and the bits of their sums.
//!
//! Data, and the values for 16 and 128 lanes: WG21 P4016R0, appendix K. The other values were computed from the paper's
//! definition by programs that share no code with isobit. Usable on the host, on the simulator and in device code.
#pragma once

#include <isobit/config.hpp>

namespace golden::p4016 {

using isobit::int64_t;
using isobit::uint32_t;
using isobit::uint64_t;

inline constexpr uint64_t count = 1'000'000;

//! The linear congruential generator: each call steps, then returns an element in [-1, 1), exact in double.
class generator {
public:
  ISOBIT_HD constexpr double operator()() {
    state_ = state_ * multiplier + increment;
    return element(state_);
  }
  //! Element `i` without its predecessors: the affine step, raised to the power i + 1 by squaring.
  ISOBIT_HD static constexpr double at(uint64_t i) {
    uint64_t state = seed, a = multiplier, b = increment;
    for (uint64_t steps = i + 1; steps != 0; steps >>= 1) {
      if ((steps & 1) != 0) state = state * a + b;
      b = a * b + b;
      a = a * a;
    }
    return element(state);
  }

private:
  static constexpr uint64_t seed = 0x243F6A8885A308D3u;
  static constexpr uint64_t multiplier = 6364136223846793005u;
  static constexpr uint64_t increment = 1442695040888963407u;
  ISOBIT_HD static constexpr double element(uint64_t state) {
    constexpr int64_t half = int64_t(1) << 52;
    return static_cast<double>(static_cast<int64_t>(state >> 11) - half) / static_cast<double>(half);
  }
  uint64_t state_ = seed;
};

//! The sum of all `count` doubles over `lanes` interleaved lanes.
struct lanes_sum {
  uint64_t lanes;
  uint64_t bits;
};
inline constexpr lanes_sum lanes_sums[] = {
    {16, 0x40618f71f6379380},   // published
    {128, 0x40618f71f6379397},  // published
    {256, 0x40618f71f6379388},  //
    {1024, 0x40618f71f637938a}, //
    {1, 0x40618f71f6379396},    // the tree
};

//! The tree's sum of the first `n` elements, each rounded to float, with float additions.
struct prefix_sum {
  uint64_t n;
  uint32_t bits;
};
inline constexpr prefix_sum prefix_sums[] = {
    {1, 0x3e9bef1e},    {2, 0x3c1c8a60},    {3, 0xbea9687a},     {7, 0xbe8267e8},
    {31, 0xc09ea5c2},   {33, 0xc08984be},   {1023, 0xc1356bee},  {1024, 0xc13487c8},
    {1025, 0xc1380d2c}, {4097, 0xc090f3e6}, {65537, 0x41d49dd2}, {1000000, 0x430c7b88},
};

} // namespace golden::p4016
