// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instances of the quantisation kernels that are compiled to PTX and executed.
#pragma once

#include <isobit/device/hadamard_kernel.hpp>
#include <isobit/device/quantize_tile_kernel.hpp>
#include <isobit/quantize.hpp>

namespace ptx_quantize {
using namespace isobit;
using isobit::detail::to_nearest;
using scale_layout::linear;
using scale_layout::tiles_128x4;

template <class R, class Code = typename R::element, class Layout = linear>
using rows = quantized_copy<orientation::row_wise, Layout, Code, typename R::scale>;
template <class R, class Code = typename R::element, class Layout = linear>
using columns = quantized_copy<orientation::column_wise, Layout, Code, typename R::scale>;
template <class R, class Code = typename R::element, class Layout = linear>
using transposed = quantized_copy<orientation::column_wise_transposed, Layout, Code, typename R::scale>;

using floor8 = mxfp8<e4m3, mx::floor>;
using rceil8 = mxfp8<e4m3, mx::rceil>;
using rceil_te4 = mxfp4<mx::rceil_te, mx::te_nan_ignored>;
using even6 = mxfp6<e2m3, mx::even>;
using te = nvfp4<nv::te>;
using exact = nvfp4<nv::exact>;
using over = nvfp4<nv::four_over_six<>>;
} // namespace ptx_quantize

#if defined(__CUDACC__)
#include <isobit/device/amax.cuh>

namespace isobit::inline bits1::device {
namespace {
using namespace ptx_quantize;
}
#define ISOBIT_ROWS(recipe, rounding, T, ...)                                                                          \
  template __global__ void quantize_kernel<recipe, rounding, T, __VA_ARGS__>(recipe, rounding, T const*, uint64_t,     \
                                                                             uint64_t, __VA_ARGS__)
ISOBIT_ROWS(floor8, to_nearest, float, rows<floor8>);
ISOBIT_ROWS(rceil8, to_nearest, float, rows<rceil8>);
ISOBIT_ROWS(rceil8, to_nearest, bf16, rows<rceil8>);
ISOBIT_ROWS(rceil_te4, to_nearest, float, rows<rceil_te4, e2m1x2, tiles_128x4>);
ISOBIT_ROWS(even6, to_nearest, bf16, rows<even6>);
ISOBIT_ROWS(te, to_nearest, bf16, rows<te, e2m1x2, tiles_128x4>);
ISOBIT_ROWS(te, stochastic, float, rows<te, e2m1x2>);
ISOBIT_ROWS(exact, to_nearest, float, rows<exact, e2m1x2>);
ISOBIT_ROWS(over, to_nearest, float, rows<over, e2m1x2>);
#undef ISOBIT_ROWS

template __global__ void quantize_tiles_kernel<false, rceil8, to_nearest, bf16, rows<rceil8, e4m3, tiles_128x4>,
                                               columns<rceil8, e4m3, tiles_128x4>>(rceil8, to_nearest, bf16 const*,
                                                                                   uint64_t, uint64_t,
                                                                                   rows<rceil8, e4m3, tiles_128x4>,
                                                                                   columns<rceil8, e4m3, tiles_128x4>);
template __global__ void quantize_tiles_kernel<false, te, stochastic, float, rows<te, e2m1x2>, transposed<te, e2m1x2>>(
    te, stochastic, float const*, uint64_t, uint64_t, rows<te, e2m1x2>, transposed<te, e2m1x2>);
template __global__ void quantize_tiles_kernel<true, te, to_nearest, float, rows<te, e2m1x2>, transposed<te, e2m1x2>>(
    te, to_nearest, float const*, uint64_t, uint64_t, rows<te, e2m1x2>, transposed<te, e2m1x2>);
template __global__ void
quantize_group_tiles_kernel<rceil8, to_nearest, float, rows<rceil8, e4m3, tiles_128x4>,
                            columns<rceil8, e4m3, tiles_128x4>>(rceil8, to_nearest, float const*, uint64_t const*,
                                                                uint64_t, uint64_t, rows<rceil8, e4m3, tiles_128x4>,
                                                                columns<rceil8, e4m3, tiles_128x4>);
template <class Recipe, class T> using magnitudes = mapped<contiguous<T>, magnitude_of<Recipe>>;
#define ISOBIT_AMAX(recipe, T) /* as device::amax launches it */                                                       \
  template __global__ void reduce_kernel<tree, magnitudes<recipe, T>, larger_of_magnitudes>(                           \
      magnitudes<recipe, T>, uint64_t, uint32_t*, void*, larger_of_magnitudes)
ISOBIT_AMAX(te, float);
ISOBIT_AMAX(te, bf16);
ISOBIT_AMAX(exact, float);
#undef ISOBIT_AMAX
template __global__ void hadamard_kernel<te, float>(float const*, uint64_t, uint16_t, bf16*, uint32_t*);
template __global__ void dequantize_kernel<rceil8, rows<rceil8>>(rceil8, rows<rceil8>, uint64_t, uint64_t, float*);
template __global__ void dequantize_kernel<te, columns<te, e2m1x2>>(te, columns<te, e2m1x2>, uint64_t, uint64_t,
                                                                    float*);
template __global__ void dequantize_transposed_kernel<te, transposed<te, e2m1x2>>(te, transposed<te, e2m1x2>, uint64_t,
                                                                                  uint64_t, float*);
} // namespace isobit::inline bits1::device
#endif
