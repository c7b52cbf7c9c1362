// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU with 1 to 19 splits and several schedules, over memory full of NaNs, and compares with the
// host.
#include <isobit/simt/cuda.hpp>

#include "split_k.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <vector>

// What it replaces: the chunks are added in the order in which they arrive. sums: zeroed, [rows][cols].
__global__ void split_k_by_atomics(gemm g, float* sums) {
  std::size_t const i = threadIdx.x, across = (g.cols + gemm::tile - 1) / gemm::tile;
  std::size_t const row = blockIdx.x / across * gemm::tile + i / gemm::tile;
  std::size_t const col = blockIdx.x % across * gemm::tile + i % gemm::tile;
  for (std::size_t k = blockIdx.y; k < g.chunks(); k += gridDim.y)
    if (g.has(row, col)) atomicAdd(&sums[row * g.cols + col], g.part(row, col, k));
}

int main() {
  std::size_t const rows = 13, cols = 18, depth = 600; // ragged tiles, 19 chunks
  std::vector<isobit::bf16> a(rows * depth), b(depth * cols), c(rows * cols), expected(rows * cols);
  std::vector<float> bias(cols);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = isobit::encode<isobit::bf16>(float(std::sin(double(i))));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = isobit::encode<isobit::bf16>(float(std::cos(double(i * i % 1009))));
  for (std::size_t i = 0; i < cols; ++i) bias[i] = float(i) / 8;
  gemm g{a.data(), b.data(), bias.data(), expected.data(), rows, cols, depth, 0.5f};
  gemm_on_host(g);
  g.c = c.data();

  int different = 0;
  std::set<std::vector<float>> by_atomics;
  for (unsigned splits : {1u, 2u, 5u, 19u})
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      isobit::simt::config const launch{.grid = {unsigned(g.tiles()), splits}, .block = {64}, .seed = seed};
      std::vector<float> memory(g.tiles() * g.chunks() * 64, std::nanf("")), sums(rows * cols);
      std::vector<std::uint32_t> arrivals(g.tiles());
      std::memset(static_cast<void*>(c.data()), 0xff, c.size() * sizeof c[0]);
      isobit::simt::launch(launch, split_k, g, memory.data(), arrivals.data());
      different += std::memcmp(c.data(), expected.data(), c.size() * sizeof c[0]) != 0;
      for (std::uint32_t n : arrivals) different += n != 0; // ready for the next launch
      isobit::simt::launch(launch, split_k_by_atomics, g, sums.data());
      by_atomics.insert(sums);
    }
  std::printf("split_k: same bits with every split, and on the host: %s (by atomic additions: %zu results of 8)\n",
              different == 0 ? "yes" : "NO", by_atomics.size());
  return different != 0 || by_atomics.size() < 2;
}
