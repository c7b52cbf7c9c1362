// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! CUDA's own words for a host compiler, so that a kernel written with `__global__`, `__shared__`, `threadIdx`,
//! `__syncthreads()`, `__shfl_sync`, `atomicAdd`, ... compiles unchanged under g++ and clang++ and runs in
//! isobit::simt::launch. Under nvcc and NVRTC this header is empty.
//!
//! Missing on purpose: `__activemask()` (its value is chance), textures, cooperative groups, `cp.async`, named
//! barriers.
//! Differences from a GPU: `extern __shared__ T x[]` has no host form (use `T* x = isobit::simt::dynamic_shared<T>()`
//! or a fixed array); a `__shared__` array starts with what the block before left in it unless every thread calls
//! `isobit::simt::poison(x)`; atomics are relaxed, as on a GPU, and `atomicAdd` on floats adds in order of arrival.
#pragma once

#if !defined(__CUDACC__)

#include <isobit/arith/op.hpp>
#include <isobit/simt/launch.hpp>

#include <cmath>

#if !defined(__global__)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#endif
// Each resident block has an operating-system thread of its own.
#undef __shared__
#define __shared__ static thread_local

#if !defined(__VECTOR_TYPES_H__) // CUDA's own header
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned nx = 1, unsigned ny = 1, unsigned nz = 1) : x(nx), y(ny), z(nz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
  constexpr operator isobit::extent3() const { return {x, y, z}; }
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
constexpr float2 make_float2(float x, float y) { return {x, y}; }
constexpr float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
constexpr double2 make_double2(double x, double y) { return {x, y}; }
constexpr int2 make_int2(int x, int y) { return {x, y}; }
constexpr int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
constexpr uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
#endif

inline constexpr int warpSize = 32;

namespace isobit::inline bits1::simt::detail {

inline uint3 cuda_uint3(extent3 e) { return {e.x, e.y, e.z}; }
inline dim3 cuda_dim3(extent3 e) { return {e.x, e.y, e.z}; }

inline uint32_t checked_width(int width) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    throw invalid_argument("simt: __shfl_sync", "width", "a power of two from 1 to 32");
  return static_cast<uint32_t>(width);
}

// An unsigned integer of T's size; `unsigned long long` stays what it is.
template <class T> struct atomic_word_of { using type = std::make_unsigned_t<T>; };
template <> struct atomic_word_of<float> { using type = uint32_t; };
template <> struct atomic_word_of<double> { using type = uint64_t; };

//! `*p = f(*p)` as a relaxed atomic, or a release one after a fence.
template <class T, class F> T cuda_atomic(T* p, source_line where, F const& f) {
  using word = typename atomic_word_of<T>::type;
  worker& w = worker::here();
  word const old = w.update_atomically(reinterpret_cast<word*>(p), w.fenced_order(), where,
                                       [&](word x) { return bit_cast<word>(static_cast<T>(f(bit_cast<T>(x)))); });
  return bit_cast<T>(old);
}

template <class T>
concept cuda_integer = std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, long> ||
    std::same_as<T, unsigned long> || std::same_as<T, long long> || std::same_as<T, unsigned long long>;

template <class T>
concept cuda_number = cuda_integer<T> || ieee_float<T>;

//! Calls f(lane, that lane's value) for each lane of the mask, lowest first.
template <class T, class F> void for_each_lane(unsigned mask, T const& value, source_line where, F const& f) {
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    auto const lane = static_cast<unsigned>(__builtin_ctz(rest));
    f(lane, machine::shuffle(mask, value, lane, where));
  }
}

template <class T, class Op> T reduce_lanes(unsigned mask, T value, source_line where, Op const& op) {
  T total{};
  bool first = true;
  for_each_lane(mask, value, where, [&](unsigned, T const& x) {
    total = first ? x : op(total, x);
    first = false;
  });
  return total;
}

template <cuda_integer T> constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}
template <cuda_integer T> constexpr T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) - static_cast<std::make_unsigned_t<T>>(b));
}

} // namespace isobit::inline bits1::simt::detail

#define threadIdx (::isobit::simt::detail::cuda_uint3(::isobit::machine::thread_index()))
#define blockIdx (::isobit::simt::detail::cuda_uint3(::isobit::machine::block_index()))
#define blockDim (::isobit::simt::detail::cuda_dim3(::isobit::machine::block_extent()))
#define gridDim (::isobit::simt::detail::cuda_dim3(::isobit::machine::grid_extent()))

// The last parameter of each of these is the place of the call: leave it alone.

inline void __syncthreads(isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  isobit::machine::sync_block(at);
}
//! How many threads of the block have a vote other than 0; whether any has; whether all have.
inline int __syncthreads_count(int vote,
                               isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return static_cast<int>(isobit::simt::detail::worker::here().count_at_barrier(vote != 0, at));
}
inline int __syncthreads_or(int vote,
                            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::worker::here().count_at_barrier(vote != 0, at) != 0;
}
inline int __syncthreads_and(int vote,
                             isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::worker::here().count_at_barrier(vote == 0, at) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu,
                       isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  isobit::machine::sync_warp(mask, at);
}

//! The value of lane `from` of each segment of `width` lanes.
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32,
              isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  unsigned const w = isobit::simt::detail::checked_width(width), lane = isobit::machine::lane();
  return isobit::machine::shuffle(mask, value, (lane & ~(w - 1)) | (static_cast<unsigned>(from) & (w - 1)), at);
}
//! The value of the lane `delta` below; the caller's own where the segment has none.
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  unsigned const w = isobit::simt::detail::checked_width(width), lane = isobit::machine::lane();
  return isobit::machine::shuffle(mask, value, (lane & (w - 1)) >= delta ? lane - delta : lane, at);
}
//! The value of the lane `delta` above; the caller's own where the segment has none.
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  unsigned const w = isobit::simt::detail::checked_width(width), lane = isobit::machine::lane();
  return isobit::machine::shuffle(mask, value, delta < w - (lane & (w - 1)) ? lane + delta : lane, at);
}
//! The value of lane `lane ^ flip`; the caller's own where that is in a later segment.
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32,
                  isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  unsigned const w = isobit::simt::detail::checked_width(width), lane = isobit::machine::lane();
  unsigned const from = lane ^ static_cast<unsigned>(flip);
  return isobit::machine::shuffle(mask, value, from <= (lane | (w - 1)) ? from : lane, at);
}

inline unsigned __ballot_sync(unsigned mask, int vote,
                              isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::machine::ballot(mask, vote != 0, at);
}
inline int __any_sync(unsigned mask, int vote,
                      isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::machine::ballot(mask, vote != 0, at) != 0;
}
inline int __all_sync(unsigned mask, int vote,
                      isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::machine::ballot(mask, vote == 0, at) == 0;
}

//! The lanes of the mask whose value has the bits of the caller's.
template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  unsigned same = 0;
  isobit::simt::detail::for_each_lane(mask, value, at, [&](unsigned lane, T const& other) {
    same |= unsigned(__builtin_memcmp(&other, &value, sizeof(T)) == 0) << lane;
  });
  return same;
}
//! Integer reductions over the lanes of the mask.
template <isobit::simt::detail::cuda_integer T>
T __reduce_add_sync(unsigned mask, T value,
                    isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, isobit::simt::detail::wrapping_add<T>);
}
template <isobit::simt::detail::cuda_integer T>
T __reduce_min_sync(unsigned mask, T value,
                    isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, [](T a, T b) { return b < a ? b : a; });
}
template <isobit::simt::detail::cuda_integer T>
T __reduce_max_sync(unsigned mask, T value,
                    isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, [](T a, T b) { return a < b ? b : a; });
}
template <isobit::simt::detail::cuda_integer T>
T __reduce_and_sync(unsigned mask, T value,
                    isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, [](T a, T b) { return a & b; });
}
template <isobit::simt::detail::cuda_integer T>
T __reduce_or_sync(unsigned mask, T value,
                   isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, [](T a, T b) { return a | b; });
}
template <isobit::simt::detail::cuda_integer T>
T __reduce_xor_sync(unsigned mask, T value,
                    isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::reduce_lanes(mask, value, at, [](T a, T b) { return a ^ b; });
}

inline void __threadfence() { isobit::simt::detail::worker::here().fence(); }
inline void __threadfence_block() { isobit::simt::detail::worker::here().fence(); }
inline void __threadfence_system() { isobit::simt::detail::worker::here().fence(); }

//! Integers wrap; floats add in order of arrival.
template <isobit::simt::detail::cuda_number T>
T atomicAdd(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) {
    if constexpr (isobit::ieee_float<T>)
      return isobit::add(old, x);
    else
      return isobit::simt::detail::wrapping_add(old, x);
  });
}
template <isobit::simt::detail::cuda_integer T>
T atomicSub(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return isobit::simt::detail::wrapping_sub(old, x); });
}
template <isobit::simt::detail::cuda_number T>
T atomicExch(T* p, std::type_identity_t<T> x,
             isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T) { return x; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicMin(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old < x ? old : x; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicMax(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old > x ? old : x; });
}
//! old >= last ? 0 : old + 1
inline unsigned atomicInc(unsigned* p, unsigned last,
                          isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](unsigned old) { return old >= last ? 0u : old + 1; });
}
//! old == 0 or old > last ? last : old - 1
inline unsigned atomicDec(unsigned* p, unsigned last,
                          isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at,
                                           [=](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicAnd(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old & x; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicOr(T* p, std::type_identity_t<T> x,
           isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old | x; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicXor(T* p, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old ^ x; });
}
template <isobit::simt::detail::cuda_integer T>
T atomicCAS(T* p, std::type_identity_t<T> compared, std::type_identity_t<T> x,
            isobit::source_line at = isobit::source_line::here(__builtin_FILE(), __builtin_LINE())) {
  return isobit::simt::detail::cuda_atomic(p, at, [=](T old) { return old == compared ? x : old; });
}

// Small intrinsics that kernels of this kind use.
template <class T> T __ldg(T const* p) { return *p; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float_as_int(float x) { return isobit::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return isobit::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return isobit::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return isobit::bit_cast<float>(x); }
inline float __fadd_rn(float a, float b) { return isobit::add(a, b); }
inline float __fmul_rn(float a, float b) { return isobit::mul(a, b); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

#endif
