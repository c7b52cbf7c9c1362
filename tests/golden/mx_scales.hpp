// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scale bytes of the MX rules, from outside: computed with integer formulas checked against the CUDA 13.0 headers and
// the sources of Transformer Engine and torchao. Fixed for ever.
#pragma once

#include <cstdint>

namespace golden {

struct mx_scale {
  std::uint32_t amax; // the bits of the block's largest magnitude
  int e4m3_floor, e4m3_rceil, e4m3_ceil, e4m3_even;
  int e2m1_floor, e2m1_rceil, e2m1_ceil, e2m1_even;
};

// The last row's `even` are those of a clamped byte; torchao, vLLM and aiter part there (255, 253, 254).
inline constexpr mx_scale mx_scales[] = {
    {0x00000000, 0, 0, 0, 0, 0, 0, 0, 0},
    {0x00800000, 0, 0, 0, 0, 0, 0, 0, 0},
    {0x04600000, 0, 0, 1, 0, 6, 7, 7, 7},
    {0x04600001, 0, 1, 1, 0, 6, 7, 7, 7},
    {0x3f800000, 119, 119, 119, 119, 125, 125, 125, 125},
    {0x3fbfffff, 119, 119, 120, 119, 125, 125, 126, 125},
    {0x3fc00000, 119, 119, 120, 119, 125, 125, 126, 125},
    {0x3fc00001, 119, 119, 120, 119, 125, 126, 126, 125},
    {0x3fdfffff, 119, 119, 120, 119, 125, 126, 126, 125},
    {0x3fe00000, 119, 119, 120, 119, 125, 126, 126, 126},
    {0x3fe00001, 119, 120, 120, 119, 125, 126, 126, 126},
    {0x3ff7ffff, 119, 120, 120, 119, 125, 126, 126, 126},
    {0x3ff80000, 119, 120, 120, 120, 125, 126, 126, 126},
    {0x3fffffff, 119, 120, 120, 120, 125, 126, 126, 126},
    {0x43e00000, 127, 127, 128, 127, 133, 134, 134, 134},
    {0x43e00001, 127, 128, 128, 127, 133, 134, 134, 134},
    {0x7f7fffff, 246, 247, 247, 247, 252, 253, 253, 253},
};

// The one amax of each format for which RN(amax * fl(1 / largest)), rounded up, is not the exact rule: byte 0, not 1.
struct mx_exception {
  char const* element;
  std::uint32_t amax;
};
inline constexpr mx_exception mx_exceptions[] = {
    {"e4m3", 0x04600001}, {"e5m2", 0x07e00001}, {"e3m2", 0x02600001}, {"e2m3", 0x01700001}, {"e2m1", 0x01400001},
};

} // namespace golden
