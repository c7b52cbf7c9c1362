// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU under several schedules beside one with atomic additions, and compares with the host's
// scatter.
#include <isobit/simt/cuda.hpp>

#include "embedding_gradient.cuh"

#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

// What it replaces: the sum in the order in which the additions happen to arrive.
__global__ void gradient_by_atomics(float const* dy, int const* ids, int tokens, int cols, float* table) {
  for (int t = int(blockIdx.x); t < tokens; t += int(gridDim.x))
    for (int c = int(threadIdx.x); c < cols; c += int(blockDim.x))
      atomicAdd(&table[ids[t] * cols + c], dy[t * cols + c]);
}

int main() {
  int const tokens = 600, words = 20, cols = 24;
  std::size_t const width = cols;
  std::vector<int> ids(tokens), order(tokens);
  std::vector<float> dy(tokens * width);
  for (int t = 0; t < tokens; ++t)
    ids[std::size_t(t)] = t % 3 == 0 ? 7 : (t * t) % (words - 1); // word 7 is frequent, 19 absent
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = float(std::sin(double(i * i)));

  std::vector<float> expected(words * width);
  std::vector<std::uint64_t> room(isobit::scatter_host_workspace_bytes(tokens, words) / 8);
  isobit::scatter_reduce(isobit::host(), room.data(), room.size() * 8, ids.data(), tokens, dy.data(), width,
                         expected.data(), words);

  std::vector<std::uint64_t> offsets(words + 1);
  isobit::group_ids(isobit::host(), ids.data(), tokens, words, isobit::grouping<int>{offsets.data(), order.data()});
  using space = isobit::column_workspace<float>;
  std::vector<double> memory(space::bytes(tokens, words, width) / sizeof(double) + 4);
  void* const at = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 15) / 16 * 16);

  std::set<std::vector<float>> sums, sums_by_atomics;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    isobit::simt::config const launch{.grid = {unsigned(2 + 3 * seed)}, .block = {32}, .seed = seed};
    std::vector<float> table(words * width, 99.0f), atomics(words * width);
    isobit::simt::launch(launch, embedding_gradient, isobit::csr{offsets.data(), std::uint64_t(words)},
                         tokens_by_word{dy.data(), order.data(), width}, space::at(at, tokens, words, width),
                         table.data());
    isobit::simt::launch(launch, gradient_by_atomics, dy.data(), ids.data(), tokens, cols, atomics.data());
    sums.insert(table), sums_by_atomics.insert(atomics);
  }
  std::printf("embedding_gradient: %zu result of 4 launches (by atomic additions: %zu), the host's: %s\n", sums.size(),
              sums_by_atomics.size(), sums.count(expected) == 1 ? "yes" : "NO");
  return !(sums.size() == 1 && sums.count(expected) == 1 && sums_by_atomics.size() > 1);
}
