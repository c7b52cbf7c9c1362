// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The only macros of isobit, the standard headers that every layer may use, and the language check.
//! Nothing here looks at a compiler flag that changes arithmetic: the results do not depend on flags.
#pragma once

#if !defined(__CUDACC_RTC__) && defined(__cplusplus) && __cplusplus < 202002L
#error "isobit needs C++20: compile with -std=c++20 (nvcc: -std=c++20, CMake: target_compile_features(... cxx_std_20 cuda_std_20))"
#endif

// NVRTC brings no C++ standard library; libcu++ has the same names.
#if defined(__CUDACC_RTC__)
#include <cuda/std/concepts>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/type_traits>
namespace isobit {
namespace stl = cuda::std;
}
#else
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
namespace isobit {
namespace stl = std;
}
#endif

#if defined(__CUDACC__)
#define ISOBIT_HD __host__ __device__
#define ISOBIT_KERNEL __global__
#define ISOBIT_SHARED __shared__
#if defined(__CUDA_ARCH__)
#define ISOBIT_UNROLL _Pragma("unroll")
#else
#define ISOBIT_UNROLL // nvcc's host pass: nvcc warns of "GCC unroll", g++ of "unroll"
#endif
#define ISOBIT_CALLS_USER_CODE _Pragma("nv_exec_check_disable")
#define ISOBIT_KERNELS compiled
#else
//! A function that runs on the host and on the device.
#define ISOBIT_HD
//! A kernel. A host compiler sees a plain function, which `simt` runs.
#define ISOBIT_KERNEL
//! A variable shared by the threads of a block. `simt` gives each resident block an operating-system thread
//! of its own, so that thread-local storage is block-local storage.
#define ISOBIT_SHARED static thread_local
#define ISOBIT_UNROLL _Pragma("GCC unroll 32")
//! Before a function template that calls a user's callable: it may exist on the device only, or on the host only.
#define ISOBIT_CALLS_USER_CODE
//! The inline namespace of the library's kernels: one program may hold nvcc's and the simulator's form of a kernel.
#define ISOBIT_KERNELS simulated
#endif

//! Defined while code for a GPU is being generated.
#if defined(__CUDA_ARCH__)
#define ISOBIT_ON_DEVICE 1
#endif

// The inline namespace is the bits version (version.hpp): translation units that were built against different
// bit contracts cannot be merged by the linker.
namespace isobit::inline bits1 {
using stl::int32_t;
using stl::int64_t;
using stl::size_t;
using stl::uint16_t;
using stl::uint32_t;
using stl::uint64_t;
using stl::uint8_t;
} // namespace isobit::inline bits1
