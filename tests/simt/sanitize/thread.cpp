// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for ThreadSanitizer: `thread right` must be silent, every other case must be reported as a data race.
#include <isobit/simt/cuda.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

using isobit::memory_order;
using isobit::uint32_t;
namespace machine = isobit::machine;
namespace simt = isobit::simt;

namespace {

template <bool Barrier> ISOBIT_KERNEL void exchange(int* out) {
  ISOBIT_SHARED int values[40];
  machine::shared_memory(values, sizeof values);
  unsigned const t = machine::thread_rank();
  values[t] = static_cast<int>(t);
  if (Barrier) machine::sync_block();
  out[machine::block_rank() * 40 + t] = values[39 - t];
}

template <memory_order Order> ISOBIT_KERNEL void last_arriver(float* partials, uint32_t* ticket, float* out) {
  uint32_t const blocks = static_cast<uint32_t>(machine::grid_blocks());
  if (machine::thread_rank() != 0) return;
  partials[machine::block_rank()] = 1.0f;
  auto const before = machine::here().atomic(isobit::atomic_op::increment_wrap, ticket, 4, blocks - 1, 0, Order,
                                             isobit::source_line::here());
  if (before != blocks - 1) return;
  float sum = 0;
  for (uint32_t b = 0; b < blocks; ++b) sum += partials[b];
  *out = sum;
}

ISOBIT_KERNEL void unsynchronised_sum(float* sum) {
  if (machine::thread_rank() == 0) *sum += 1;
}

template <bool Barrier> ISOBIT_KERNEL void neighbours(int* out) {
  ISOBIT_SHARED int values[32];
  unsigned const t = machine::thread_rank();
  values[t] = static_cast<int>(t);
  if (Barrier)
    machine::sync_warp(0xffffffffu);
  else
    machine::shuffle(0xffffffffu, 1, 0); // orders no memory accesses
  out[t] = values[t ^ 1];
}

ISOBIT_KERNEL void sums_by_shuffle(int* out) {
  int sum = static_cast<int>(machine::thread_rank());
  for (unsigned d = 16; d > 0; d /= 2) sum += machine::shuffle(0xffffffffu, sum, machine::lane() ^ d);
  if (machine::lane() == 0) *out = sum;
}

template <bool Fences> __global__ void fenced(float* partials, unsigned* ticket, float* out) {
  if (threadIdx.x != 0) return;
  partials[blockIdx.x] = 1.0f;
  if (Fences) __threadfence();
  unsigned const before = atomicInc(ticket, gridDim.x - 1);
  if (Fences) __threadfence();
  if (before != gridDim.x - 1) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partials[b];
  *out = sum;
}

void never_arrives() {
  if (machine::thread_rank() != 3) machine::sync_block();
}

} // namespace

int main(int, char** arguments) {
  auto const is = [&](char const* name) { return std::strcmp(arguments[1], name) == 0; };
  std::vector<int> ints(160);
  std::vector<float> partials(4);
  float out = 0;
  uint32_t ticket = 0;
  simt::config c{.grid = {4}, .block = {40}, .resident = 2};
  simt::config const one_warp{.block = {32}};
  for (c.seed = 0; c.seed < (is("right") ? 6u : 2u); ++c.seed) {
    if (is("right")) {
      simt::launch(c, exchange<true>, ints.data());
      simt::launch(one_warp, neighbours<true>, ints.data());
      simt::launch(one_warp, sums_by_shuffle, ints.data());
      c.block = {2};
      simt::launch(c, last_arriver<memory_order::acq_rel>, partials.data(), &ticket, &out);
      simt::launch(c, fenced<true>, partials.data(), &ticket, &out);
      c.block = {40};
      try {
        simt::launch(2, 8, never_arrives);
      } catch (simt::kernel_error const& e) {
        if (e.kind() != simt::error_kind::deadlock) return 1;
      }
    } else if (is("missing_barrier")) {
      simt::launch(c, exchange<false>, ints.data());
    } else if (is("missing_warp_barrier")) {
      simt::launch(one_warp, neighbours<false>, ints.data());
    } else if (is("relaxed_ticket")) {
      simt::launch(c, last_arriver<memory_order::relaxed>, partials.data(), &ticket, &out);
    } else if (is("missing_fences")) {
      simt::launch(c, fenced<false>, partials.data(), &ticket, &out);
    } else if (is("unsynchronised_sum")) {
      simt::launch(c, unsynchronised_sum, &out);
    } else {
      return 2;
    }
  }
  std::puts("done");
}
