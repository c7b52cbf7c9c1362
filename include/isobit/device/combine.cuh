// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launcher of gather-combine: a stream, no workspace, no allocation, no synchronisation, safe to capture in a CUDA graph.
//! Not yet run on a GPU. The maps come from `device::group_ids` (scatter.cuh).
#pragma once

#include <isobit/device/combine_kernel.hpp>
#include <isobit/device/launch.cuh>

namespace isobit::inline bits1::device {

//! `isobit::gather_combine` in one kernel: the bits of the host's. `MaxK`: the most rows a token, 1 to 32.
//! Throws `invalid_argument` before anything is written (k above MaxK, null arrays), `launch_error` when CUDA refuses the
//! launch. The map lies in device memory and is not checked: an entry that is no row of x counts as absent.
template <int MaxK = 8, class Index, class Expert, class T, class Out, class Acc = plain<float>>
void gather_combine(cudaStream_t stream, combine_map<Index, Expert> const& map, T const* x, uint64_t columns, Out* out,
                    Acc const& acc = {}) {
  constexpr char const* name = "device::gather_combine";
  static_assert(isobit::detail::can_combine<Out, Acc>());
  isobit::detail::check_combine(name, map, MaxK);
  isobit::detail::check_array(name, "x", x, map.x_rows * columns);
  isobit::detail::check_array(name, "out", out, map.tokens * columns);
  if (map.tokens == 0 || columns == 0) return;
  uint64_t const groups = (map.tokens + combine_storage<MaxK>::tokens - 1) / combine_storage<MaxK>::tokens;
  auto const blocks = static_cast<unsigned>(groups < 65536 ? groups : 65536);
  gather_combine_kernel<MaxK><<<blocks, combine_block, 0, stream>>>(map, matrix_rows<T>{x, columns}, columns, out, acc);
  check_launch(name);
}

} // namespace isobit::inline bits1::device
