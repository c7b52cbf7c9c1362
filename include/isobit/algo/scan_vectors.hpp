// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The inner loop of the scan on a CPU: the prefixes of a group of elements in vector registers, of 16 bytes on every
//! processor, of 32 where the processor has AVX2. The bits are the same.
#pragma once

#include <isobit/algo/host_sums.hpp>
#include <isobit/order/counter.hpp>

#if !defined(__CUDACC_RTC__)
namespace isobit::inline bits1::detail {

#define ISOBIT_ISA isa_base
#define ISOBIT_ISA_SCAN scan_base
#define ISOBIT_ISA_TARGET
#include <isobit/algo/scan_vectors.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_SCAN
#undef ISOBIT_ISA_TARGET

#if defined(__x86_64__)
#define ISOBIT_ISA isa_avx2
#define ISOBIT_ISA_SCAN scan_avx2
#define ISOBIT_ISA_TARGET gnu::target("avx2")
#include <isobit/algo/scan_vectors.inc>
#undef ISOBIT_ISA
#undef ISOBIT_ISA_SCAN
#undef ISOBIT_ISA_TARGET
#endif

// out[0 .. groups << Level) = the prefixes that end in x[0 .. groups << Level), after what `pending` (in groups) holds.
template <int Level, class T, class A>
void scan_groups(T const* x, typename A::result* out, uint64_t groups, A const& acc,
                 counter<typename A::state>& pending) {
#if defined(__x86_64__)
  if (has_avx2()) return scan_avx2::groups<Level>(x, out, groups, acc, pending);
#endif
  scan_base::groups<Level>(x, out, groups, acc, pending);
}

} // namespace isobit::inline bits1::detail
#endif
