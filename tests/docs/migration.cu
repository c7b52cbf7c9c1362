// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of the pages, most of it of docs/migration.md, that needs nvcc: launchers, CUB, Thrust. Compiled, not run.
#include <isobit/device/reduce.cuh>
#include <isobit/device/scan.cuh>
#include <isobit/device/scatter.cuh>
#include <isobit/device/segmented_reduce.cuh>
#include <isobit/interop/exact_functors.hpp>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include "migration_kernels.cuh"

__global__ void block_sums_by_cub(float const* x, float* out) {
  using block_reduce = cub::BlockReduce<float, 256>;
  __shared__ block_reduce::TempStorage smem;
  float sum = block_reduce(smem).Sum(x[blockIdx.x * 256 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

float* device_sum_by_cub(float const* x, int n, float* out, cudaStream_t stream) {
  void* temp = nullptr;
  std::size_t bytes = 0;
  cub::DeviceReduce::Sum(temp, bytes, x, out, n, stream);
  cudaMalloc(&temp, bytes);
  cub::DeviceReduce::Sum(temp, bytes, x, out, n, stream);
  return out;
}

float* device_sum(float const* x, std::uint64_t n, float* out, cudaStream_t stream) {
  void* workspace = nullptr;
  auto bytes = isobit::device::reduce_workspace_bytes<isobit::plain<float>>(n);
  cudaMalloc(&workspace, bytes);
  cudaMemsetAsync(workspace, 0, 16, stream); // once; every call leaves it zero
  isobit::device::reduce(stream, workspace, bytes, x, n, out);
  return out;
}

void scans(float const* x, int n, float* out, void* workspace, std::size_t bytes, cudaStream_t stream) {
  cub::DeviceScan::InclusiveSum(workspace, bytes, x, out, n, stream);
}

void scans_after(float const* x, std::uint64_t n, float* out, void* workspace, cudaStream_t stream) {
  auto bytes = isobit::device::scan_workspace_bytes<isobit::plain<float>>(n); // contents do not matter
  isobit::device::inclusive_scan(stream, workspace, bytes, x, n, out);
}

void segments(float const* x, float* out, int segments, int const* offsets, void* workspace, std::size_t bytes,
              cudaStream_t stream) {
  cub::DeviceSegmentedReduce::Sum(workspace, bytes, x, out, segments, offsets, offsets + 1, stream);
}

void segments_after(float const* x, std::uint64_t n, float* out, std::uint64_t segments, int const* offsets,
                    void* workspace, cudaStream_t stream) {
  auto bytes = isobit::device::segmented_reduce_workspace_bytes<isobit::plain<float>>(n, segments);
  isobit::device::segmented_reduce(stream, workspace, bytes, x, n, offsets, segments, out);
}

float thrust_sum(thrust::device_vector<float> const& x) { return thrust::reduce(x.begin(), x.end()); }

float thrust_exact_sum(thrust::device_vector<float> const& x) {
  using acc = isobit::exact<float>;
  auto state = thrust::transform_reduce(x.begin(), x.end(), isobit::lifted<acc>{}, acc::state{}, isobit::merged<acc>{});
  return acc{}.finish(state);
}

__global__ void index_add_by_atomics(int const* ids, float const* x, int columns, float* out) {
  int i = int(blockIdx.x), c = int(threadIdx.x);
  if (c < columns) atomicAdd(&out[ids[i] * columns + c], x[i * columns + c]);
}

void index_add(int const* ids, std::uint64_t n, float const* x, std::uint64_t columns, float* out, std::uint64_t rows,
               void* workspace, cudaStream_t stream) {
  auto bytes = isobit::device::scatter_workspace_bytes<isobit::plain<float>>(n, columns, rows); // no initialisation
  constexpr auto mode = isobit::scatter_mode::accumulate;
  isobit::device::scatter_reduce<mode>(stream, workspace, bytes, ids, n, x, columns, out, rows);
}

// docs/segments.md
void scatter_with_report(cudaStream_t stream, void* workspace, std::uint64_t bytes, int const* ids, std::uint64_t n,
                         float const* x, std::uint64_t columns, float* out, std::uint64_t rows,
                         isobit::index_report* report) {
  isobit::device::scatter_reduce(stream, workspace, bytes, ids, n, x, columns, out, rows, isobit::plain<float>{}, report);
}
