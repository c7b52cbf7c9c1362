// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/interop.md that needs nvcc. Compiled, not run; tests/interop runs such code.
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/std/mdspan>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <isobit/interop/cooperative_groups.hpp>
#include <isobit/interop/cuda_types.hpp>
#include <isobit/interop/exact_functors.hpp>
#include <isobit/interop/views.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>

namespace cg = cooperative_groups;

__global__ void row_sums(__nv_bfloat16 const* x, unsigned rows, unsigned columns, float* out) {
  auto const tile = cg::tiled_partition<8>(cg::this_thread_block());
  unsigned const row = blockIdx.x * (blockDim.x / 8) + tile.meta_group_rank();
  if (row >= rows) return; // all lanes of a tile together
  float const sum = isobit::reduce(isobit::group_of(tile), x + std::size_t(row) * columns, columns);
  if (tile.thread_rank() == 0) out[row] = sum;
}

using matrix = cuda::std::mdspan<float const, cuda::std::dextents<int, 2>, cuda::std::layout_stride>;

__global__ void column_sums(matrix m, float* out) {
  __shared__ isobit::block<256>::storage<float> smem;
  isobit::block const block(smem);
  float const sum = isobit::reduce(block, m.extent(0), isobit::column_of(m, blockIdx.x));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <class Iterator> __global__ void sum_of(Iterator first, int n, float* out) {
  __shared__ isobit::block<256>::storage<float> smem;
  isobit::block const block(smem);
  float const sum = isobit::reduce(block, n, isobit::load_of(first));
  if (threadIdx.x == 0) *out = sum;
}

struct harmonic {
  ISOBIT_HD float operator()(int i) const { return isobit::div(1.0f, isobit::convert<float>(i)); }
};

void harmonic_sum(int n, float* out, cudaStream_t stream) {
  auto const terms = thrust::make_transform_iterator(thrust::counting_iterator<int>(1), harmonic{});
  sum_of<<<1, 256, 0, stream>>>(terms, n, out);
}

__global__ void exact_sum_by_cub(float const* x, unsigned n, float* out) {
  using exact = isobit::exact<float>;
  using block_reduce = cub::BlockReduce<exact::state, 256>;
  __shared__ block_reduce::TempStorage smem;
  exact::state mine{};
  for (unsigned i = threadIdx.x; i < n; i += 256) exact{}.deposit(mine, x[i]);
  exact::state const whole = block_reduce(smem).Reduce(mine, isobit::merged<exact>{});
  if (threadIdx.x == 0) *out = exact{}.finish(whole);
}

#if defined(ISOBIT_HAS_CUDA_FP4)
void to_mxfp8(__half const* x, std::size_t rows, std::size_t cols, __nv_fp8_e4m3* codes, __nv_fp8_e8m0* scales) {
  using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  isobit::quantize(isobit::host(), recipe{}, x, rows, cols, isobit::twin(codes), isobit::twin(scales));
}
#endif
