// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The inner loop of the scan on a CPU: the prefixes of a group of elements in vector registers, of 16 bytes on every
//! processor, of 32 where the processor has AVX2. The bits are the same.
#pragma once

#include <isobit/algo/scan_form.hpp>
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/arith/vector.hpp>
#include <isobit/format/small_float.hpp>
#include <isobit/order/counter.hpp>

#if !defined(__CUDACC_RTC__)
namespace isobit::inline bits1::detail {

template <class A> inline constexpr bool scans_errors = false;
template <class T> inline constexpr bool scans_errors<compensated<T>> = true;

// log2 of the elements of a unit of a scan's counter: the group of the narrower vectors.
template <class T> inline constexpr int vector_unit_level = sizeof(T) == 4 ? 5 : 4;

//! What a pass over groups carries: the nodes before the group, in units; whether stores go around the caches; and, of
//! an exclusive scan, the result before the group.
template <class A, class Form> struct vector_scan {
  A acc;
  Form form;
  bool around_caches = false;
  counter<typename A::state> pending{};
  typename A::result held{};
};

#define ISOBIT_SCAN scan_base
#define ISOBIT_SCAN_BYTES 16
#define ISOBIT_SCAN_TARGET
#include <isobit/algo/scan_vectors.inc>
#undef ISOBIT_SCAN
#undef ISOBIT_SCAN_BYTES
#undef ISOBIT_SCAN_TARGET

#if defined(__x86_64__)
#define ISOBIT_SCAN scan_avx2
#define ISOBIT_SCAN_BYTES 32
#define ISOBIT_SCAN_TARGET gnu::target("avx2")
#include <isobit/algo/scan_vectors.inc>
#undef ISOBIT_SCAN
#undef ISOBIT_SCAN_BYTES
#undef ISOBIT_SCAN_TARGET

inline bool can_scan_avx2() {
#if defined(__AVX2__)
  return true;
#else
  return __builtin_cpu_supports("avx2") != 0;
#endif
}
#endif

// From this many bytes of results on, an array is not kept in the caches while it is written.
inline constexpr uint64_t scan_bytes_around_caches = uint64_t(1) << 25;

// Writes the results of as many of the first n elements as make whole groups; returns how many.
template <class T, class A, class Form>
uint64_t scan_groups(T const* x, typename A::result* out, uint64_t n, vector_scan<A, Form>& scan) {
  uint64_t done;
#if defined(__x86_64__)
  if (can_scan_avx2())
    done = scan_avx2::scan(x, out, n, scan);
  else
#endif
    done = scan_base::scan(x, out, n, scan);
#if defined(__x86_64__)
  if (scan.around_caches) asm volatile("sfence" ::: "memory");
#endif
  return done;
}

} // namespace isobit::inline bits1::detail
#endif
