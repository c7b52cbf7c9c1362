// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Digests of memory on a CPU: one thread, or the jobs of an executor.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/error.hpp>
#include <isobit/group/host.hpp>

#if !defined(__CUDACC_RTC__)
#include <initializer_list>

namespace isobit::inline bits1 {

namespace detail {

inline void check_memory(char const* function, void const* data, uint64_t bytes) {
  if (data == nullptr && bytes > 0) throw invalid_argument(function, "data", "non-null when bytes > 0");
}
inline void check_chunks(char const* function, uint64_t bytes, uint64_t chunk_bytes, void const* out) {
  if (chunk_bytes == 0 || chunk_bytes % 16 != 0)
    throw invalid_argument(function, "chunk_bytes", "a multiple of 16, at least 16");
  if (out == nullptr && bytes > 0) throw invalid_argument(function, "out", "non-null when bytes > 0");
}

// Adds to a sum that other threads add to. The carry follows the low word: the total is exact when all are done.
inline void add_atomically(digest_sum* total, digest_sum s) {
  uint64_t const old = __atomic_fetch_add(&total->low, s.low, __ATOMIC_RELAXED);
  __atomic_fetch_add(&total->high, s.high + (old + s.low < old ? 1 : 0), __ATOMIC_RELAXED);
}

} // namespace detail

//! The sum over `bytes` bytes at `data`, which begin at byte `16 * first_unit` of the tensor; only the last range of a
//! tensor may have a length that is not a multiple of 16. Any alignment. Throws `invalid_argument` (null data).
//! Level: run-to-run, target, partition. Cost: one read; jobs of 1 MiB for an executor, no allocation.
template <is_host Host>
digest_sum digest_range(Host const& h, void const* data, uint64_t bytes, uint64_t first_unit = 0) {
  detail::check_memory("digest_range", data, bytes);
  constexpr uint64_t job_bytes = uint64_t(1) << 20;
  if (stl::same_as<Host, host<>> || bytes <= job_bytes) return detail::share_of_sum(data, bytes, first_unit, 0, 1);
  auto const* const begin = static_cast<unsigned char const*>(data);
  digest_sum total;
  h.run(digest_chunks(bytes, job_bytes), [&](uint64_t job) {
    uint64_t const first = job * job_bytes;
    uint64_t const length = bytes - first < job_bytes ? bytes - first : job_bytes;
    detail::add_atomically(&total, detail::share_of_sum(begin + first, length, first_unit + first / 16, 0, 1));
  });
  return total;
}

//! The digest of `bytes` bytes of untyped memory.
template <is_host Host> uint64_t digest(Host const& h, void const* data, uint64_t bytes) {
  detail::check_memory("digest", data, bytes);
  return finish_digest(digest_range(h, data, bytes), bytes);
}

//! The digest of a tensor of `T` with the extents `shape`, stored without gaps, outermost extent first:
//! `digest(host(), weights, {rows, columns})`. Equal bytes under another type or shape have another digest.
//! Bits count: +0 and -0 differ, and so do NaNs with different payloads.
template <is_host Host, class T> uint64_t digest(Host const& h, T const* x, std::initializer_list<uint64_t> shape) {
  uint64_t count = 1;
  for (uint64_t e : shape)
    if (__builtin_mul_overflow(count, e, &count))
      throw invalid_argument("digest", "shape", "of fewer than 2^64 elements");
  uint64_t bytes;
  if (__builtin_mul_overflow(count, sizeof(T), &bytes))
    throw invalid_argument("digest", "shape", "of fewer than 2^64 bytes");
  detail::check_memory("digest", x, bytes);
  return finish_digest(digest_range(h, x, bytes), {dtype_of<T>, shape.begin(), static_cast<uint32_t>(shape.size())});
}

//! out[c] = the sum over chunk c of `chunk_bytes` (a multiple of 16) bytes; returns the sum over everything. `out` has
//! `digest_chunks(bytes, chunk_bytes)` entries. Where two buffers differ, exactly the chunks that hold a difference
//! have different sums. Throws `invalid_argument` before anything is written.
template <is_host Host>
digest_sum chunk_sums(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, digest_sum* out) {
  detail::check_memory("chunk_sums", data, bytes);
  detail::check_chunks("chunk_sums", bytes, chunk_bytes, out);
  auto const* const begin = static_cast<unsigned char const*>(data);
  uint64_t const chunks = digest_chunks(bytes, chunk_bytes);
  h.run(chunks, [&](uint64_t c) {
    uint64_t const first = c * chunk_bytes;
    uint64_t const length = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
    out[c] = detail::share_of_sum(begin + first, length, first / 16, 0, 1);
  });
  digest_sum total;
  for (uint64_t c = 0; c < chunks; ++c) total += out[c];
  return total;
}

//! The same in 64 bits a chunk: out[c] = the digest of chunk c's bytes at their place in the tensor (the keys go on
//! from chunk to chunk, so that equal chunks at different places differ). Returns the digest of all `bytes`, which does
//! not depend on `chunk_bytes`.
template <is_host Host>
uint64_t chunk_digests(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, uint64_t* out) {
  detail::check_memory("chunk_digests", data, bytes);
  detail::check_chunks("chunk_digests", bytes, chunk_bytes, out);
  auto const* const begin = static_cast<unsigned char const*>(data);
  digest_sum total;
  h.run(digest_chunks(bytes, chunk_bytes), [&](uint64_t c) {
    uint64_t const first = c * chunk_bytes;
    uint64_t const length = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
    digest_sum const s = detail::share_of_sum(begin + first, length, first / 16, 0, 1);
    out[c] = finish_digest(s, length);
    detail::add_atomically(&total, s);
  });
  return finish_digest(total, bytes);
}

} // namespace isobit::inline bits1
#endif
