// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Digests computed by the Python program in docs/fingerprint.md, which shares no code with isobit.
#pragma once

#include <cstdint>

namespace golden {

//! Byte i is (i*i + 3*i + 7*(i >> 8)) modulo 256; the digest of the first `bytes` of them as untyped memory.
struct digest_of_bytes {
  std::uint64_t bytes;
  std::uint64_t digest;
};
inline constexpr digest_of_bytes digests[] = {
    {0, 0x87299f41229442f1},    {1, 0x03f64df282c208b1},    {15, 0xaefab5fef561fdc2},   {16, 0x8b65ccf993362285},
    {17, 0x1122e5f7493ca72a},   {64, 0x64d66581e4856a97},   {100, 0xf2d92bba5203dd32},  {2047, 0x4286855d57355d7a},
    {2048, 0x50fb3990b2a7655b}, {2049, 0x58c4eb74437bd9fd}, {5000, 0x2ac11cb83d9ea4e3},
};

//! The six floats 1, -2, 3.5, 0, -0, 1e30.
inline constexpr std::uint64_t digest_2x3_f32 = 0x72c1373772a7f558;
inline constexpr std::uint64_t digest_6_f32 = 0xe1104aac8cdff956;
inline constexpr std::uint64_t digest_6_u32 = 0x25908b3d5a1c638c;

} // namespace golden
