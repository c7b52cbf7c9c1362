// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Digests of memory on a CPU: one thread, or the jobs of an executor.
#pragma once

#include <isobit/algo/digest.hpp>
#include <isobit/error.hpp>
#include <isobit/group/host.hpp>

#if !defined(__CUDACC_RTC__)

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
inline void add_atomically(digest128_sum* total, digest128_sum const& s) {
  add_atomically(&total->first, s.first);
  add_atomically(&total->second, s.second);
}

} // namespace detail

//! The sum over `bytes` bytes at `data`, which begin at byte `16 * first_unit` of the tensor; only the last range of a
//! tensor may have a length that is not a multiple of 16. Any alignment. Throws `invalid_argument` (null data).
//! Level: run-to-run, target, partition. Cost: one read; jobs of 1 MiB for an executor, no allocation.
template <digest_form Form = digest64, is_host Host>
typename Form::sum digest_range(Host const& h, void const* data, uint64_t bytes, uint64_t first_unit = 0) {
  static_assert(!Form::equates_values, "isobit: untyped bytes have no values: digest elements, or use digest64");
  using sum = typename Form::sum;
  detail::check_memory("digest_range", data, bytes);
  constexpr uint64_t job_bytes = uint64_t(1) << 20;
  if (stl::same_as<Host, host<>> || bytes <= job_bytes) return detail::share_of_sum<sum>(data, bytes, first_unit, 0, 1);
  auto const* const begin = static_cast<unsigned char const*>(data);
  sum total;
  h.run(digest_chunks(bytes, job_bytes), [&](uint64_t job) {
    uint64_t const first = job * job_bytes;
    uint64_t const length = bytes - first < job_bytes ? bytes - first : job_bytes;
    detail::add_atomically(&total,
                           detail::share_of_sum<sum>(begin + first, length, first_unit + first / 16, 0, 1));
  });
  return total;
}

//! The digest of `bytes` bytes of untyped memory.
template <digest_form Form = digest64, is_host Host>
typename Form::value digest(Host const& h, void const* data, uint64_t bytes) {
  detail::check_memory("digest", data, bytes);
  return finish_digest(digest_range<Form>(h, data, bytes), bytes);
}

namespace detail {
template <is_host Host, class Sum, class Use>
void for_each_chunk(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, Use const& use) {
  auto const* const begin = static_cast<unsigned char const*>(data);
  h.run(digest_chunks(bytes, chunk_bytes), [&](uint64_t c) {
    uint64_t const first = c * chunk_bytes;
    uint64_t const length = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
    use(c, length, share_of_sum<Sum>(begin + first, length, first / 16, 0, 1));
  });
}
template <is_host Host, class Sum>
Sum all_chunk_sums(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, Sum* out) {
  check_memory("chunk_sums", data, bytes);
  check_chunks("chunk_sums", bytes, chunk_bytes, out);
  for_each_chunk<Host, Sum>(h, data, bytes, chunk_bytes, [&](uint64_t c, uint64_t, Sum const& s) { out[c] = s; });
  Sum total;
  for (uint64_t c = 0; c < digest_chunks(bytes, chunk_bytes); ++c) total += out[c];
  return total;
}
template <is_host Host, class Sum, class Value>
Value all_chunk_digests(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, Value* out) {
  check_memory("chunk_digests", data, bytes);
  check_chunks("chunk_digests", bytes, chunk_bytes, out);
  Sum total;
  for_each_chunk<Host, Sum>(h, data, bytes, chunk_bytes, [&](uint64_t c, uint64_t length, Sum const& s) {
    out[c] = finish_digest(s, length);
    add_atomically(&total, s);
  });
  return finish_digest(total, bytes);
}
} // namespace detail

//! out[c] = the sum over chunk c of `chunk_bytes` (a multiple of 16) bytes; returns the sum over everything. `out` has
//! `digest_chunks(bytes, chunk_bytes)` entries, `digest_sum` or `digest128_sum`. Where two buffers differ, exactly the
//! chunks that hold a difference have different sums. Throws `invalid_argument` before anything is written.
template <is_host Host>
digest_sum chunk_sums(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, digest_sum* out) {
  return detail::all_chunk_sums(h, data, bytes, chunk_bytes, out);
}
template <is_host Host, stl::same_as<digest128_sum> Sum>
Sum chunk_sums(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, Sum* out) {
  return detail::all_chunk_sums(h, data, bytes, chunk_bytes, out);
}

//! After bytes of chunk `chunk` changed: sums[chunk], of an earlier `chunk_sums` with the same `chunk_bytes`, becomes
//! the new sum, and `total` what `chunk_sums` would return now. Throws `invalid_argument` before anything is written.
//! Cost: one read of the chunk.
template <is_host Host, any_digest_sum Sum>
void update_chunk(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, uint64_t chunk, Sum* sums,
                  Sum& total) {
  detail::check_memory("update_chunk", data, bytes);
  detail::check_chunks("update_chunk", bytes, chunk_bytes, sums);
  if (chunk >= digest_chunks(bytes, chunk_bytes))
    throw invalid_argument("update_chunk", "chunk", "below digest_chunks(bytes, chunk_bytes)");
  using form = stl::conditional_t<stl::same_as<Sum, digest_sum>, digest64, digest128>;
  uint64_t const first = chunk * chunk_bytes;
  uint64_t const length = bytes - first < chunk_bytes ? bytes - first : chunk_bytes;
  auto const now = digest_range<form>(h, static_cast<unsigned char const*>(data) + first, length, first / 16);
  total -= sums[chunk];
  total += now;
  sums[chunk] = now;
}

//! The same as `chunk_sums` in the digest's bits a chunk: out[c] = the digest of chunk c's bytes at their place in the
//! tensor (the keys go on from chunk to chunk, so that equal chunks at different places differ). `out` has entries of
//! `uint64_t` or `bits128`. Returns the digest of all `bytes`, which does not depend on `chunk_bytes`.
template <is_host Host>
uint64_t chunk_digests(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, uint64_t* out) {
  return detail::all_chunk_digests<Host, digest_sum>(h, data, bytes, chunk_bytes, out);
}
template <is_host Host, stl::same_as<bits128> Value>
Value chunk_digests(Host const& h, void const* data, uint64_t bytes, uint64_t chunk_bytes, Value* out) {
  return detail::all_chunk_digests<Host, digest128_sum>(h, data, bytes, chunk_bytes, out);
}

} // namespace isobit::inline bits1
#endif
