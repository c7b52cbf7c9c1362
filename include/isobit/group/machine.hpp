// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a thread of a kernel may ask of its machine: its position, barriers, exchanges within a warp, and atomics.
//! On a GPU these are the hardware's instructions; on a host they go to the simulator that runs the thread
//! (`isobit::simt`), which announces itself through `simulator::current`. Nothing above this file knows the difference.
#pragma once

#include <isobit/config.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstdio>
#include <cstdlib>
#endif

namespace isobit::inline bits1 {

//! A place in the source, for the simulator's reports. Costs nothing on a device.
struct source_line {
  char const* file = "";
  int line = 0;
  ISOBIT_HD static constexpr source_line here(char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

//! Three extents or coordinates, as CUDA's dim3.
struct extent3 {
  uint32_t x = 1, y = 1, z = 1;
  ISOBIT_HD constexpr uint64_t count() const { return uint64_t(x) * y * z; }
};

//! An atomic access's memory order.
enum class memory_order { relaxed, acquire, release, acq_rel };

//! The read-modify-write operations that kernels use. `increment_wrap` is CUDA's atomicInc: old >= operand ? 0 : old + 1.
enum class atomic_op { load, store, add, exchange, increment_wrap, max_unsigned, or_bits, compare_exchange };

#if !defined(__CUDACC_RTC__)
//! The services that a simulator gives to the thread that it is running. One object serves the current thread.
class simulator {
public:
  //! The simulator of the thread that runs now; null in ordinary host code.
  static inline thread_local simulator* current = nullptr;

  virtual extent3 thread_index() const = 0;
  virtual extent3 block_index() const = 0;
  virtual extent3 block_extent() const = 0;
  virtual extent3 grid_extent() const = 0;

  virtual void sync_block(source_line where) = 0;
  //! Barrier of the lanes in `mask` of the current warp (bit i: lane i).
  virtual void sync_warp(uint32_t mask, source_line where) = 0;
  //! Every lane in `mask` offers `bytes` at `mine`; the caller receives the bytes that lane `from` offered.
  //! A lane outside `mask` or beyond the block is an error that the simulator reports.
  virtual void shuffle(uint32_t mask, void const* mine, void* received, size_t bytes, uint32_t from,
                       source_line where) = 0;
  virtual uint32_t ballot(uint32_t mask, bool vote, source_line where) = 0;
  //! An atomic access of 4 or 8 bytes at `address` (also a point where another thread may be scheduled). Returns the old
  //! value. `compared` is used by compare_exchange only.
  virtual uint64_t atomic(atomic_op op, void* address, size_t bytes, uint64_t operand, uint64_t compared,
                          memory_order order, source_line where) = 0;
  //! `bytes` at `memory` are this block's shared memory: filled with 0xFF bytes when the block's first thread says so.
  virtual void shared_memory(void* memory, size_t bytes) = 0;

protected:
  ~simulator() = default;
};
#endif

//! The calling thread's machine. All members are free functions in spirit; the class is only their name.
namespace machine {

inline constexpr uint32_t warp_width = 32;

#if !defined(__CUDACC_RTC__)
//! The simulator that runs this thread; for host code. Stops the program with one sentence outside of a kernel.
inline simulator& here() {
  if (simulator::current == nullptr) {
    std::fputs("isobit: a block, tile or grid was used outside of a kernel; on a CPU, run the kernel with "
               "isobit::simt::launch\n",
               stderr);
    std::abort();
  }
  return *simulator::current;
}
#endif

ISOBIT_HD inline extent3 thread_index() {
#if defined(ISOBIT_ON_DEVICE)
  return {threadIdx.x, threadIdx.y, threadIdx.z};
#elif !defined(__CUDACC_RTC__)
  return here().thread_index();
#endif
}
ISOBIT_HD inline extent3 block_index() {
#if defined(ISOBIT_ON_DEVICE)
  return {blockIdx.x, blockIdx.y, blockIdx.z};
#elif !defined(__CUDACC_RTC__)
  return here().block_index();
#endif
}
ISOBIT_HD inline extent3 block_extent() {
#if defined(ISOBIT_ON_DEVICE)
  return {blockDim.x, blockDim.y, blockDim.z};
#elif !defined(__CUDACC_RTC__)
  return here().block_extent();
#endif
}
ISOBIT_HD inline extent3 grid_extent() {
#if defined(ISOBIT_ON_DEVICE)
  return {gridDim.x, gridDim.y, gridDim.z};
#elif !defined(__CUDACC_RTC__)
  return here().grid_extent();
#endif
}

//! The thread's number within its block, x fastest.
ISOBIT_HD inline uint32_t thread_rank() {
  auto const i = thread_index(), e = block_extent();
  return i.x + e.x * (i.y + e.y * i.z);
}
ISOBIT_HD inline uint32_t block_threads() { return static_cast<uint32_t>(block_extent().count()); }
//! The block's number within its grid, x fastest.
ISOBIT_HD inline uint64_t block_rank() {
  auto const i = block_index(), e = grid_extent();
  return i.x + uint64_t(e.x) * (i.y + uint64_t(e.y) * i.z);
}
ISOBIT_HD inline uint64_t grid_blocks() { return grid_extent().count(); }
//! The thread's lane within its warp.
ISOBIT_HD inline uint32_t lane() { return thread_rank() % warp_width; }

ISOBIT_HD inline void sync_block([[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  __syncthreads();
#elif !defined(__CUDACC_RTC__)
  here().sync_block(where);
#endif
}
ISOBIT_HD inline void sync_warp(uint32_t mask, [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  __syncwarp(mask);
#elif !defined(__CUDACC_RTC__)
  here().sync_warp(mask, where);
#endif
}
ISOBIT_HD inline uint32_t ballot(uint32_t mask, bool vote, [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  return __ballot_sync(mask, vote);
#elif !defined(__CUDACC_RTC__)
  return here().ballot(mask, vote, where);
#endif
}

namespace detail {
#if defined(ISOBIT_ON_DEVICE)
// Exchanges a value word by word; `exchange` is one 32-bit shuffle.
template <class T, class Exchange> __device__ T shuffle_words(T const& mine, Exchange const& exchange) {
  constexpr int words = (sizeof(T) + 3) / 4;
  struct padded {
    uint32_t word[words];
  };
  padded p{};
  if constexpr (sizeof(T) % 4 == 0)
    p = __builtin_bit_cast(padded, mine);
  else
    __builtin_memcpy(&p, &mine, sizeof(T));
  ISOBIT_UNROLL
  for (int w = 0; w < words; ++w) p.word[w] = exchange(p.word[w]);
  if constexpr (sizeof(T) % 4 == 0) {
    return __builtin_bit_cast(T, p);
  } else {
    T result;
    __builtin_memcpy(&result, &p, sizeof(T));
    return result;
  }
}
#endif
} // namespace detail

//! The value that lane `from` of this warp passes to the same call. `T` is any trivially copyable type; every lane in
//! `mask` must call. Costs one 32-bit shuffle for each four bytes.
template <class T>
ISOBIT_HD T shuffle(uint32_t mask, T const& mine, uint32_t from, [[maybe_unused]] source_line where = source_line::here()) {
  static_assert(__is_trivially_copyable(T), "isobit: only trivially copyable values can be exchanged between lanes");
#if defined(ISOBIT_ON_DEVICE)
  return detail::shuffle_words(mine, [=](uint32_t w) { return __shfl_sync(mask, w, static_cast<int>(from)); });
#elif !defined(__CUDACC_RTC__)
  T result;
  here().shuffle(mask, &mine, &result, sizeof(T), from, where);
  return result;
#else
  return mine;
#endif
}

//! The same from the lane whose number differs in the bits of `lane_mask`.
template <class T>
ISOBIT_HD T shuffle_xor(uint32_t mask, T const& mine, uint32_t lane_mask,
                        [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  static_assert(__is_trivially_copyable(T), "isobit: only trivially copyable values can be exchanged between lanes");
  return detail::shuffle_words(mine, [=](uint32_t w) { return __shfl_xor_sync(mask, w, static_cast<int>(lane_mask)); });
#else
  return shuffle(mask, mine, lane() ^ lane_mask, where);
#endif
}

//! Says that `bytes` at `memory` are shared memory of this block. The simulator then fills them with 0xFF bytes (NaN)
//! before the block's first use; a GPU does nothing.
ISOBIT_HD inline void shared_memory([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  here().shared_memory(memory, bytes);
#endif
}

//! One arrival at a counter in global memory that wraps from `last` to 0 (so it resets itself); returns the number of
//! earlier arrivals of this round. Acquire and release at device scope: the last arriver sees what all earlier
//! arrivers wrote before they arrived.
ISOBIT_HD inline uint32_t arrive(uint32_t* counter, uint32_t last, [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  uint32_t old;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(counter)), "r"(last)
               : "memory");
  return old;
#elif !defined(__CUDACC_RTC__)
  return static_cast<uint32_t>(
      here().atomic(atomic_op::increment_wrap, counter, 4, last, 0, memory_order::acq_rel, where));
#else
  return 0;
#endif
}

} // namespace machine
} // namespace isobit::inline bits1
