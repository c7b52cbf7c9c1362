// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA kernel that runs here on the CPU, thread by thread: five block widths, the same bits.
#define ISOBIT_WITH_SIMT
#include <isobit.hpp>

#include <cstdio>
#include <vector>

__global__ void sum(float const* x, float* out, int n) {
  __shared__ isobit::block<256>::storage<float> memory;
  auto block = isobit::block(memory);
  float const s = isobit::reduce(block, x, n);
  if (block.thread_rank() == 0) *out = s;
}

int main() {
  std::vector<float> x(10000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 2 ? -1.0f : 1.0f) / static_cast<float>(i + 1);
  for (int width : {1, 32, 96, 131, 256}) {
    float out = 0.0f;
    isobit::simt::launch(1, width, sum, x.data(), &out, int(x.size()));
    std::printf("%3d threads: %08x\n", width, isobit::to_bits(out));
  }
  std::printf("   the host: %08x\n", isobit::to_bits(isobit::reduce(isobit::host(), x.data(), x.size())));
}
