// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Scatter-reduce: out[id[i]] takes the tree over the rows x[i] with that id, in input order, however they arrive.
#pragma once

#include <isobit/algo/grouping.hpp>
#include <isobit/algo/segmented_columns.hpp>

namespace isobit::inline bits1 {

//! What becomes of a row's old value. Rows that no id names keep their bytes in either case.
enum class scatter_mode {
  replace,   //!< out[r] = the tree over the row's contributions
  accumulate //!< out[r] = out[r] + that tree: one more operation, with the old value as the left operand
};

namespace detail {

// Row order[j] of x: a load of (occurrence, column), and of occurrences of single columns.
template <class T, class Index> struct gathered_rows {
  T const* x;
  Index const* order;
  uint64_t columns;
  ISOBIT_HD element_value<T> operator()(uint64_t j, uint64_t c) const {
    return decode_element(x[static_cast<uint64_t>(order[j]) * columns + c]);
  }
  ISOBIT_HD element_value<T> operator()(uint64_t j) const { return (*this)(j, 0); }
};

// Where the results of rows go.
template <class Out, scatter_mode Mode> struct scatter_rows {
  static constexpr bool skips_empty = true;
  Out* out;
  uint64_t columns;

  template <class Acc>
  ISOBIT_HD void from_state(uint64_t row, uint64_t c, Acc const& acc, typename Acc::state state) const {
    Out& target = out[row * columns + c];
    if constexpr (Mode == scatter_mode::accumulate) state = acc.combine(acc.lift(decode_element(target)), state);
    if constexpr (stl::same_as<Out, typename Acc::result>)
      target = acc.finish(state);
    else
      target = encode<Out>(acc.finish(state));
  }
};

// The check of a scatter's sizes and arrays, on a host and in launchers.
#if !defined(__CUDACC_RTC__)
template <class Id, class T, class Out>
void check_scatter(char const* function, Id const* ids, uint64_t n, T const* x, uint64_t columns, Out const* out,
                   uint64_t rows) {
  auto const aligned = [](void const* p, size_t to) { return reinterpret_cast<stl::uintptr_t>(p) % to == 0; };
  if (ids == nullptr && n > 0) throw invalid_argument(function, "ids", "non-null when n > 0");
  if (!aligned(ids, alignof(Id))) throw invalid_argument(function, "ids", "aligned to", alignof(Id), "bytes");
  if (x == nullptr && n > 0 && columns > 0) throw invalid_argument(function, "x", "non-null when n > 0");
  if (!aligned(x, alignof(T))) throw invalid_argument(function, "x", "aligned to", alignof(T), "bytes");
  if (out == nullptr && rows > 0 && columns > 0) throw invalid_argument(function, "out", "non-null when rows > 0");
  if (!aligned(out, alignof(Out))) throw invalid_argument(function, "out", "aligned to", alignof(Out), "bytes");
}
#endif

template <class Out, class Acc, scatter_mode Mode> ISOBIT_HD constexpr bool can_scatter() {
  constexpr bool narrow = small_float<Out> && stl::same_as<typename Acc::result, float>;
  static_assert(stl::same_as<Out, typename Acc::result> || narrow,
                "isobit: a scatter writes the accumulator's result type, or a narrower float from float");
  static_assert(
      Mode == scatter_mode::replace || requires(Acc const acc, element_value<Out> old) { acc.lift(old); },
      "isobit: to accumulate, the accumulator must take the output's elements");
  return true;
}

} // namespace detail

#if !defined(__CUDACC_RTC__)

//! Bytes of a host scatter's workspace.
constexpr uint64_t scatter_host_workspace_bytes(uint64_t n, uint64_t rows) { return (n + rows + 1) * sizeof(uint64_t); }

//! For each row r of `out` (rows x columns) that some id names: out[r][c] takes the tree over x[i][c] for the i with
//! ids[i] == r, in rising order of i. Ids of -1 drop their row of x; the report counts the ids that are neither -1 nor
//! a row, which drop theirs too. Rows never named keep their bytes.
//!
//! - `Mode`: `scatter_mode::replace` or `accumulate`.
//! - `op`: an accumulator or operator over the elements, by default their flag-proof sum: floats of 16 and 8 bits are
//!   summed in float and rounded once into `out`.
//! - `workspace`: `scatter_host_workspace_bytes(n, rows)` bytes, aligned to 8.
//! Throws `invalid_argument` before anything is written. Guarantee: run-to-run, target, partition, neighbourhood.
template <scatter_mode Mode = scatter_mode::replace, is_host Host, stl::integral Id, class T, class Out,
          class Op = detail::plain_sum>
index_report scatter_reduce(Host const& h, void* workspace, uint64_t workspace_bytes, Id const* ids, uint64_t n,
                            T const* x, uint64_t columns, Out* out, uint64_t rows, Op const& op = {}) {
  constexpr char const* name = "scatter_reduce";
  auto const acc = detail::as_accumulator<element_value<T>>(op);
  static_assert(detail::can_scatter<Out, stl::remove_const_t<decltype(acc)>, Mode>());
  detail::check_scatter(name, ids, n, x, columns, out, rows);
  uint64_t const needed = scatter_host_workspace_bytes(n, rows);
  if (workspace_bytes < needed) throw invalid_argument(name, "workspace_bytes", "at least", needed, "bytes");
  if (workspace == nullptr) throw invalid_argument(name, "workspace", "non-null");
  if (reinterpret_cast<stl::uintptr_t>(workspace) % 8 != 0)
    throw invalid_argument(name, "workspace", "aligned to", 8, "bytes");
  auto* const offsets = static_cast<uint64_t*>(workspace);
  uint64_t* const order = offsets + rows + 1;
  auto const report = group_ids(h, ids, n, rows, grouping<uint64_t>{offsets, order});
  reduce_columns(h, csr<uint64_t>{offsets, rows}, columns, detail::gathered_rows<T, uint64_t>{x, order, columns},
                 detail::scatter_rows<Out, Mode>{out, columns}, acc);
  return report;
}

#endif

} // namespace isobit::inline bits1
