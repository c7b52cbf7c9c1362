// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVFP4 blocks of Transformer Engine's default recipe, from outside: computed step by step from its source in C with the
// CUDA 13.0 headers. Fixed for ever.
#pragma once

#include <cstdint>

namespace golden {

struct nvfp4_block {
  char const* name;
  float x[16];
  std::uint32_t amax;         // the tensor's, as bits
  std::uint32_t encode_scale; // S, as bits
  std::uint8_t scale;
  std::uint32_t factor; // enc, as bits
  char const* codes;    // one hexadecimal digit to an element, as packed bytes in hexadecimal: odd element first
};

inline constexpr nvfp4_block nvfp4_te_blocks[] = {
    {"quarters, amax 2",
     {-2, -1.75f, -1.5f, -1.25f, -1, -.75f, -.5f, -.25f, 0, .25f, .5f, .75f, 1, 1.25f, 1.5f, 1.75f},
     0x40000000, 0x44a80000, 0x7e, 0x40400000, "ffeecdab20436576"},
    {"quarters, amax 6",
     {-2, -1.75f, -1.5f, -1.25f, -1, -.75f, -.5f, -.25f, 0, .25f, .5f, .75f, 1, 1.25f, 1.5f, 1.75f},
     0x40c00000, 0x43e00000, 0x71, 0x40471c71, "ffeecdab20436576"},
    {"quarters, amax 2688",
     {-2, -1.75f, -1.5f, -1.25f, -1, -.75f, -.5f, -.25f, 0, .25f, .5f, .75f, 1, 1.25f, 1.5f, 1.75f},
     0x45280000, 0x3f800000, 0x2b, 0x403a2e8c, "ffeecd9b10436576"},
    {"zeros", {0, -0.0f}, 0x40000000, 0x44a80000, 0x00, 0x7f7fffff, "8000000000000000"},
    {"zeros in a tensor of zeros", {0, -0.0f}, 0x00000000, 0x3f800000, 0x00, 0x7f7fffff, "8000000000000000"},
    {"a scale that rounds to 0",
     {1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f, -1e-6f, 1e-6f,
      -1e-6f},
     0x447a0000, 0x402c0831, 0x00, 0x7f7fffff, "f7f7f7f7f7f7f7f7"},
    {"subnormal numbers",
     {-8e-39f, -7e-39f, -6e-39f, -5e-39f, -4e-39f, -3e-39f, -2e-39f, -1e-39f, 0, 1e-39f, 2e-39f, 3e-39f, 4e-39f, 5e-39f,
      6e-39f, 7e-39f},
     0x00571cbf, 0x7f7fffff, 0x2f, 0x7f7fffff, "cdbcab9910213344"},
    {"a tie of the scale that three recipes round differently",
     {.76171875f, .5f, .25f, -.125f, -.76171875f, .0634765625f, .126953125f, .19042969f, .25390625f, .3173828f, .4443359f,
      .63476562f, 0, -0.0f, 1e-3f, -1e-3f},
     0x3f820000, 0x45256a57, 0x7b, 0x40f09aad, "67a41f3244658080"},
};

} // namespace golden
