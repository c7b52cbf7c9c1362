// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's kernels as nvcc compiles them, for the checks of PTX text, of registers and spills, and for the
// interpreter.
#include <isobit/accum/compensated.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/quantize_kernel.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scan_kernel.hpp>
#include <isobit/quantize.hpp>

namespace isobit::inline bits1::device {

#define REDUCE(order, element, accumulator)                                                                            \
  template __global__ void reduce_kernel<order, contiguous<element>, accumulator>(contiguous<element>, uint64_t,       \
                                                                                  accumulator::result*, void*, accumulator)
REDUCE(tree, float, plain<float>);
REDUCE(tree, double, plain<double>);
REDUCE(tree, bf16, plain<float>);
REDUCE(tree, f16, plain<float>);
REDUCE(tree, e4m3, plain<float>);
REDUCE(tree, float, compensated<float>);
REDUCE(lanes<16>, double, plain<double>);
REDUCE(lanes<128>, double, plain<double>);
REDUCE(lanes<256>, double, plain<double>);
REDUCE(lanes<1024>, double, plain<double>);

using floats = contiguous<float>;
using results = isobit::detail::results<float>;
template __global__ void segmented_scan_by_block_kernel<256, floats, uint64_t, results, plain<float>>(
    floats, uint64_t const*, uint64_t, results, plain<float>);
template __global__ void segmented_scan_by_tile_kernel<32, floats, uint64_t, results, plain<float>>(
    floats, uint64_t const*, uint64_t, results, plain<float>);

template __global__ void quantize_kernel<mxfp8<e4m3, mx::floor>, float>(float const*, uint64_t, uint64_t, e4m3*, e8m0*);
template __global__ void quantize_kernel<mxfp8<e4m3, mx::rceil>, float>(float const*, uint64_t, uint64_t, e4m3*, e8m0*);
template __global__ void quantize_kernel<mxfp8<e4m3, mx::rceil>, bf16>(bf16 const*, uint64_t, uint64_t, e4m3*, e8m0*);
template __global__ void dequantize_kernel<mxfp8<e4m3, mx::rceil>>(e4m3 const*, e8m0 const*, uint64_t, uint64_t, float*);

template __global__ void digest_range_kernel<256>(void const*, uint64_t, uint64_t, digest_sum*);
template __global__ void chunk_sums_kernel<256>(void const*, uint64_t, uint64_t, digest_sum*);

} // namespace isobit::inline bits1::device
