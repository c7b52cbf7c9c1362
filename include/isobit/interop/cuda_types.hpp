// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Makes CUDA's own narrow types elements: __half, __nv_bfloat16, __nv_fp8_e4m3, __nv_fp8_e5m2, and, from CUDA 12.8 on,
//! __nv_fp8_e8m0, __nv_fp6_e3m2, __nv_fp6_e2m3, __nv_fp4_e2m1 and __nv_fp4x2_e2m1. Their arrays can then be reduced,
//! quantised and fingerprinted as they are, and `twin` lets a quantiser write codes and scales to them. Includes the CUDA
//! headers, so that only users of those types pay for them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#if __has_include(<cuda_fp4.h>)
#define ISOBIT_HAS_CUDA_FP4 1
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#endif

#include <isobit/algo/dtype.hpp>
#include <isobit/format/element.hpp>

namespace isobit::inline bits1 {

//! The storage type of isobit with the same bits as a CUDA type.
template <class T> struct cuda_twin;
template <> struct cuda_twin<__half> { using type = f16; };
template <> struct cuda_twin<__nv_bfloat16> { using type = bf16; };
template <> struct cuda_twin<__nv_fp8_e4m3> { using type = e4m3; };
template <> struct cuda_twin<__nv_fp8_e5m2> { using type = e5m2; };
#if defined(ISOBIT_HAS_CUDA_FP4)
template <> struct cuda_twin<__nv_fp8_e8m0> { using type = e8m0; };
template <> struct cuda_twin<__nv_fp6_e3m2> { using type = e3m2; };
template <> struct cuda_twin<__nv_fp6_e2m3> { using type = e2m3; };
template <> struct cuda_twin<__nv_fp4_e2m1> { using type = e2m1; };
template <> struct cuda_twin<__nv_fp4x2_e2m1> { using type = e2m1x2; };
#endif

//! `T` is one of those types.
template <class T>
concept has_cuda_twin = requires { typename cuda_twin<T>::type; };

template <has_cuda_twin T>
  requires small_float<typename cuda_twin<T>::type>
struct element_traits<T> {
  using value = float;
  ISOBIT_HD static constexpr value decode(T const& x) {
    return decode_element(isobit::bit_cast<typename cuda_twin<T>::type>(x));
  }
};

//! An array of one of the types of a byte as isobit's array with the same bytes: where codes and scales are written or
//! read, `quantize(host(), recipe, x, rows, cols, twin(codes), twin(scales))`.
template <has_cuda_twin T> ISOBIT_HD typename cuda_twin<T>::type* twin(T* p) {
  static_assert(sizeof(T) == 1, "isobit: twin takes arrays of types of one byte");
  return reinterpret_cast<typename cuda_twin<T>::type*>(p);
}
template <has_cuda_twin T> ISOBIT_HD typename cuda_twin<T>::type const* twin(T const* p) {
  return twin(const_cast<T*>(p));
}

template <has_cuda_twin T> inline constexpr dtype dtype_of<T> = dtype_of<typename cuda_twin<T>::type>;
template <has_cuda_twin T> inline constexpr int elements_in<T> = elements_in<typename cuda_twin<T>::type>;

} // namespace isobit::inline bits1
