// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of digests: a stream and the caller's memory; no allocation, no synchronisation, safe to capture in a CUDA
//! graph. Sums stay on the device; `finish_digest`, on the host or in a kernel, turns them into digests.
#pragma once

#include <isobit/algo/digest_host.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/torch_hash_kernel.hpp>

namespace isobit::inline bits1::device {

namespace detail {
inline unsigned digest_blocks(uint64_t work, uint64_t per_block) {
  constexpr uint64_t most_blocks = 8192;
  uint64_t const wanted = work / per_block + 1;
  return static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
}
} // namespace detail

//! `*sum` (device memory; `digest_sum`, or `digest128_sum` for digests of 128 bits) = the sum over `bytes` bytes at
//! `data` (device memory, any alignment, 16 bytes is fastest), which begin at byte `16 * first_unit` of the tensor. One
//! memset and one kernel in `stream`; two atomics a block, four for 128 bits.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses.
//! Guarantee: run-to-run, geometry, target, partition.
template <any_digest_sum Sum>
void digest_range(cudaStream_t stream, void const* data, uint64_t bytes, Sum* sum, uint64_t first_unit = 0) {
  isobit::detail::check_memory("device::digest_range", data, bytes);
  if (sum == nullptr) throw invalid_argument("device::digest_range", "sum", "non-null");
  isobit::detail::check_array("device::digest_range", "sum", sum, 1);
  cudaMemsetAsync(sum, 0, sizeof *sum, stream);
  unsigned const blocks = detail::digest_blocks(bytes, 64 * 1024);
  digest_range_kernel<digest_block, Sum><<<blocks, digest_block, 0, stream>>>(data, bytes, first_unit, sum);
  check_launch("device::digest_range");
}

//! out[c] (device memory, `digest_chunks(bytes, chunk_bytes)` entries) = the sum over chunk c of `chunk_bytes` bytes, a
//! multiple of 16. One kernel in `stream`, a block a chunk: chunks of 64 KiB and more are fastest.
//! The same errors and guarantee as `digest_range`.
template <any_digest_sum Sum>
void chunk_sums(cudaStream_t stream, void const* data, uint64_t bytes, uint64_t chunk_bytes, Sum* out) {
  isobit::detail::check_memory("device::chunk_sums", data, bytes);
  isobit::detail::check_chunks("device::chunk_sums", bytes, chunk_bytes, out);
  isobit::detail::check_array("device::chunk_sums", "out", out, digest_chunks(bytes, chunk_bytes));
  if (bytes == 0) return;
  uint64_t const chunks = digest_chunks(bytes, chunk_bytes);
  auto const blocks = static_cast<unsigned>(chunks < 0x7fffffffu ? chunks : 0x7fffffffu);
  chunk_sums_kernel<digest_block, Sum><<<blocks, digest_block, 0, stream>>>(data, bytes, chunk_bytes, out);
  check_launch("device::chunk_sums");
}

//! `*sum` = the sum over the elements `load(0) .. load(count - 1)` as they are stored: `stored(pointer)`, a
//! `tensor_view`, `indexed(...)` or any callable for devices. `Form`: `digest64`, `digest128` or `by_value` of these.
//! `finish_digest` with the type and the shape gives the digest. The same errors and guarantee as `digest_range`.
template <digest_form Form = digest64, class Load>
void digest_elements(cudaStream_t stream, Load const& load, uint64_t count, typename Form::sum* sum,
                     uint64_t first_unit = 0) {
  if (sum == nullptr) throw invalid_argument("device::digest_elements", "sum", "non-null");
  isobit::detail::check_array("device::digest_elements", "sum", sum, 1);
  cudaMemsetAsync(sum, 0, sizeof *sum, stream);
  unsigned const blocks = detail::digest_blocks(count, 8 * 1024);
  digest_elements_kernel<Form, Load><<<blocks, digest_block, 0, stream>>>(load, count, first_unit, sum);
  check_launch("device::digest_elements");
}

//! torch.hash_tensor over the middle of a tensor [outer, reduced, inner] without gaps, whose elements are
//! `load(0) .. load(outer * reduced * inner - 1)`: `out` (device memory) has outer * inner entries. The whole tensor is
//! [1, n, 1], one dimension is [product of those before, its extent, product of those after].
//! One memset and one kernel in `stream`. The same errors as `digest_range`. Guarantee: as `torch_hash`.
template <class Load>
void torch_hash(cudaStream_t stream, Load const& load, uint64_t outer, uint64_t reduced, uint64_t inner,
                uint64_t* out) {
  uint64_t outputs;
  if (__builtin_mul_overflow(outer, inner, &outputs) || outputs >= uint64_t(1) << 61)
    throw invalid_argument("device::torch_hash", "outer * inner", "below 2^61");
  if (outputs == 0) return;
  if (out == nullptr) throw invalid_argument("device::torch_hash", "out", "non-null when it has entries");
  isobit::detail::check_array("device::torch_hash", "out", out, outputs);
  cudaMemsetAsync(out, 0, outputs * sizeof *out, stream);
  // Rows longer than 64 Ki elements are shared by blocks.
  uint64_t const parts = inner == 1 && reduced > 65536 ? (reduced / 65536 < 4096 ? reduced / 65536 : 4096) : 1;
  uint64_t const wanted = inner == 1 ? outer * parts : outputs / 256 + 1;
  auto const blocks = static_cast<unsigned>(wanted < 8192 ? wanted : 8192);
  torch_hash_kernel<Load><<<blocks, 256, 0, stream>>>(load, outer, reduced, inner, parts, out);
  check_launch("device::torch_hash");
}

} // namespace isobit::inline bits1::device
