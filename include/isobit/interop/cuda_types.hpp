// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Makes CUDA's own narrow types elements: __half, __nv_bfloat16, __nv_fp8_e4m3, __nv_fp8_e5m2. Their arrays can then
//! be reduced and quantised as they are. Includes the CUDA headers, so that only users of those types pay for them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <isobit/format/element.hpp>

namespace isobit::inline bits1 {

//! The storage type of isobit with the same bits as a CUDA type.
template <class T> struct cuda_twin;
template <> struct cuda_twin<__half> { using type = f16; };
template <> struct cuda_twin<__nv_bfloat16> { using type = bf16; };
template <> struct cuda_twin<__nv_fp8_e4m3> { using type = e4m3; };
template <> struct cuda_twin<__nv_fp8_e5m2> { using type = e5m2; };

template <class T>
  requires requires { typename cuda_twin<T>::type; }
struct element_traits<T> {
  using value = float;
  ISOBIT_HD static constexpr value decode(T const& x) {
    return decode_element(isobit::bit_cast<typename cuda_twin<T>::type>(x));
  }
};

} // namespace isobit::inline bits1
