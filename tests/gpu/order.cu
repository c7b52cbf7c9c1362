// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The orders themselves on a real GPU: counter, fragments, slots and the definition, thread by thread, against the CPU.
#include "check.hpp"

#include <isobit/accum/plain.hpp>
#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/order/sparse.hpp>

#include "../golden/p4016.hpp"

namespace {

using isobit::counter, isobit::fragment, isobit::interpret, isobit::plain, isobit::sparse_counter, isobit::to_bits;
namespace p4016 = golden::p4016;

using sum = plain<float>;
using part = fragment<float, 24>;

struct element {
  __host__ __device__ float operator()(uint64_t i) const { return static_cast<float>(p4016::generator::at(i)); }
};

// Slot s of row n is present where this says so; slot 0 always is.
__host__ __device__ bool present(uint64_t n, uint64_t s) { return s == 0 || (s * 2654435761u + n) % 7 < 3; }

struct results {
  float counted, interpreted, lanes, left_fold, slots;
};

__host__ __device__ results evaluate(uint64_t n) {
  counter<float, 24> c;
  sparse_counter<float, 24> s;
  for (uint64_t i = 0; i < n; ++i) {
    c.push(sum{}, element{}(i));
    if (present(n, i)) s.push(sum{}, i, element{}(i));
  }
  return {c.fold(sum{}), interpret<isobit::tree>(n, element{}, sum{}),
          interpret<isobit::lanes<16>>(n, element{}, sum{}), interpret<isobit::sequential>(n, element{}, sum{}),
          s.fold(sum{})};
}

// Thread t evaluates n = t + 1.
__global__ void every_size(results* out) {
  uint64_t const t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = evaluate(t + 1);
}

// The ends of part t of p parts of [0, n): uneven on purpose.
__host__ __device__ uint64_t cut(uint64_t t, uint64_t p, uint64_t n) {
  return t == 0 ? 0 : t >= p ? n : (n * t + (t * t * 37) % p) / p;
}
__global__ void make_parts(part* parts, uint64_t n) {
  uint64_t const t = blockIdx.x * blockDim.x + threadIdx.x, p = uint64_t(gridDim.x) * blockDim.x;
  part f(cut(t, p, n));
  for (uint64_t i = cut(t, p, n); i < cut(t + 1, p, n); ++i) f.append(sum{}, element{}(i));
  parts[t] = f;
}
__global__ void merge_parts(part const* parts, int count, float* root) {
  part all = parts[0];
  for (int t = 1; t < count; ++t) all.append(sum{}, parts[t]);
  *root = all.root(sum{});
}

void sizes() {
  gpu::check c("orders, one thread each: counter, slots, tree, lanes, sequential");
  size_t stack = 0; // the definition is recursive
  gpu::must(cudaDeviceGetLimit(&stack, cudaLimitStackSize), "stack size");
  gpu::must(cudaDeviceSetLimit(cudaLimitStackSize, 8192), "stack size");
  int const threads = 64, blocks = gpu::quick() ? 2 : 32;
  gpu::array<results> out(static_cast<size_t>(threads) * blocks);
  every_size<<<blocks, threads>>>(out.data());
  gpu::must(cudaDeviceSynchronize(), "orders");
  gpu::must(cudaDeviceSetLimit(cudaLimitStackSize, stack), "stack size");
  auto const got = out.to_host();
  for (size_t t = 0; t < got.size(); ++t) c.expect(gpu::same_bits(got[t], evaluate(t + 1)), "all orders", t + 1);
  // The control: one size's results are not another's.
  c.expect(!gpu::same_bits(got[100], evaluate(102)), "control");
}

void fragments() {
  gpu::check c("fragments of uneven ranges, merged on the GPU and on the CPU, golden bits");
  for (auto const& golden : p4016::prefix_sums) {
    if (golden.n < 1023 || (gpu::quick() && golden.n > 5000)) continue;
    for (int threads : {33, 250}) {
      gpu::array<part> parts(static_cast<size_t>(threads));
      gpu::array<float> root(1);
      make_parts<<<1, threads>>>(parts.data(), golden.n);
      merge_parts<<<1, 1>>>(parts.data(), threads, root.data());
      gpu::must(cudaDeviceSynchronize(), "fragments");
      c.expect(to_bits(root.to_host()[0]) == golden.bits, "merged on the GPU", golden.n);
      part all;
      for (part const& p : parts.to_host()) all = merge(sum{}, all, p);
      c.expect(to_bits(all.root(sum{})) == golden.bits, "merged on the CPU", golden.n);
    }
  }
}

} // namespace

void check_order() {
  sizes();
  fragments();
}
