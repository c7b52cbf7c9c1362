// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's kernels as nvcc compiles them, for the checks of PTX text, of registers and spills, and for the
// interpreter.
#include "digest_kernels.hpp"
#include "quantize_kernels.hpp"
#include "scan_kernels.hpp"
#include "segment_kernels.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/device/exact_atomic.hpp>
#include <isobit/device/ordered_sum_kernel.hpp>
#include <isobit/device/reduce_fragment_kernel.hpp>
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

REDUCE(tree, float, double_float<float>);
REDUCE(tree, double, double_float<double>);
REDUCE(tree, float, moments<float>);

using numbered_floats = numbered<contiguous<float>>;
template __global__ void reduce_kernel<tree, numbered_floats, extrema<float>>(numbered_floats, uint64_t,
                                                                              extrema_result<float>*, void*,
                                                                              extrema<float>);
using pairs = zipped<contiguous<float>, contiguous<float>, fused_product::multiply>;
template __global__ void reduce_kernel<tree, pairs, sum_of_products<float>>(pairs, uint64_t, float*, void*,
                                                                            sum_of_products<float>);

#define EXACT_REDUCE(element)                                                                                          \
  template __global__ void reduce_kernel<tree, contiguous<element>, exact<element>>(                                    \
      contiguous<element>, uint64_t, exact<element>::result*, void*, exact<element>)
EXACT_REDUCE(float);
EXACT_REDUCE(double);
EXACT_REDUCE(f16);
template __global__ void reduce_kernel<tree, pairs, exact_dot<float>>(pairs, uint64_t, float*, void*, exact_dot<float>);

template <class A>
__global__ void exact_atomic_kernel(typename A::input const* x, uint64_t n, exact_cell<typename A::grid>* total) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomic_deposit(A{}, total, x[i]);
}
template __global__ void exact_atomic_kernel<exact<float>>(float const*, uint64_t, exact_cell<exact_grid<float>>*);
template __global__ void exact_atomic_kernel<exact<double>>(double const*, uint64_t, exact_cell<exact_grid<double>>*);

using floats = contiguous<float>;
using results = isobit::detail::results<float>;
template __global__ void segmented_scan_by_block_kernel<256, floats, uint64_t, results, plain<float>>(
    floats, uint64_t const*, uint64_t, results, plain<float>);
template __global__ void segmented_scan_by_tile_kernel<32, floats, uint64_t, results, plain<float>>(
    floats, uint64_t const*, uint64_t, results, plain<float>);

// Blocks of NVFP4 in a kernel of one's own: eight lanes a block, a byte of codes a lane.
template <class Recipe>
__global__ void nvfp4_blocks(float const* x, uint32_t blocks, float tensor, e2m1x2* codes, e4m3* scales) {
  tile<8> const lanes;
  uint32_t const tiles = blockDim.x / 8;
  if (lanes.tile_rank() >= tiles) return;
  for (uint32_t b = blockIdx.x * tiles + lanes.tile_rank(); b < blocks; b += gridDim.x * tiles) {
    uint32_t const mine = 16 * b + 2 * lanes.thread_rank();
    float const values[2] = {x[mine], x[mine + 1]};
    e2m1 out[2];
    e4m3 const scale = quantize_block(lanes, Recipe{tensor}, values, out);
    codes[mine / 2] = pack(out[0], out[1]);
    if (lanes.thread_rank() == 0) scales[b] = scale;
  }
}
template __global__ void nvfp4_blocks<nvfp4<nv::te>>(float const*, uint32_t, float, e2m1x2*, e4m3*);
template __global__ void nvfp4_blocks<nvfp4<nv::exact>>(float const*, uint32_t, float, e2m1x2*, e4m3*);

// A Hadamard transform, then stochastic rounding: one thread a row of 16.
__global__ void hadamard_stochastic(float const* x, uint32_t rows, uint64_t seed, uint64_t stream, bf16* out) {
  stochastic const rounding{seed, stream};
  for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x) {
    float row[16];
    ISOBIT_UNROLL
    for (int i = 0; i < 16; ++i) row[i] = x[16 * r + i];
    hadamard16(row);
    ISOBIT_UNROLL
    for (int i = 0; i < 16; ++i) out[16 * r + i] = encode_stochastic<bf16>(row[i], rounding, 16 * r + i);
  }
}

// Ranks.
template __global__ void reduce_fragment_kernel<floats, plain<float>, 64>(floats, fragment_plan, fragment<float, 64>*, void*,
                                                                          plain<float>);
template __global__ void ordered_sum_kernel<tree, float, 6, float, plain<float>>(peers<float, 6>, uint64_t, float*, bool,
                                                                                 plain<float>);
template __global__ void ordered_sum_kernel<tree, bf16, 8, bf16, plain<float>>(peers<bf16, 8>, uint64_t, bf16*, bool,
                                                                               plain<float>);
template __global__ void ordered_sum_kernel<sequential, float, 5, float, plain<float>>(peers<float, 5>, uint64_t, float*,
                                                                                       bool, plain<float>);

} // namespace isobit::inline bits1::device
