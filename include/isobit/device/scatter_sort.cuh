// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Grouping by CUB's stable radix sort, for many ids: `by_radix_sort` as the method of the launchers of scatter.cuh. CUB's
//! temporary storage is part of the caller's workspace. Not yet run on a GPU.
#pragma once

#include <isobit/device/scatter.cuh>

#include <cub/device/device_radix_sort.cuh>

namespace isobit::inline bits1::device {

namespace detail {
// After the sort: the inverse map and the slots, where they are wanted.
template <class Index>
__global__ void inverse_map_kernel(uint64_t const* keys, uint64_t n, uint64_t groups, grouping<Index> out) {
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t at = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; at < n; at += step) {
    auto const i = static_cast<uint64_t>(out.order[at]);
    bool const valid = keys[at] < groups;
    if (out.position != nullptr) out.position[i] = valid ? static_cast<Index>(at) : static_cast<Index>(-1);
    if (out.slot != nullptr)
      out.slot[i] = valid ? static_cast<Index>(at - out.offsets[keys[at]]) : static_cast<Index>(-1);
  }
}
} // namespace detail

//! Equal keys keep their order (a least-significant-digit sort), so the grouping is the same as that of `by_counting`;
//! `order` is needed, and behind the last group holds the dropped elements. 32 bytes of workspace an element, and CUB's
//! own.
struct by_radix_sort {
  static constexpr bool needs_order = true;
  uint64_t *keys = nullptr, *sorted = nullptr;
  void* numbers = nullptr;
  void* temporary = nullptr;
  size_t temporary_bytes = 0;

  static int bits_of(uint64_t groups) { return bit_width(groups); } // the largest key is `groups`
  template <class Index> static size_t cub_bytes(uint64_t n, uint64_t groups) {
    size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, static_cast<uint64_t const*>(nullptr),
                                    static_cast<uint64_t*>(nullptr), static_cast<Index const*>(nullptr),
                                    static_cast<Index*>(nullptr), n, 0, bits_of(groups));
    return bytes;
  }
  template <class Id, class Index> void take(isobit::detail::workspace_parts& parts, uint64_t n, uint64_t groups) {
    keys = parts.take<uint64_t>(n);
    sorted = parts.take<uint64_t>(n);
    numbers = parts.take<Index>(n);
    temporary_bytes = cub_bytes<Index>(n, groups);
    temporary = parts.take(temporary_bytes);
  }
  template <class Id, class Index>
  void launch(cudaStream_t stream, Id const* ids, uint64_t n, uint64_t groups, grouping<Index> const& out) const {
    auto* const unsorted = static_cast<Index*>(numbers);
    unsigned const blocks = detail::blocks_for(n);
    sort_keys_kernel<<<blocks, scatter_block, 0, stream>>>(ids, n, groups, keys, unsorted);
    size_t bytes = temporary_bytes;
    cudaError_t const e =
        cub::DeviceRadixSort::SortPairs(temporary, bytes, static_cast<uint64_t const*>(keys), sorted,
                                        static_cast<Index const*>(unsorted), out.order, n, 0, bits_of(groups), stream);
    if (e != cudaSuccess) throw launch_error("device::by_radix_sort", static_cast<int>(e), cudaGetErrorString(e));
    sorted_offsets_kernel<scatter_block>
        <<<detail::blocks_for(groups + 1), scatter_block, 0, stream>>>(sorted, n, groups, out.offsets);
    if (out.position != nullptr || out.slot != nullptr)
      detail::inverse_map_kernel<<<blocks, scatter_block, 0, stream>>>(sorted, n, groups, out);
  }
};

} // namespace isobit::inline bits1::device
