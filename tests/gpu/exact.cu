// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact sums on a real GPU against the CPU: the launcher, and atomic deposits into shared and global memory under
// contention.
#include "check.hpp"

#include <isobit/accum/exact.hpp>
#include <isobit/device/exact_atomic.hpp>
#include <isobit/device/reduce.cuh>

namespace {

using isobit::exact;
using isobit::exact_cell;

template <class A> using cell_of = exact_cell<typename A::grid>;

template <class A> __global__ void deposits(typename A::element const* x, uint64_t n, cell_of<A>* total) {
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) atomic_deposit(A{}, total, x[i]);
}
template <class A> __global__ void deposits_by_block(typename A::element const* x, uint64_t n, cell_of<A>* total) {
  __shared__ cell_of<A> mine;
  clear(mine, threadIdx.x, blockDim.x);
  __syncthreads();
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) atomic_deposit(A{}, &mine, x[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomic_merge(total, read(mine));
}

template <class T> std::vector<T> numbers(size_t n) {
  std::vector<T> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<T>(gpu::hard_float(i));
  return x;
}

template <class T> void check_type(char const* name) {
  using A = exact<T>;
  A const acc;
  gpu::check c(name);
  auto const x = numbers<T>(gpu::quick() ? 20000 : 3000001);
  gpu::array<T> const d(x, 1);
  gpu::array<unsigned char> const workspace(isobit::device::reduce_workspace_bytes<A>(x.size()));
  gpu::must(cudaMemset(workspace.data(), 0, workspace.size()), "cudaMemset");
  for (uint64_t n : {uint64_t(1), uint64_t(31), uint64_t(4097), uint64_t(x.size())}) {
    T const want = isobit::reduce(isobit::host(), x.data(), n, acc);
    gpu::array<T> const out(1);
    isobit::device::reduce(0, workspace.data(), workspace.size(), d.data(), n, out.data(), acc);
    c.expect(gpu::same_bits(out.to_host()[0], want), "reduce", n);
    typename A::state state{};
    for (uint64_t i = 0; i < n; ++i) acc.deposit(state, x[i]);
    for (int width : {33, 256})
      for (int grid : {1, 132, 1000}) {
        gpu::array<cell_of<A>> total(1), by_block(1);
        total.zero();
        by_block.zero();
        deposits<A><<<grid, width>>>(d.data(), n, total.data());
        deposits_by_block<A><<<grid, width>>>(d.data(), n, by_block.data());
        c.expect(gpu::same_bits(read(total.to_host()[0]), state), "atomics in global memory", n);
        c.expect(gpu::same_bits(read(by_block.to_host()[0]), state), "atomics in shared memory", n);
      }
  }
  // Limbs at the edge of their band: many threads carry at once.
  cell_of<A> edge{};
  for (int i = 0; i + 1 < edge.limbs; ++i) edge.limb[i] = (uint64_t(1) << 62) - 1000;
  edge.flags = isobit::exact_number;
  typename A::state expected = read(edge);
  for (T v : x) acc.deposit(expected, v);
  gpu::array<cell_of<A>> const total(std::vector<cell_of<A>>{edge});
  deposits<A><<<132, 256>>>(d.data(), x.size(), total.data());
  c.expect(gpu::same_bits(read(total.to_host()[0]), expected), "carries", x.size());
}

template <class T> void bench_type(char const* name) {
  using A = exact<T>;
  uint64_t const n = uint64_t(1) << 26;
  gpu::array<T> const d(numbers<T>(n));
  gpu::array<unsigned char> const workspace(isobit::device::reduce_workspace_bytes<A>(n));
  gpu::must(cudaMemset(workspace.data(), 0, workspace.size()), "cudaMemset");
  gpu::array<T> const out(1);
  gpu::array<cell_of<A>> total(1);
  total.zero();
  double const reduce = gpu::microseconds(
      [&] { isobit::device::reduce(0, workspace.data(), workspace.size(), d.data(), n, out.data(), A{}); }, 3, 5);
  double const atomics =
      gpu::microseconds([&] { deposits_by_block<A><<<1056, 256>>>(d.data(), n, total.data()); }, 3, 5);
  std::printf("| %s | %.0f | %.0f |\n", name, sizeof(T) * n / reduce * 1e-3, sizeof(T) * n / atomics * 1e-3);
}

} // namespace

void check_exact() {
  check_type<float>("exact sums of float: reduction, atomics");
  check_type<double>("exact sums of double: reduction, atomics");
}

void bench_exact() {
  std::printf("\n| exact sum of 2^26 elements | reduce, GB/s | atomics by block, GB/s |\n|---|---|---|\n");
  bench_type<float>("float");
  bench_type<double>("double");
}
