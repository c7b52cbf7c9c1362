// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of segmented scans: a stream; no workspace, no allocation, no synchronisation, safe to capture in a CUDA
//! graph.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/algo/segmented_scan.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/segmented_scan_kernel.hpp>

namespace isobit::inline bits1::device {

//! For each segment s: out[i] = the result over x[offsets[s] .. i]; the bits of `isobit::segmented_inclusive_scan` on a
//! host. `x`, `offsets` (`segments` + 1 entries) and `out` are device memory; `out` may be `x`.
//!
//! One kernel in `stream`: a block of 256 threads for each segment if they have 2048 elements or more on average
//! (`n / segments`), a warp for each segment otherwise. A single segment is scanned by one block: whole arrays of many
//! millions are not fast here yet. The offsets lie in device memory and are not checked.
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

} // namespace isobit::inline bits1::device
