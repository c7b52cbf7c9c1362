// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of digests: a stream and the caller's memory; no allocation, no synchronisation, safe to capture in a CUDA
//! graph. Sums stay on the device; `finish_digest`, on the host or in a kernel, turns them into digests.
#pragma once

#include <isobit/algo/digest_host.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/launch.cuh>

namespace isobit::inline bits1::device {

//! `*sum` (device memory) = the sum over `bytes` bytes at `data` (device memory, any alignment, 16 bytes is fastest),
//! which begin at byte `16 * first_unit` of the tensor. One memset and one kernel in `stream`.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses.
//! Guarantee: run-to-run, geometry, target, partition.
inline void digest_range(cudaStream_t stream, void const* data, uint64_t bytes, digest_sum* sum,
                         uint64_t first_unit = 0) {
  isobit::detail::check_memory("device::digest_range", data, bytes);
  if (sum == nullptr) throw invalid_argument("device::digest_range", "sum", "non-null");
  isobit::detail::check_array("device::digest_range", "sum", sum, 1);
  cudaMemsetAsync(sum, 0, sizeof *sum, stream);
  constexpr uint64_t per_block = 64 * 1024, most_blocks = 8192;
  uint64_t const wanted = bytes / per_block + 1;
  auto const blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  digest_range_kernel<><<<blocks, digest_block, 0, stream>>>(data, bytes, first_unit, sum);
  check_launch("device::digest_range");
}

//! out[c] (device memory, `digest_chunks(bytes, chunk_bytes)` entries) = the sum over chunk c of `chunk_bytes` bytes, a
//! multiple of 16. One kernel in `stream`, a block a chunk: chunks of 64 KiB and more are fastest.
//! The same errors and guarantee as `digest_range`.
inline void chunk_sums(cudaStream_t stream, void const* data, uint64_t bytes, uint64_t chunk_bytes, digest_sum* out) {
  isobit::detail::check_memory("device::chunk_sums", data, bytes);
  isobit::detail::check_chunks("device::chunk_sums", bytes, chunk_bytes, out);
  isobit::detail::check_array("device::chunk_sums", "out", out, digest_chunks(bytes, chunk_bytes));
  if (bytes == 0) return;
  uint64_t const chunks = digest_chunks(bytes, chunk_bytes);
  auto const blocks = static_cast<unsigned>(chunks < 0x7fffffffu ? chunks : 0x7fffffffu);
  chunk_sums_kernel<><<<blocks, digest_block, 0, stream>>>(data, bytes, chunk_bytes, out);
  check_launch("device::chunk_sums");
}

} // namespace isobit::inline bits1::device
