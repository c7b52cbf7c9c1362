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

//! The same bytes; both halves of the 128-bit digest.
struct digest128_of_bytes {
  std::uint64_t bytes;
  std::uint64_t low, high;
};
inline constexpr digest128_of_bytes digests128[] = {
    {0, 0x87299f41229442f1, 0xe7f3e925633072b7},
    {1, 0x03f64df282c208b1, 0x07768424ea88d093},
    {15, 0xaefab5fef561fdc2, 0xd81c2149a1dcad7f},
    {16, 0x8b65ccf993362285, 0x3885545feeaeb0ba},
    {17, 0x1122e5f7493ca72a, 0x2b8e0a7030a40b2f},
    {100, 0xf2d92bba5203dd32, 0x0e43aa8e27842bf9},
    {2048, 0x50fb3990b2a7655b, 0x77f4be33af5b9f6f},
    {2049, 0x58c4eb74437bd9fd, 0xbf54170c92727fed},
    {5000, 0x2ac11cb83d9ea4e3, 0xcbc728b6750c9676},
};

} // namespace golden
