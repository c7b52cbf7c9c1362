// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The GPU's own conversions from float: which exist for the target that is being compiled, and their use.
//!
//! `ISOBIT_HARDWARE_CONVERSIONS`: 0, the default, leaves every code to isobit's own arithmetic; 1 takes the instruction
//! where the target has one. Both must give the same codes: tests/gpu/quantize.cu compares them over all floats on the GPU
//! that it finds. Not yet run on a GPU, so that the default is 0. Define it the same way in a whole program.
//!
//! Source: PTX ISA, `cvt`: .e4m3x2 and .e5m2x2 from sm_89; .e2m1x2 and .ue8m0x2 for the architecture- and family-specific
//! targets (sm_100a, sm_100f, sm_120a, ...) only.
#pragma once

#include <isobit/format/e2m1.hpp>
#include <isobit/format/e4m3.hpp>
#include <isobit/format/e5m2.hpp>

#if !defined(ISOBIT_HARDWARE_CONVERSIONS)
#define ISOBIT_HARDWARE_CONVERSIONS 0
#endif

namespace isobit::inline bits1::detail {

//! There is an instruction from float to `To`, saturating, ties to even; here: in device code of this target.
template <class To> inline constexpr bool has_hardware_conversion = false;

#if defined(ISOBIT_ON_DEVICE)
#if __CUDA_ARCH__ >= 890
template <> inline constexpr bool has_hardware_conversion<e4m3> = true;
template <> inline constexpr bool has_hardware_conversion<e5m2> = true;
#endif
#if defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#if __CUDA_ARCH__ >= 1000
template <> inline constexpr bool has_hardware_conversion<e2m1> = true;
#define ISOBIT_HAS_NARROW_CONVERSIONS 1
#endif
#endif
#endif

#if defined(__CUDACC__)
//! `encode<To, overflow::saturate>(x)` by that instruction. Only where there is one.
template <class To> __device__ To encode_by_hardware([[maybe_unused]] float x) {
  uint16_t both = 0;
  if constexpr (!has_hardware_conversion<To>) {
  } else if constexpr (stl::same_as<To, e2m1>) {
#if defined(ISOBIT_HAS_NARROW_CONVERSIONS)
    asm("{ .reg .b8 two; cvt.rn.satfinite.e2m1x2.f32 two, %1, %1; cvt.u16.u8 %0, two; }" : "=h"(both) : "f"(x));
    both &= 15;
#endif
  } else {
#if defined(ISOBIT_ON_DEVICE)
    if constexpr (stl::same_as<To, e4m3>)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %1;" : "=h"(both) : "f"(x));
    else
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %1;" : "=h"(both) : "f"(x));
#endif
  }
  return To{static_cast<uint8_t>(both & 0xff)};
}
#endif

#if defined(ISOBIT_HAS_NARROW_CONVERSIONS)
//! The byte of the least power of two that is not below |x|: the scale of `mx::rceil_te` from RN(amax * fl(1 / largest)).
__device__ inline uint8_t power_of_two_by_hardware(float x) {
  uint16_t both;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %1;" : "=h"(both) : "f"(x));
  return static_cast<uint8_t>(both & 0xff);
}
#endif

} // namespace isobit::inline bits1::detail
