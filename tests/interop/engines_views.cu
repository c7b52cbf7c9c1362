// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The real types of CUDA's libraries: cuda::std::span and mdspan, Thrust's iterators, cooperative groups' tiles, CUDA's
// narrow floats, an accumulator's states in CUB's block reduction. Host results are checked; the kernels are compiled,
// and run where there is a GPU. Prints one line and returns 0 when all agree.
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <isobit/accum/exact.hpp>
#include <isobit/interop/cooperative_groups.hpp>
#include <isobit/interop/cuda_types.hpp>
#include <isobit/interop/exact_functors.hpp>
#include <isobit/interop/views.hpp>
#include <isobit/reduce.hpp>

#include <cstdio>
#include <vector>

namespace {

namespace cg = cooperative_groups;
namespace cs = cuda::std;
using matrix = cs::mdspan<float const, cs::dextents<int, 2>, cs::layout_stride>;
using exact = isobit::exact<float>;

static_assert(isobit::static_tile<cg::thread_block_tile<8>>);
static_assert(isobit::static_tile<cg::thread_block_tile<32, cg::thread_block>>);
static_assert(!isobit::static_tile<cg::thread_block> && !isobit::static_tile<cg::coalesced_group>);
static_assert(isobit::array_view<cs::span<float const>> && isobit::md_view<matrix>);

struct halved {
  __host__ __device__ float operator()(int i) const { return isobit::mul(static_cast<float>(i), 0.3f); }
};

// sums[0..5]: span, matrix, a Thrust iterator, a tile, all by one block of 64 threads, and an exact sum by CUB.
__global__ void sums_by_views(cs::span<float const> x, matrix m, float* sums) {
  __shared__ isobit::block<64>::storage<float> smem;
  isobit::block const block(smem);
  float const a = isobit::reduce(block, x);
  float const b = isobit::reduce(block, m);
  auto const halves = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), halved{});
  float const c = isobit::reduce(block, 1000, isobit::load_of(halves));
  auto const tile = cg::tiled_partition<8>(cg::this_thread_block());
  float const d = isobit::reduce(isobit::group_of(tile), x.data(), x.size());
  using cub_block = cub::BlockReduce<exact::state, 64>;
  __shared__ typename cub_block::TempStorage temporary;
  exact::state mine{};
  for (unsigned i = threadIdx.x; i < x.size(); i += 64) exact{}.deposit(mine, x[i]);
  exact::state const whole = cub_block(temporary).Reduce(mine, isobit::merged<exact>{});
  if (threadIdx.x == 0) sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d, sums[4] = exact{}.finish(whole);
}

template <class T> __global__ void sum_of(T const* x, int n, float* sum) {
  __shared__ isobit::block<64>::storage<float> smem;
  isobit::block const block(smem);
  float const s = isobit::reduce(block, x, n);
  if (threadIdx.x == 0) *sum = s;
}

int different(char const* what, float value, float expected) {
  bool const same = isobit::to_bits(value) == isobit::to_bits(expected);
  if (!same) std::printf("%s: %.9g, not %.9g\n", what, value, expected);
  return same ? 0 : 1;
}

template <class T> int check_type(char const* name, bool gpu) {
  using twin = typename isobit::cuda_twin<T>::type;
  int const n = 999;
  std::vector<T> x;
  std::vector<twin> y(n);
  for (int i = 0; i < n; ++i) {
    x.push_back(T(static_cast<float>(i * 37 % 101 - 50) / 16));
    y[i] = isobit::encode<twin>(static_cast<float>(i * 37 % 101 - 50) / 16);
  }
  float const expected = isobit::reduce(isobit::host(), y.data(), n);
  int bad = different(name, isobit::reduce(isobit::host(), x.data(), n), expected);
  if (gpu) {
    T* on_device = nullptr;
    float *out = nullptr, sum = -1;
    cudaMalloc(&on_device, n * sizeof(T));
    cudaMalloc(&out, sizeof sum);
    cudaMemcpy(on_device, x.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    sum_of<<<1, 64>>>(on_device, n, out);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    bad += different(name, sum, expected);
  }
  return bad;
}

} // namespace

int main() {
  using isobit::host;
  using isobit::load_of;
  int const rows = 20, cols = 50, n = rows * cols;
  std::vector<float> x(n), by_columns(n), by_index(n);
  for (int i = 0; i < n; ++i) {
    x[i] = isobit::div(static_cast<float>(i * 7919 % 1000 - 300), 3.0f);
    by_columns[i % cols * rows + i / cols] = x[i];
    by_index[i] = halved{}(i);
  }
  float const expected = isobit::reduce(host(), x.data(), n);
  float const expected_halves = isobit::reduce(host(), by_index.data(), n);
  matrix const m(by_columns.data(), {cs::dextents<int, 2>(rows, cols), cs::array<int, 2>{1, rows}});
  cs::mdspan<float const, cs::extents<int, 20, 50>> const row_major(x.data());
  cs::mdspan<float const, cs::dextents<long, 2>, cs::layout_left> const column_major(by_columns.data(), rows, cols);
  auto const halves = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), halved{});
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = i % cols * rows + i / cols;
  int bad = 0;
  bad += different("cuda::std::span", isobit::reduce(host(), cs::span<float const>(x.data(), x.size())), expected);
  bad += different("layout_stride", isobit::reduce(host(), m), expected);
  bad += different("layout_right, static", isobit::reduce(host(), row_major), expected);
  bad += different("layout_left", isobit::reduce(host(), column_major), expected);
  float const third_row = isobit::reduce(host(), &x[3 * cols], cols);
  bad += different("a row", isobit::reduce(host(), cols, isobit::row_of(column_major, 3)), third_row);
  bad += different("transform_iterator", isobit::reduce(host(), n, load_of(halves)), expected_halves);
  auto const permuted = thrust::make_permutation_iterator(by_columns.begin(), order.begin());
  bad += different("permutation_iterator", isobit::reduce(host(), n, load_of(permuted)), expected);
  auto const order_matters = [](float a, float b) { return isobit::fma(a, 0.5f, b); };
  float const by_rows = isobit::reduce(host(), x.data(), n, order_matters);
  float const other = isobit::reduce(host(), by_columns.data(), n, order_matters);
  bad += isobit::to_bits(other) == isobit::to_bits(by_rows); // control

  int devices = 0;
  bool const gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  bad += check_type<__half>("__half", gpu) + check_type<__nv_bfloat16>("__nv_bfloat16", gpu);
  bad += check_type<__nv_fp8_e4m3>("__nv_fp8_e4m3", gpu) + check_type<__nv_fp8_e5m2>("__nv_fp8_e5m2", gpu);
#if defined(ISOBIT_HAS_CUDA_FP4)
  bad += check_type<__nv_fp4_e2m1>("__nv_fp4_e2m1", gpu) + check_type<__nv_fp6_e3m2>("__nv_fp6_e3m2", gpu);
#endif
  if (gpu) {
    float *on_device = nullptr, *columns = nullptr, *out = nullptr, sums[5] = {};
    cudaMalloc(&on_device, n * sizeof(float));
    cudaMalloc(&columns, n * sizeof(float));
    cudaMalloc(&out, sizeof sums);
    cudaMemcpy(on_device, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(columns, by_columns.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    sums_by_views<<<1, 64>>>(cs::span<float const>(on_device, n), matrix(columns, m.mapping()), out);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    bad += different("span on the GPU", sums[0], expected) + different("mdspan on the GPU", sums[1], expected);
    bad += different("iterator on the GPU", sums[2], expected_halves) + different("tile on the GPU", sums[3], expected);
    bad += different("CUB on the GPU", sums[4], isobit::reduce(host(), x.data(), n, exact{}));
  }
  std::printf("CUDA's views, iterators and groups%s: %s\n", gpu ? ", on the GPU too" : ", on the host",
              bad == 0 ? "same bits" : "DIFFERENT");
  return bad != 0;
}
