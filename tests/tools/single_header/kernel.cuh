// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void row_sums(float const* x, float* out, int columns) {
  __shared__ isobit::block<128>::storage<float> memory;
  auto block = isobit::block(memory);
  float const sum = isobit::reduce(block, x + blockIdx.x * static_cast<unsigned>(columns), columns);
  if (block.thread_rank() == 0) out[blockIdx.x] = sum;
}
