// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Philox4x32-10: random numbers as a function of a counter and a key, the same on every host and device.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! Four 32-bit words.
struct philox_block {
  uint32_t word[4];
};

//! Philox4x32 with 10 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC '11.
//! Integers only; 20 multiplications.
ISOBIT_HD constexpr philox_block philox4x32_10(philox_block counter, uint32_t key0, uint32_t key1) {
  philox_block c = counter;
  for (int round = 0; round < 10; ++round) {
    uint64_t const a = uint64_t(0xd2511f53u) * c.word[0], b = uint64_t(0xcd9e8d57u) * c.word[2];
    c = {{static_cast<uint32_t>(b >> 32) ^ c.word[1] ^ key0, static_cast<uint32_t>(b),
          static_cast<uint32_t>(a >> 32) ^ c.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}

//! 128 random bits for (seed, stream, index).
ISOBIT_HD constexpr philox_block philox_at(uint64_t seed, uint64_t stream, uint64_t index) {
  return philox4x32_10({{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                         static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
                       static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

//! 64 random bits for (seed, stream, index).
ISOBIT_HD constexpr uint64_t philox_word(uint64_t seed, uint64_t stream, uint64_t index) {
  philox_block const b = philox_at(seed, stream, index);
  return uint64_t(b.word[1]) << 32 | b.word[0];
}

} // namespace isobit::inline bits1
