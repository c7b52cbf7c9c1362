// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of segmented scans: a stream and the caller's workspace; no allocation, no synchronisation, safe to capture
//! in a CUDA graph.
#pragma once

#include <isobit/algo/segmented_scan_host.hpp>
#include <isobit/device/segmented_scan_kernel.hpp>
#include <isobit/device/whole_scan.cuh>

namespace isobit::inline bits1::device {

//! For each segment s: out[i] = the result over x[offsets[s] .. i]; the bits of `isobit::segmented_inclusive_scan` on a
//! host. `x`, `offsets` (`segments` + 1 entries) and `out` are device memory; `out` may be `x`.
//!
//! One kernel in `stream`: a block of 256 threads for each segment if they have 2048 elements or more on average
//! (`n / segments`), a warp for each segment otherwise. Without a workspace a segment is scanned by one block, however
//! long; the form with a workspace shares long ones out. The offsets lie in device memory and are not checked.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses the launch.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <class T, stl::integral Offset, class Out, class Op = isobit::detail::plain_sum>
void segmented_inclusive_scan(cudaStream_t stream, T const* x, uint64_t n, Offset const* offsets, uint64_t segments,
                              Out* out, Op const& op = {}) {
  constexpr char const* name = "device::segmented_inclusive_scan";
  if (segments == 0) return;
  isobit::detail::check_array(name, "offsets", offsets, segments);
  isobit::detail::check_scan_arrays(name, x, n, out);
  auto const acc = isobit::detail::as_accumulator<element_value<T>>(op);
  contiguous<T> const load{x};
  isobit::detail::results<Out> const store{out};
  constexpr uint64_t most = 0x7fffffff, tiles = scan_block / 32;
  auto const blocks = [](uint64_t wanted) { return static_cast<unsigned>(wanted < most ? wanted : most); };
  if (n / segments >= 2048)
    segmented_scan_by_block_kernel<scan_block>
        <<<blocks(segments), scan_block, 0, stream>>>(load, offsets, segments, store, acc);
  else
    segmented_scan_by_tile_kernel<32>
        <<<blocks((segments + tiles - 1) / tiles), scan_block, 0, stream>>>(load, offsets, segments, store, acc);
  check_launch(name);
}

namespace detail {

// Segments that one tile scans; longer ones are cut into chunks.
template <class Load, class State> constexpr uint64_t longest_of_tile() {
  return isobit::detail::chunk_shape<Load, State>(scan_block).chunk / 2;
}

// Where the parts of a workspace lie: counts of chunks by segment, their scan's workspace, the chunks' workspace.
template <class State> struct segmented_workspace {
  uint64_t counts_scan, chunks, bytes;
  uint64_t room; // elements that the chunks' workspace is for
  constexpr segmented_workspace(uint64_t n, uint64_t segments)
      : counts_scan(aligned(segments * 8)), chunks(counts_scan + aligned(scan_workspace_bytes<plain<uint64_t>>(segments))),
        bytes(chunks + aligned(scan_workspace<State>::bytes(2 * n, scan_block))), room(2 * n) {}
  static constexpr uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }
};

template <class Form, class Layout, class Load, class Store, class Acc>
void launch_segments(char const* name, cudaStream_t stream, unsigned char* memory, uint64_t n, uint64_t most_segments,
                     Form const& form, Layout const& layout, Load const& load, Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  constexpr uint64_t most = 0x7fffffff, tiles = scan_block / 32;
  uint64_t const longest = longest_of_tile<Load, state>(), wanted = (most_segments + tiles - 1) / tiles;
  auto const blocks = [](uint64_t wanted) { return static_cast<unsigned>(wanted < most ? wanted : most); };
  short_segments_kernel<32><<<blocks(wanted), scan_block, 0, stream>>>(form, layout, longest, load, store, acc);
  check_launch(name);
  if (n <= longest) return; // there are no others
  segmented_workspace<state> const part(n, most_segments);
  uint64_t const chunk = isobit::detail::chunk_shape<Load, state>(scan_block).chunk;
  auto* const counts = reinterpret_cast<uint64_t*>(memory);
  launch_scan(name, stream, memory + part.counts_scan, most_segments, isobit::detail::scan_form<false>{},
              isobit::detail::chunks_of_segment<Layout>{layout, chunk, longest}, isobit::detail::results<uint64_t>{counts},
              plain<uint64_t>{});
  void* const chunks = memory + part.chunks;
  cudaError_t const e = cudaMemsetAsync(chunks, 0, scan_workspace<state>::zero_bytes(part.room, scan_block), stream);
  if (e != cudaSuccess) throw launch_error(name, static_cast<int>(e), cudaGetErrorString(e));
  long_segments_kernel<scan_block><<<blocks(part.room / chunk + 1), scan_block, 0, stream>>>(
      form, layout, static_cast<uint64_t const*>(counts), most_segments, load, store, chunks, part.room, acc);
  check_launch(name);
}

} // namespace detail

//! Bytes of workspace (256-byte aligned) of a segmented scan of `n` elements in `segments` segments with accumulator
//! `Acc`. Its contents do not matter before and mean nothing after.
template <accumulator Acc> constexpr uint64_t segmented_scan_workspace_bytes(uint64_t n, uint64_t segments) {
  return detail::segmented_workspace<typename Acc::state>(n, segments).bytes;
}
//! The same for a scan by heads.
template <accumulator Acc> constexpr uint64_t heads_scan_workspace_bytes(uint64_t n) {
  return detail::segmented_workspace<typename Acc::state>::aligned(8 * (n + 2)) +
         segmented_scan_workspace_bytes<Acc>(n, n);
}

namespace detail {

template <bool Exclusive, class T, class Offset, class Out, class Op, class Initial>
void scan_by_offsets(char const* name, cudaStream_t stream, void* workspace, uint64_t bytes, T const* x, uint64_t n,
                     Offset const* offsets, uint64_t segments, Out* out, Op const& op, Initial const& initial) {
  isobit::detail::check_scan_types<T, Out, Op>();
  if (segments == 0) return;
  isobit::detail::check_array(name, "offsets", offsets, segments);
  isobit::detail::check_scan_arrays(name, x, n, out);
  contiguous<T> const load{x};
  auto const acc = accumulator_of(load, op);
  using accumulator_type = isobit::stl::remove_const_t<decltype(acc)>;
  isobit::detail::check_workspace(name, workspace, bytes, segmented_scan_workspace_bytes<accumulator_type>(n, segments),
                                  256);
  launch_segments(name, stream, static_cast<unsigned char*>(workspace), n, segments,
                  isobit::detail::make_form<Exclusive>(acc, initial), csr<Offset>{offsets, segments}, load,
                  isobit::detail::results<Out>{out}, acc);
}

template <bool Exclusive, class T, class Heads, class Out, class Op, class Initial>
void scan_by_heads(char const* name, cudaStream_t stream, void* workspace, uint64_t bytes, T const* x, uint64_t n,
                   Heads const& heads, Out* out, Op const& op, Initial const& initial) {
  isobit::detail::check_scan_types<T, Out, Op>();
  if (n == 0) return;
  isobit::detail::check_scan_arrays(name, x, n, out);
  isobit::detail::check_heads(name, "heads", heads.data, n, out);
  contiguous<T> const load{x};
  auto const acc = accumulator_of(load, op);
  using accumulator_type = isobit::stl::remove_const_t<decltype(acc)>;
  isobit::detail::check_workspace(name, workspace, bytes, heads_scan_workspace_bytes<accumulator_type>(n), 256);
  auto* const offsets = static_cast<uint64_t*>(workspace);
  auto* const count = offsets + n + 1;
  auto* const rest = static_cast<unsigned char*>(workspace) +
                     segmented_workspace<typename accumulator_type::state>::aligned(8 * (n + 2));
  launch_scan(name, stream, rest, n, isobit::detail::scan_form<false>{}, isobit::detail::count_heads<Heads>{heads},
              isobit::detail::store_heads<Heads>{heads, n, offsets, count}, plain<uint64_t>{});
  launch_segments(name, stream, rest, n, n, isobit::detail::make_form<Exclusive>(acc, initial),
                  counted_csr<uint64_t>{offsets, count}, load, isobit::detail::results<Out>{out}, acc);
}

} // namespace detail

//! For each segment s: out[i] = the result over x[offsets[s] .. i] (exclusive: up to the element before i); the bits of
//! `isobit::segmented_inclusive_scan` on a host. Segments of any lengths, mixed as they may be: a warp for each of at most
//! half a chunk (2048 floats), the chunks of all others in one pass, as in `inclusive_scan`. `x`, `offsets` (`segments` + 1
//! entries, not checked) and `out` are device memory; `out` may be `x`.
//! Up to 6 kernels and 2 memsets in `stream`, a function of n, `segments` and the types.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses a launch.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. Not yet run on a GPU.
template <class T, stl::integral Offset, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void segmented_inclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
                              Offset const* offsets, uint64_t segments, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_by_offsets<false>("device::segmented_inclusive_scan", stream, workspace, workspace_bytes, x, n, offsets,
                                 segments, out, op, initial);
}
template <class T, stl::integral Offset, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void segmented_exclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
                              Offset const* offsets, uint64_t segments, Out* out, Op const& op = {},
                              Initial const& initial = {}) {
  detail::scan_by_offsets<true>("device::segmented_exclusive_scan", stream, workspace, workspace_bytes, x, n, offsets,
                                segments, out, op, initial);
}

//! The same for all n elements, where `heads` (`head_flags(flags)` or `key_changes(keys)`, device memory) says which
//! begin a segment. The offsets are made first, by a scan of the heads: about twice the traffic of CSR.
//! `heads_scan_workspace_bytes<Acc>(n)` bytes, 256-byte aligned. `out` must not overlap the flags or keys (refused).
template <class T, segment_heads Heads, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void segmented_inclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
                              Heads const& heads, Out* out, Op const& op = {}, Initial const& initial = {}) {
  detail::scan_by_heads<false>("device::segmented_inclusive_scan", stream, workspace, workspace_bytes, x, n, heads, out,
                               op, initial);
}
template <class T, segment_heads Heads, class Out, class Op = detail::plain_sum, class Initial = detail::no_initial>
void segmented_exclusive_scan(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
                              Heads const& heads, Out* out, Op const& op = {}, Initial const& initial = {}) {
  detail::scan_by_heads<true>("device::segmented_exclusive_scan", stream, workspace, workspace_bytes, x, n, heads, out,
                              op, initial);
}

} // namespace isobit::inline bits1::device
