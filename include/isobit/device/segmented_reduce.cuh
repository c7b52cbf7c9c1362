// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of segmented reductions: a stream and the caller's workspace; no allocation, no synchronisation, safe to
//! capture in a CUDA graph. Not yet run on a GPU.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/segmented_reduce_kernel.hpp>

namespace isobit::inline bits1::device {

//! Bytes of workspace for a segmented reduction of at most so many elements and segments with accumulator `Acc`. Its first
//! `segment_workspace<typename Acc::state>::zeroed_bytes(n, segments)` bytes are 0 before the first use; every call
//! leaves them 0.
template <accumulator Acc> constexpr uint64_t segmented_reduce_workspace_bytes(uint64_t n, uint64_t segments) {
  return segment_workspace<typename Acc::state>::bytes(n, segments);
}

namespace detail {
template <class Layout, class Load, class Store, class Acc>
void launch_segments(char const* name, cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n,
                     uint64_t segments, Layout const& layout, Load const& load, Store const& store, Acc const& acc,
                     index_report const* report) {
  using space = segment_workspace<typename Acc::state>;
  isobit::detail::check_workspace(name, workspace, workspace_bytes, space::bytes(n, segments),
                                  alignof(typename Acc::state) > 16 ? alignof(typename Acc::state) : 16);
  auto const memory = space::at(workspace, n, segments);
  auto const blocks = static_cast<unsigned>(memory.units); // at most 32768
  segmented_reduce_kernel<<<blocks, segment_block, 0, stream>>>(layout, load, store, memory, acc, report);
  check_launch(name);
}
} // namespace detail

//! For each segment s of `layout`: `store(s, r)`, r the result over its elements; the bits of
//! `isobit::segmented_reduce` on a host. One kernel in `stream`.
//! `n`, `segments`: how many elements and segments there are at most; for `counted_csr` bounds will do. Segments must not
//! exceed them: a layout that does is left alone, without a word (a report says so for offsets, see below).
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses the launch.
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood.
template <segment_layout Layout, class Load, class Store, accumulator Acc>
void segmented_reduce(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, uint64_t n, uint64_t segments,
                      Layout const& layout, Load const& load, Store const& store, Acc const& acc) {
  constexpr char const* name = "device::segmented_reduce";
  if (segments == 0) return;
  detail::launch_segments(name, stream, workspace, workspace_bytes, n, segments, layout,
                          isobit::detail::as_load<uint64_t>(load), store, acc, nullptr);
}

//! out[s] = the result over x[offsets[s]] .. x[offsets[s + 1] - 1]. `x`, `offsets` (`segments` + 1 entries) and `out` are
//! device memory. With a `report` (device memory) a small kernel first counts the offsets that fall or lie beyond n; if
//! there are any, nothing is written to `out`: look at the report when the stream has come so far, or give it to
//! `throw_if_any`. Without one, wrong offsets are undefined behaviour.
template <class T, stl::integral Offset, class Out, accumulator Acc = plain<element_value<T>>>
void segmented_reduce(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n,
                      Offset const* offsets, uint64_t segments, Out* out, Acc const& acc = {},
                      index_report* report = nullptr) {
  constexpr char const* name = "device::segmented_reduce";
  static_assert(isobit::detail::stores_results<Out, Acc>,
                "isobit: a segmented reduction writes the accumulator's result type, or a narrower float from float");
  if (segments == 0) return;
  isobit::detail::check_array(name, "offsets", offsets, segments);
  isobit::detail::check_segment_arrays(name, x, n, segments, out);
  isobit::detail::check_workspace(name, workspace, workspace_bytes, segmented_reduce_workspace_bytes<Acc>(n, segments),
                                  16);
  if (report != nullptr) {
    isobit::detail::check_array(name, "report", report, 1);
    check_offsets_kernel<<<1, segment_block, 0, stream>>>(offsets, segments, n, report);
    check_launch(name);
  }
  detail::launch_segments(name, stream, workspace, workspace_bytes, n, segments, csr<Offset>{offsets, segments},
                          contiguous<T>{x}, isobit::detail::results<Out>{out}, acc, report);
}

//! out[r] = the result over row r of a matrix of `rows` x `columns` elements: bits that do not depend on `rows`.
template <class T, class Out, accumulator Acc = plain<element_value<T>>>
void reduce_rows(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t rows,
                 uint64_t columns, Out* out, Acc const& acc = {}) {
  constexpr char const* name = "device::reduce_rows";
  static_assert(isobit::detail::stores_results<Out, Acc>,
                "isobit: a segmented reduction writes the accumulator's result type, or a narrower float from float");
  if (rows == 0) return;
  isobit::detail::check_segment_arrays(name, x, rows * columns, rows, out);
  detail::launch_segments(name, stream, workspace, workspace_bytes, rows * columns, rows, fixed_rows(rows, columns),
                          contiguous<T>{x}, isobit::detail::results<Out>{out}, acc, nullptr);
}

//! The offsets of the runs of equal neighbouring keys, n after the last, and their number in `*runs`: a `counted_csr`
//! layout for the launch that follows. Three kernels. `offsets` has room for n + 1 entries (or for one more than there
//! are runs); `workspace`: `runs_workspace_bytes(n)`, no initialisation.
template <class Key, stl::integral Offset>
void find_runs(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, Key const* keys, uint64_t n,
               Offset* offsets, uint64_t* runs) {
  constexpr char const* name = "device::find_runs";
  isobit::detail::check_array(name, "keys", keys, n);
  isobit::detail::check_array(name, "offsets", offsets, 1);
  isobit::detail::check_array(name, "runs", runs, 1);
  isobit::detail::check_workspace(name, workspace, workspace_bytes, runs_workspace_bytes(n), 8);
  auto* const counts = static_cast<uint64_t*>(workspace);
  uint64_t const chunks = (n + runs_chunk - 1) / runs_chunk;
  auto const blocks = static_cast<unsigned>(chunks < 65536 ? (chunks == 0 ? 1 : chunks) : 65536);
  count_runs_kernel<<<blocks, segment_block, 0, stream>>>(keys, n, counts);
  scan_runs_kernel<<<1, segment_block, 0, stream>>>(n, counts, offsets, runs);
  write_runs_kernel<<<blocks, segment_block, 0, stream>>>(keys, n, counts, offsets);
  check_launch(name);
}

} // namespace isobit::inline bits1::device
