// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One sum of floats under five launches, in an order that follows the launch and in isobit's. Prints, for each launch,
// the bits of both sums and their distance from the correctly rounded one in units of the last place. bench/order_plot
// draws it.
#include <isobit/accum/exact.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/cuda.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

// The usual two passes, as CUDA code has them: thread t of the launch adds elements t, t + threads, ...; a tree over
// each block's threads; one block does the same with the blocks' sums. A block's tree pairs thread i with i + width /
// 2.
float block_sum(std::vector<float> const& x, std::size_t first, std::size_t threads, unsigned width) {
  std::vector<float> part(width, 0.0f);
  for (unsigned t = 0; t < width; ++t)
    for (std::size_t i = first + t; i < x.size(); i += threads) part[t] = isobit::add(part[t], x[i]);
  for (unsigned half = width / 2; half > 0; half /= 2)
    for (unsigned t = 0; t < half; ++t) part[t] = isobit::add(part[t], part[t + half]);
  return part[0];
}
float sum_by_launch(std::vector<float> const& x, unsigned grid, unsigned width) {
  std::vector<float> blocks(grid);
  for (unsigned b = 0; b < grid; ++b)
    blocks[b] = block_sum(x, std::size_t(b) * width, std::size_t(grid) * width, width);
  return block_sum(blocks, 0, width, width);
}

// isobit's, inside a kernel of all blocks.
__global__ void sum_by_tree(float const* x, std::uint64_t n, void* workspace, float* result) {
  __shared__ isobit::block<1024>::storage<float> smem;
  auto const block = isobit::block(smem);
  auto const grid = isobit::grid(block, isobit::grid_workspace<float>::at(workspace));
  auto const sum = isobit::reduce(grid, n, isobit::contiguous{x});
  if (sum.here && block.thread_rank() == 0) *result = sum.value;
}

} // namespace

int main() {
  std::vector<float> x(1000000);
  std::uint32_t z = 1;
  for (float& v : x) { // even in [-1, 1)
    z = z * 1664525u + 1013904223u;
    v = float(int(z >> 8) - (1 << 23)) / float(1 << 23);
  }
  float const exact = isobit::reduce(isobit::host(), x.data(), x.size(), isobit::exact<float>{});
  std::printf("exact\t%08x\t%.9g\n", isobit::to_bits(exact), exact);
  struct {
    unsigned grid, width;
  } const launches[] = {{1, 1024}, {16, 64}, {40, 128}, {80, 256}, {132, 128}};
  auto const off = [exact](float sum) {
    return static_cast<long long>(isobit::to_ordered(sum)) - static_cast<long long>(isobit::to_ordered(exact));
  };
  for (auto const& l : launches) {
    std::vector<std::uint64_t> workspace(isobit::grid_workspace<float>::bytes(x.size()) / 8 + 2);
    auto const at = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 15) / 16 * 16;
    float tree = 0;
    isobit::simt::launch(l.grid, l.width, sum_by_tree, x.data(), x.size(), reinterpret_cast<void*>(at), &tree);
    float const other = sum_by_launch(x, l.grid, l.width);
    std::printf("%u x %u\t%08x\t%lld\t%08x\t%lld\n", l.grid, l.width, isobit::to_bits(other), off(other),
                isobit::to_bits(tree), off(tree));
  }
}
