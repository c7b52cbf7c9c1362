// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum on the host, and the same in a kernel that runs on the CPU: package, headers and threads are all there.
#include <isobit/simt/cuda.hpp>

#include <isobit/reduce.hpp>

#include <cstdio>

__global__ void sum_in_kernel(float const* x, float* out, int n) {
  __shared__ isobit::block<64>::storage<float> memory;
  auto block = isobit::block(memory);
  float const sum = isobit::reduce(block, x, n);
  if (block.thread_rank() == 0) *out = sum;
}

int main() {
  float const x[] = {1e8f, 1.0f, -1e8f, 1.0f};
  float const sum = isobit::reduce(isobit::host(), x, 4); // (1e8 + 1) + (-1e8 + 1)
  float in_kernel = 1.0f;
  isobit::simt::launch(1, 33, sum_in_kernel, x, &in_kernel, 4);
  std::printf("isobit: %g\nkernel: %g\n", static_cast<double>(sum), static_cast<double>(in_kernel));
  return isobit::is_zero(sum) && isobit::to_bits(sum) == isobit::to_bits(in_kernel) ? 0 : 1;
}
