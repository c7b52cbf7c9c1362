// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `device::torch_hash`. The same source runs on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/torch_hash.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Adds `mine` to `*total` by exclusive or, beside other blocks.
ISOBIT_HD inline void atomic_xor(uint64_t* total, uint64_t mine,
                                 [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  atomicXor(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(mine));
#elif !defined(__CUDACC_RTC__)
  auto& m = machine::here();
  for (uint64_t old = m.atomic(atomic_op::load, total, 8, 0, 0, memory_order::relaxed, where);;) {
    uint64_t const seen =
        m.atomic(atomic_op::compare_exchange, total, 8, old ^ mine, old, memory_order::relaxed, where);
    if (seen == old) return;
    old = seen;
  }
#endif
}

//! out[o * inner + i] ^= the exclusive or of the lanes of elements (o * reduced + r) * inner + i over r. Rows (inner 1)
//! are cut into `parts`, a block each; columns are a thread each. Any grid and any block of at most `Width` threads.
ISOBIT_CALLS_USER_CODE
template <class Load, int Width = 256>
ISOBIT_KERNEL void torch_hash_kernel(Load load, uint64_t outer, uint64_t reduced, uint64_t inner, uint64_t parts,
                                     uint64_t* out) {
  ISOBIT_SHARED block_storage<Width, uint64_t> memory;
  auto const b = block(memory);
  uint64_t const blocks = machine::grid_blocks();
  if (inner == 1) {
    uint64_t const part_size = reduced / parts + (reduced % parts != 0 ? 1 : 0);
    for (uint64_t job = b.block_rank(); job < outer * parts; job += blocks) {
      uint64_t const row = job / parts, begin = job % parts * part_size;
      uint64_t const end = begin + part_size < reduced ? begin + part_size : reduced;
      uint64_t const first = row * reduced;
      uint64_t const h = isobit::detail::xor_over(
          b, isobit::detail::xor_of(load, first + begin + b.thread_rank(), b.size(), first + end));
      if (b.thread_rank() == 0) atomic_xor(out + row, h);
    }
  } else {
    for (uint64_t o = b.block_rank() * b.size() + b.thread_rank(); o < outer * inner; o += blocks * b.size()) {
      uint64_t const first = o / inner * reduced * inner + o % inner;
      out[o] ^= isobit::detail::xor_of(load, first, inner, first + reduced * inner);
    }
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
