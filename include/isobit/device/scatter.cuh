// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of stable grouping, scatter-reduce and sums of columns: a stream and the caller's workspace; no allocation,
//! no synchronisation, safe to capture in a CUDA graph (kernels and memset nodes). Workspaces need no initialisation.
//! Not yet run on a GPU. Grouping here is by counting, for few ids; scatter_sort.cuh has CUB's radix sort for many.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/device/launch.cuh>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scatter_kernel.hpp>
#include <isobit/device/segmented_reduce_kernel.hpp>
#include <isobit/device/workspace.hpp>

namespace isobit::inline bits1::device {

namespace detail {

inline unsigned blocks_for(uint64_t threads) {
  uint64_t const blocks = (threads + scatter_block - 1) / scatter_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < 65536 ? blocks : 65536);
}

template <class T> void clear_async(char const* name, cudaStream_t stream, T* memory, uint64_t count) {
  cudaError_t const e = cudaMemsetAsync(memory, 0, count * sizeof(T), stream);
  if (e != cudaSuccess) throw launch_error(name, static_cast<int>(e), cudaGetErrorString(e));
}

// Counts the ids that name nothing; `*report` is device memory, or null for nobody who cares.
struct report_space {
  unsigned char* memory;
  report_space(isobit::detail::workspace_parts& parts, uint64_t n)
      : memory(parts.take(grid_workspace<index_report>::bytes(n))) {}
  template <class Id>
  void launch(char const* name, cudaStream_t stream, Id const* ids, uint64_t n, uint64_t groups,
              index_report* report) const {
    if (report == nullptr) return;
    clear_async(name, stream, memory, grid_workspace<index_report>::header_bytes);
    uint64_t const chunks = grid_workspace<index_report>::partials_for(n);
    reduce_kernel<tree><<<static_cast<unsigned>(chunks == 0 ? 1 : chunks), reduce_block, 0, stream>>>(
        wrong_ids<Id>{ids, groups}, n, report, static_cast<void*>(memory), join_reports{});
  }
};

} // namespace detail

//! Grouping by counting: a method of the launchers here. Its work grows with log2(groups), its workspace with
//! (n / 1024 + 1) * groups words, up to 32 MiB and one word a group.
struct by_counting {
  uint64_t* counts = nullptr;
  template <class Id, class Index> void take(isobit::detail::workspace_parts& parts, uint64_t n, uint64_t groups) {
    counts = parts.take<uint64_t>(grouping_workspace_bytes(n, groups) / sizeof(uint64_t));
  }
  template <class Id, class Index>
  void launch(cudaStream_t stream, Id const* ids, uint64_t n, uint64_t groups, grouping<Index> const& out) const {
    unsigned const blocks = detail::blocks_for(32 * grouping_chunks::of(n, groups).count);
    count_chunks_kernel<<<blocks, scatter_block, 0, stream>>>(ids, n, groups, counts);
    sum_chunks_kernel<scatter_block><<<detail::blocks_for(groups), scatter_block, 0, stream>>>(n, groups, counts);
    sum_groups_kernel<scatter_block><<<1, scatter_block, 0, stream>>>(n, groups, counts, out.offsets);
    place_chunks_kernel<<<blocks, scatter_block, 0, stream>>>(ids, n, groups, counts, out);
  }
};

//! Bytes of workspace for `group_ids`.
template <class Index, class Method = by_counting, class Id = Index>
uint64_t group_ids_workspace_bytes(uint64_t n, uint64_t groups) {
  isobit::detail::workspace_parts parts(nullptr);
  detail::report_space{parts, n};
  Method{}.template take<Id, Index>(parts, n, groups);
  return parts.used();
}

//! Groups n ids stably: offsets, order, inverse map and slots, as `isobit::group_ids` on a host gives them. All arrays
//! are device memory; `report`, if given, receives how many ids neither drop (-1) nor name a group, and the first.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses a launch.
template <class Method = by_counting, stl::integral Id, stl::integral Index>
void group_ids(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, Id const* ids, uint64_t n,
               uint64_t groups, grouping<Index> const& out, index_report* report = nullptr) {
  constexpr char const* name = "device::group_ids";
  isobit::detail::check_array(name, "ids", ids, n);
  isobit::detail::check_array(name, "offsets", out.offsets, 1);
  if constexpr (requires { requires Method::needs_order; }) isobit::detail::check_array(name, "order", out.order, 1);
  isobit::detail::check_workspace(name, workspace, workspace_bytes,
                                  group_ids_workspace_bytes<Index, Method, Id>(n, groups), 256);
  isobit::detail::workspace_parts parts(workspace);
  detail::report_space const reports(parts, n);
  Method method;
  method.template take<Id, Index>(parts, n, groups);
  reports.launch(name, stream, ids, n, groups, report);
  method.launch(stream, ids, n, groups, out);
  check_launch(name);
}

namespace detail {
// The workspace of a scatter, part by part.
template <class State, class Method, class Id> struct scatter_space {
  isobit::detail::workspace_parts parts;
  report_space reports;
  uint64_t* offsets;
  int64_t* order;
  Method method;
  unsigned char* sums;
  scatter_space(void* base, uint64_t n, uint64_t columns, uint64_t rows)
      : parts(base), reports(parts, n), offsets(parts.take<uint64_t>(rows + 1)), order(parts.take<int64_t>(n)) {
    method.template take<Id, int64_t>(parts, n, rows);
    sums = parts.take(columns == 1 ? segment_workspace<State>::bytes(n, rows)
                                   : column_workspace<State>::bytes(n, rows, columns));
  }
};
} // namespace detail

//! Bytes of workspace for `scatter_reduce` (aligned to 256; no initialisation).
template <accumulator Acc, class Method = by_counting, class Id = int32_t>
uint64_t scatter_workspace_bytes(uint64_t n, uint64_t columns, uint64_t rows) {
  return detail::scatter_space<typename Acc::state, Method, Id>(nullptr, n, columns, rows).parts.used();
}

//! out[r][c] takes the tree over x[i][c] for the i with ids[i] == r, in input order: the bits of
//! `isobit::scatter_reduce` on a host, which says more. All arrays are device memory. `report`, if given, receives the
//! ids that are neither -1 nor a row: they are dropped, never written.
//! Throws `invalid_argument` before anything is written, `launch_error` when CUDA refuses a launch.
template <scatter_mode Mode = scatter_mode::replace, class Method = by_counting, stl::integral Id, class T, class Out,
          accumulator Acc = plain<element_value<T>>>
void scatter_reduce(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, Id const* ids, uint64_t n,
                    T const* x, uint64_t columns, Out* out, uint64_t rows, Acc const& acc = {},
                    index_report* report = nullptr) {
  constexpr char const* name = "device::scatter_reduce";
  using state = typename Acc::state;
  static_assert(isobit::detail::can_scatter<Out, Acc, Mode>());
  isobit::detail::check_scatter(name, ids, n, x, columns, out, rows);
  isobit::detail::check_workspace(name, workspace, workspace_bytes,
                                  scatter_workspace_bytes<Acc, Method, Id>(n, columns, rows), 256);
  if (rows == 0 || columns == 0) return;
  detail::scatter_space<state, Method, Id> const space(workspace, n, columns, rows);
  space.reports.launch(name, stream, ids, n, rows, report);
  space.method.launch(stream, ids, n, rows, grouping<int64_t>{space.offsets, space.order});
  csr<uint64_t> const layout{space.offsets, rows};
  isobit::detail::gathered_rows<T, int64_t> const load{x, space.order, columns};
  isobit::detail::scatter_rows<Out, Mode> const store{out, columns};
  if (columns == 1) {
    auto const memory = segment_workspace<state>::at(space.sums, n, rows);
    detail::clear_async(name, stream, space.sums, segment_workspace<state>::zeroed_bytes(n, rows));
    segmented_reduce_kernel<<<static_cast<unsigned>(memory.units), segment_block, 0, stream>>>(
        layout, isobit::detail::as_load<uint64_t>(load), store, memory, acc, nullptr);
  } else {
    auto const memory = column_workspace<state>::at(space.sums, n, rows, columns);
    detail::clear_async(name, stream, space.sums, column_workspace<state>::zeroed_bytes(n, rows, columns));
    reduce_columns_kernel<<<detail::blocks_for(memory.units * memory.strips * scatter_block), scatter_block, 0,
                            stream>>>(layout, load, store, memory, acc);
  }
  check_launch(name);
}

//! The same with an `exact` accumulator, by integer atomics: no grouping, and any permutation of the input gives the same
//! bits. `workspace`: `sizeof(exact_cell<typename Acc::grid>)` (96 bytes for float) for each element of out.
template <class Acc> constexpr uint64_t scatter_exact_workspace_bytes(uint64_t columns, uint64_t rows) {
  return sizeof(exact_cell<typename Acc::grid>) * columns * rows;
}
template <scatter_mode Mode = scatter_mode::replace, stl::integral Id, class T, class Out, class Acc>
void scatter_exact(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, Id const* ids, uint64_t n,
                   T const* x, uint64_t columns, Out* out, uint64_t rows, Acc const& acc) {
  constexpr char const* name = "device::scatter_exact";
  static_assert(isobit::detail::can_scatter<Out, Acc, Mode>());
  isobit::detail::check_scatter(name, ids, n, x, columns, out, rows);
  isobit::detail::check_workspace(name, workspace, workspace_bytes, scatter_exact_workspace_bytes<Acc>(columns, rows),
                                  8);
  if (rows == 0 || columns == 0) return;
  auto* const cells = static_cast<exact_cell<typename Acc::grid>*>(workspace);
  detail::clear_async(name, stream, cells, rows * columns);
  scatter_exact_kernel<<<detail::blocks_for(n * columns), scatter_block, 0, stream>>>(ids, n, x, columns, rows, cells,
                                                                                      acc);
  finish_exact_kernel<Mode>
      <<<detail::blocks_for(rows * columns), scatter_block, 0, stream>>>(cells, rows * columns, out, acc);
  check_launch(name);
}

//! For each segment s and column c: `store(s, c, r)`, r the result over load(i, c) for the rows i of the segment. One
//! kernel. `workspace`: `column_workspace<typename Acc::state>::bytes(rows, segments, columns)`, no initialisation.
template <segment_layout Layout, class Load, class Store, accumulator Acc>
void reduce_columns(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, Layout const& layout, uint64_t rows,
                    uint64_t segments, uint64_t columns, Load const& load, Store const& store, Acc const& acc) {
  constexpr char const* name = "device::reduce_columns";
  using space = column_workspace<typename Acc::state>;
  isobit::detail::check_workspace(name, workspace, workspace_bytes, space::bytes(rows, segments, columns), 16);
  if (segments == 0 || columns == 0) return;
  auto const memory = space::at(workspace, rows, segments, columns);
  detail::clear_async(name, stream, memory.arrivals, space::zeroed_bytes(rows, segments, columns) / sizeof(uint32_t));
  reduce_columns_kernel<<<detail::blocks_for(memory.units * memory.strips * scatter_block), scatter_block, 0, stream>>>(
      layout, load, store, memory, acc);
  check_launch(name);
}

} // namespace isobit::inline bits1::device
