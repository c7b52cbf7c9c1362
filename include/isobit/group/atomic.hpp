// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Words in global memory by which the blocks of a launch tell each other what is there: loads that acquire, stores that
//! release, both at device scope. docs/adr/0009-acquire-release.md says why not cuda::atomic_ref.
#pragma once

#include <isobit/group/machine.hpp>

namespace isobit::inline bits1::machine {

//! The word; what its writer wrote before `store_release` is seen afterwards.
ISOBIT_HD inline uint32_t load_acquire(uint32_t const* word, [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
#elif !defined(__CUDACC_RTC__)
  return static_cast<uint32_t>(
      here().atomic(atomic_op::load, const_cast<uint32_t*>(word), 4, 0, 0, memory_order::acquire, where));
#else
  return 0;
#endif
}

//! Writes the word after everything that the calling thread wrote, or saw others write, before.
ISOBIT_HD inline void store_release(uint32_t* word, uint32_t value,
                                    [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(__cvta_generic_to_global(word)), "r"(value) : "memory");
#elif !defined(__CUDACC_RTC__)
  here().atomic(atomic_op::store, word, 4, value, 0, memory_order::release, where);
#endif
}

//! Sets bits of the word and returns the old word; acquires and releases.
ISOBIT_HD inline uint32_t set_bits(uint32_t* word, uint32_t bits,
                                   [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  uint32_t old;
  asm volatile("atom.acq_rel.gpu.global.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(__cvta_generic_to_global(word)), "r"(bits)
               : "memory");
  return old;
#elif !defined(__CUDACC_RTC__)
  return static_cast<uint32_t>(here().atomic(atomic_op::or_bits, word, 4, bits, 0, memory_order::acq_rel, where));
#else
  return 0;
#endif
}

} // namespace isobit::inline bits1::machine
