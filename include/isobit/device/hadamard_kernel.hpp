// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::hadamard`. The same source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/hadamard_host.hpp>
#include <isobit/device/quantize_run.hpp>

namespace isobit::inline bits1::device {
namespace quantize_detail {

// *p = max(*p, v). The order of arrival does not matter.
ISOBIT_HD inline void raise(uint32_t* p, uint32_t v, [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  static_cast<void>(atomicMax(p, v));
#elif !defined(__CUDACC_RTC__)
  machine::here().atomic(atomic_op::max_unsigned, p, 4, v, 0, memory_order::relaxed, where);
#endif
}

// 16 results as bf16.
ISOBIT_HD inline void store_halves(bf16* to, bf16 const (&v)[run]) {
  if (is_aligned(to, 16)) {
    ISOBIT_UNROLL
    for (uint32_t h = 0; h < run; h += 8) {
      word16 words{};
      ISOBIT_UNROLL
      for (uint32_t j = 0; j < 8; ++j) words.w[j / 2] |= uint32_t(v[h + j].bits) << (16 * (j % 2));
#if defined(ISOBIT_ON_DEVICE)
      *reinterpret_cast<uint4*>(to + h) = __builtin_bit_cast(uint4, words);
#else
      __builtin_memcpy(to + h, &words, sizeof words);
#endif
    }
  } else {
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) to[j] = v[j];
  }
}

} // namespace quantize_detail
} // namespace isobit::inline bits1::device

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Transforms each 16 neighbouring elements of `x`, `runs` times 16 in all, into `out`, and raises *amax (0 before) to the
//! largest `Recipe::magnitude` of what is written. Any grid, any block shape.
template <class Recipe, class T>
ISOBIT_KERNEL void hadamard_kernel(T const* x, uint64_t runs, uint16_t signs, bf16* out, uint32_t* amax) {
  using namespace quantize_detail;
  ISOBIT_SHARED uint32_t most;
  machine::shared_memory(&most, sizeof most);
  if (machine::thread_rank() == 0) most = 0;
  machine::sync_block();
  uint32_t mine = 0;
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t i = machine::block_rank() * machine::block_threads() + machine::thread_rank(); i < runs; i += step) {
    float v[run];
    load_run(x + i * run, run, v);
    hadamard16(v, signs);
    bf16 rounded[run];
    ISOBIT_UNROLL
    for (uint32_t j = 0; j < run; ++j) {
      rounded[j] = encode<bf16>(v[j]);
      uint32_t const m = Recipe::magnitude(decode_element(rounded[j]));
      mine = mine < m ? m : mine;
    }
    store_halves(out + i * run, rounded);
  }
  raise(&most, mine);
  machine::sync_block();
  if (machine::thread_rank() == 0) raise(amax, most);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
