// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels behind the launchers of scatter.cuh: grouping by counting or from sorted ids, sums of columns over
//! segments of rows, and exact sums by integer atomics. The same source runs through `isobit::simt`.
#pragma once

#include <isobit/algo/scatter.hpp>
#include <isobit/device/exact_atomic.hpp>

namespace isobit::inline bits1::device::inline ISOBIT_KERNELS {

//! Threads of a block of the launchers here. Bits do not depend on it.
inline constexpr int scatter_block = 256;

// The phases of group_ids over any number of blocks, but `sum_groups_kernel`: one block.
template <class Id>
ISOBIT_KERNEL void count_chunks_kernel(Id const* ids, uint64_t n, uint64_t groups, uint64_t* counts) {
  isobit::detail::by_warps(machine::block_rank(), machine::grid_blocks(),
                           [=](auto const& t, uint64_t worker, uint64_t workers) {
                             isobit::detail::count_chunks(t, worker, workers, ids, n, groups, counts);
                           });
}
template <int Width = scatter_block>
ISOBIT_KERNEL void sum_chunks_kernel(uint64_t n, uint64_t groups, uint64_t* counts) {
  uint64_t const threads = machine::block_threads();
  isobit::detail::sum_chunks(machine::block_rank() * threads + machine::thread_rank(), machine::grid_blocks() * threads,
                             n, groups, counts);
}
template <int Width = scatter_block>
ISOBIT_KERNEL void sum_groups_kernel(uint64_t n, uint64_t groups, uint64_t const* counts, uint64_t* offsets) {
  ISOBIT_SHARED block_storage<Width, uint64_t> memory;
  isobit::detail::sum_groups(block(memory), n, groups, counts, offsets);
}
template <class Id, class Index>
ISOBIT_KERNEL void place_chunks_kernel(Id const* ids, uint64_t n, uint64_t groups, uint64_t* counts,
                                       grouping<Index> out) {
  isobit::detail::by_warps(machine::block_rank(), machine::grid_blocks(),
                           [=](auto const& t, uint64_t worker, uint64_t workers) {
                             isobit::detail::place_chunks(t, worker, workers, ids, n, groups, counts, out);
                           });
}

//! Before a stable sort: keys[i] = the id, or `groups` where the element is dropped; order[i] = i.
template <class Id, class Index>
ISOBIT_KERNEL void sort_keys_kernel(Id const* ids, uint64_t n, uint64_t groups, uint64_t* keys, Index* order) {
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t i = machine::block_rank() * machine::block_threads() + machine::thread_rank(); i < n; i += step) {
    keys[i] = is_group(ids[i], groups) ? static_cast<uint64_t>(ids[i]) : groups;
    order[i] = static_cast<Index>(i);
  }
}
//! After it: where each group begins.
template <int Width = scatter_block>
ISOBIT_KERNEL void sorted_offsets_kernel(uint64_t const* keys, uint64_t n, uint64_t groups, uint64_t* offsets) {
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t g = machine::block_rank() * machine::block_threads() + machine::thread_rank(); g <= groups; g += step) {
    uint64_t low = 0, high = n;
    while (low < high) {
      uint64_t const middle = low + (high - low) / 2;
      if (keys[middle] < g)
        low = middle + 1;
      else
        high = middle;
    }
    offsets[g] = low;
  }
}

//! `reduce_columns` over a grid.
template <class Layout, class Load, class Store, class Acc>
ISOBIT_KERNEL void reduce_columns_kernel(Layout layout, Load load, Store store,
                                         column_workspace<typename Acc::state> workspace, Acc acc) {
  ISOBIT_SHARED uint32_t flag;
  reduce_columns(&flag, workspace, layout, load, store, acc);
}

//! Deposits every element of x into the cell of its row and column.
template <class Id, class T, class Acc>
ISOBIT_KERNEL void scatter_exact_kernel(Id const* ids, uint64_t n, T const* x, uint64_t columns, uint64_t rows,
                                        exact_cell<typename Acc::grid>* cells, Acc acc) {
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t k = machine::block_rank() * machine::block_threads() + machine::thread_rank(); k < n * columns;
       k += step) {
    uint64_t const i = k / columns, c = k % columns;
    if (is_group(ids[i], rows))
      atomic_deposit(acc, cells + static_cast<uint64_t>(ids[i]) * columns + c, decode_element(x[k]));
  }
}
//! After that: out takes the sums of the cells that something was added to, which are cleared.
template <scatter_mode Mode, class Out, class Acc>
ISOBIT_KERNEL void finish_exact_kernel(exact_cell<typename Acc::grid>* cells, uint64_t count, Out* out, Acc acc) {
  uint64_t const step = machine::grid_blocks() * machine::block_threads();
  for (uint64_t k = machine::block_rank() * machine::block_threads() + machine::thread_rank(); k < count; k += step) {
    if (cells[k].flags == 0) continue;
    isobit::detail::scatter_rows<Out, Mode>{out, 1}.from_state(k, 0, acc, read(cells[k]));
    clear(cells[k], 0, 1);
  }
}

} // namespace isobit::inline bits1::device::inline ISOBIT_KERNELS
