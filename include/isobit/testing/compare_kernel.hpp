// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernel behind `bits_equal` for device memory. The same source runs on a GPU and, through
//! `isobit::simt`, on a CPU.
#pragma once

#include <isobit/group/machine.hpp>

namespace isobit::inline bits1::testing {

//! What travels from the device: how many elements differ, and the complement of the first one's index. All zeros
//! before the launch.
struct device_difference {
  uint64_t different = 0;
  uint64_t complement_of_first = 0;
  ISOBIT_HD constexpr uint64_t first() const { return ~complement_of_first; }
};

namespace detail {

// The largest unsigned word that divides an element and its alignment.
template <size_t Unit>
using word_of = stl::conditional_t<
    Unit % 8 == 0, uint64_t,
    stl::conditional_t<Unit % 4 == 0, uint32_t, stl::conditional_t<Unit % 2 == 0, uint16_t, uint8_t>>>;

ISOBIT_HD inline void count_difference(device_difference* out, uint64_t different, uint64_t complement,
                                       [[maybe_unused]] source_line where = source_line::here()) {
#if defined(ISOBIT_ON_DEVICE)
  static_cast<void>(atomicAdd(reinterpret_cast<unsigned long long*>(&out->different), different));
  static_cast<void>(atomicMax(reinterpret_cast<unsigned long long*>(&out->complement_of_first), complement));
#elif !defined(__CUDACC_RTC__)
  auto& m = machine::here();
  m.atomic(atomic_op::add, &out->different, 8, different, 0, memory_order::relaxed, where);
  m.atomic(atomic_op::max_unsigned, &out->complement_of_first, 8, complement, 0, memory_order::relaxed, where);
#endif
}

} // namespace detail

//! Counts the elements of `a` and `b` that differ in any bit. Any grid, any block.
template <class T> ISOBIT_KERNEL void compare_bits_kernel(T const* a, T const* b, uint64_t n, device_difference* out) {
  using word = detail::word_of<sizeof(T) | alignof(T)>;
  constexpr uint64_t words = sizeof(T) / sizeof(word);
  auto const* const wa = reinterpret_cast<word const*>(a);
  auto const* const wb = reinterpret_cast<word const*>(b);
  uint64_t different = 0, first = ~uint64_t(0);
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t i = machine::block_rank() * machine::block_threads() + machine::thread_rank(); i < n; i += step) {
    bool same = true;
    for (uint64_t w = 0; w < words; ++w) same = same && wa[i * words + w] == wb[i * words + w];
    if (same) continue;
    if (different++ == 0) first = i;
  }
  if (different > 0) detail::count_difference(out, different, ~first);
}

} // namespace isobit::inline bits1::testing
