// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind `device::digest_range`, `device::chunk_sums` and `device::digest_elements`. The same source runs
//! on a GPU and, through `isobit::simt`, on a CPU.
#pragma once

#include <isobit/algo/digest_elements.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int digest_block = 256;

//! Adds to a sum in global memory that other blocks add to: two 64-bit integer atomics. The carry follows the low word,
//! so that the total is exact, whatever the order, when all blocks are done.
ISOBIT_HD inline void atomic_add(digest_sum* total, digest_sum s,
                                 [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  uint64_t const old = atomicAdd(reinterpret_cast<unsigned long long*>(&total->low), s.low);
  atomicAdd(reinterpret_cast<unsigned long long*>(&total->high), s.high + (old + s.low < old ? 1 : 0));
#elif !defined(__CUDACC_RTC__)
  auto& m = machine::here();
  uint64_t const old = m.atomic(atomic_op::add, &total->low, 8, s.low, 0, memory_order::relaxed, where);
  m.atomic(atomic_op::add, &total->high, 8, s.high + (old + s.low < old ? 1 : 0), 0, memory_order::relaxed, where);
#endif
}
//! The same for a digest of 128 bits: four atomics.
ISOBIT_HD inline void atomic_add(digest128_sum* total, digest128_sum const& s,
                                 source_line where = source_line::here()) {
  atomic_add(&total->first, s.first, where);
  atomic_add(&total->second, s.second, where);
}

//! Adds the sum over `bytes` bytes at `data` to `*total` (zero before the first launch). Any grid and any block of at
//! most `digest_block` threads.
template <int Width = digest_block, any_digest_sum Sum = digest_sum>
ISOBIT_KERNEL void digest_range_kernel(void const* data, uint64_t bytes, uint64_t first_unit, Sum* total) {
  ISOBIT_SHARED block_storage<Width, Sum> memory;
  auto const b = block(memory);
  uint64_t const rank = b.block_rank() * b.size() + b.thread_rank();
  uint64_t const threads = machine::grid_blocks() * b.size();
  auto const s = sum_over(b, detail::share_of_sum<Sum>(data, bytes, first_unit, rank, threads));
  if (b.thread_rank() == 0) atomic_add(total, s);
}

//! out[c] = the sum over chunk c. Blocks take chunks in turn: any grid and any block of at most `Width` threads.
template <int Width = digest_block, any_digest_sum Sum = digest_sum>
ISOBIT_KERNEL void chunk_sums_kernel(void const* data, uint64_t bytes, uint64_t chunk_bytes, Sum* out) {
  ISOBIT_SHARED block_storage<Width, Sum> memory;
  auto const b = block(memory);
  auto const* const begin = static_cast<unsigned char const*>(data);
  uint64_t const chunks = digest_chunks(bytes, chunk_bytes);
  for (uint64_t c = b.block_rank(); c < chunks; c += machine::grid_blocks()) {
    uint64_t const first = c * chunk_bytes;
    uint64_t const length = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
    auto const s =
        sum_over(b, detail::share_of_sum<Sum>(begin + first, length, first / 16, b.thread_rank(), b.size()));
    if (b.thread_rank() == 0) out[c] = s;
  }
}

//! Adds the sum over the elements `load(0) .. load(count - 1)` to `*total`. Any grid and any block of at most `Width`
//! threads.
ISOBIT_CALLS_USER_CODE
template <digest_form Form, class Load, int Width = digest_block>
ISOBIT_KERNEL void digest_elements_kernel(Load load, uint64_t count, uint64_t first_unit, typename Form::sum* total) {
  ISOBIT_SHARED block_storage<Width, typename Form::sum> memory;
  auto const b = block(memory);
  uint64_t const rank = b.block_rank() * b.size() + b.thread_rank();
  uint64_t const threads = machine::grid_blocks() * b.size();
  auto const s = sum_over(b, detail::share_of_elements<Form>(load, count, first_unit, rank, threads));
  if (b.thread_rank() == 0) atomic_add(total, s);
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
