// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The segmented reduction on a CPU, and what it checks: segments one after the other, or as jobs of an executor.
#pragma once

#include <isobit/algo/fold_host.hpp>
#include <isobit/algo/reduce.hpp>
#include <isobit/algo/scan_row.hpp>
#include <isobit/algo/segments.hpp>
#include <isobit/algo/short_segments.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/error.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {

namespace detail {

//! CSR offsets: `segments` + 1 of them, never falling, within [0, n].
template <class Offset>
void check_segment_offsets(char const* function, Offset const* offsets, uint64_t segments, uint64_t n) {
  if (segments == 0) return;
  if (offsets == nullptr) throw invalid_argument(function, "offsets", "non-null when segments > 0");
  if constexpr (stl::is_signed_v<Offset>)
    if (offsets[0] < 0) throw invalid_argument(function, "offsets[0]", "0 or more");
  constexpr uint64_t stretch = 64; // without a branch for each
  for (uint64_t first = 0; first < segments; first += stretch) {
    uint64_t const last = segments - first < stretch ? segments : first + stretch;
    uint32_t falls = 0;
    for (uint64_t s = first; s < last; ++s) falls |= offsets[s + 1] < offsets[s] ? 1u : 0u;
    if (falls == 0) continue;
    for (uint64_t s = first; s < last; ++s)
      if (offsets[s + 1] < offsets[s])
        throw invalid_argument(function, "offsets", "non-decreasing; it falls after entry", s, "(counted from 0)");
  }
  if (static_cast<uint64_t>(offsets[segments]) > n)
    throw invalid_argument(function, "offsets[segments]", "at most n, which is", n, "");
}

#if !defined(ISOBIT_ON_DEVICE)
// Segment `s` on this thread.
ISOBIT_CALLS_USER_CODE
template <class Layout, class Load, class Store, class Acc>
void reduce_segment_here(uint64_t s, Layout const& layout, Load const& load, Store const& store, Acc const& acc) {
  uint64_t const n = layout.length(s), first = layout.first(s);
  if (n == 0) {
    if constexpr (!requires { requires Store::skips_empty; }) store(s, acc.empty());
  } else if (n < 64 && !order_free_accumulator<Acc> && sizeof(typename Acc::state) <= 16) {
    auto const leaf = [&](uint64_t i) { return acc.lift(load(i)); };
    store(s, acc.finish(tree_of_some(first, n, leaf, acc)));
  } else {
    store(s, acc.finish(fold_range(uint64_t{0}, n, shift(load, first), acc)));
  }
}

// Segments [s, end) on this thread.
template <class Layout, class Load, class Store, class Acc>
void reduce_segments_here(uint64_t s, uint64_t end, uint64_t longest, Layout const& layout, Load const& load,
                          Store const& store, Acc const& acc) {
  while (s < end) {
    if constexpr (stl::same_as<Load, contiguous<float>> && stl::same_as<Store, results<float>> &&
                  stl::same_as<Acc, plain<float>>) {
      s = sum_alike(s, end, layout, load.data, store.data);
      if (s == end) return;
    }
    if (layout.length(s) <= longest) reduce_segment_here(s, layout, load, store, acc);
    ++s;
  }
}
#else
template <class Layout, class Load, class Store, class Acc>
void reduce_segments_here(uint64_t, uint64_t, uint64_t, Layout const&, Load const&, Store const&, Acc const&);
#endif

// All segments: an executor gets jobs of 256 segments; those of more than 2^20 elements are reduced one after the other,
// each by all jobs.
template <class Executor, class Layout, class Load, class Store, class Acc>
void reduce_segments(host<Executor> const& h, Layout const& layout, Load const& load, Store const& store,
                     Acc const& acc) {
  uint64_t const segments = layout.segments();
  if constexpr (stl::same_as<Executor, inline_executor>) {
    with_default_environment([&] {
      reduce_segments_here(0, segments, ~uint64_t{0}, layout, load, store, acc);
      return 0;
    });
  } else {
    constexpr uint64_t longest = uint64_t(1) << 20, batch = 256;
    if (segments == 0) return;
    h.run((segments - 1) / batch + 1, [&](uint64_t job) {
      uint64_t const end = (job + 1) * batch < segments ? (job + 1) * batch : segments;
      with_default_environment([&] {
        reduce_segments_here(job * batch, end, longest, layout, load, store, acc);
        return 0;
      });
    });
    for (uint64_t s = 0; s < segments; ++s)
      if (layout.length(s) > longest)
        with_default_environment([&] {
          store(s, acc.finish(fold(h, layout.length(s), shift(load, layout.first(s)), acc)));
          return 0;
        });
  }
}

// What both forms for arrays check of x and out.
template <class T, class Out>
void check_segment_arrays(char const* function, T const* x, uint64_t n, uint64_t segments, Out const* out) {
  if (x == nullptr && n > 0) throw invalid_argument(function, "x", "non-null when n > 0");
  if (reinterpret_cast<stl::uintptr_t>(x) % alignof(T) != 0)
    throw invalid_argument(function, "x", "aligned to", alignof(T), "bytes");
  if (out == nullptr && segments > 0) throw invalid_argument(function, "out", "non-null when segments > 0");
  if (reinterpret_cast<stl::uintptr_t>(out) % alignof(Out) != 0)
    throw invalid_argument(function, "out", "aligned to", alignof(Out), "bytes");
}

template <class Out, class Acc>
inline constexpr bool stores_results = stl::same_as<Out, typename Acc::result> ||
                                       (small_float<Out> && stl::same_as<typename Acc::result, float>);

} // namespace detail

//! The same on a host, for any layout, load and store; docs at the other groups. The layout is not checked. Stores come
//! from several threads where the executor has them.
template <is_host Host, segment_layout Layout, class Load, class Store, class Op = detail::plain_sum>
void segmented_reduce(Host const& h, Layout const& layout, Load const& load, Store const& store, Op const& op = {}) {
  if constexpr (detail::can_reduce<tree, uint64_t, Load, Op>()) {
    auto const elements = detail::as_load<uint64_t>(load);
    auto const acc = detail::as_accumulator<detail::loaded<decltype(elements)>>(op);
    detail::reduce_segments(h, layout, elements, store, acc);
  }
}

//! out[s] = the result over x[offsets[s]] .. x[offsets[s + 1] - 1], for each of `segments` segments. `offsets` has
//! `segments` + 1 entries of any integer type. `out` has the accumulator's result type, or, where that is float, a 16-bit
//! or 8-bit float into which each result is rounded once.
//! Null or misaligned arrays, falling offsets and offsets outside of [0, n] throw `invalid_argument` before anything is
//! written.
template <is_host Host, class T, stl::integral Index, stl::integral Offset, class Out, class Op = detail::plain_sum>
void segmented_reduce(Host const& h, T const* x, Index n, Offset const* offsets, uint64_t segments, Out* out,
                      Op const& op = {}) {
  constexpr char const* name = "segmented_reduce";
  if constexpr (stl::is_signed_v<Index>)
    if (n < 0) throw invalid_argument(name, "n", "0 or more");
  detail::check_segment_offsets(name, offsets, segments, static_cast<uint64_t>(n));
  detail::check_segment_arrays(name, x, static_cast<uint64_t>(n), segments, out);
  auto const acc = detail::as_accumulator<element_value<T>>(op);
  static_assert(detail::stores_results<Out, stl::remove_const_t<decltype(acc)>>,
                "isobit: a segmented reduction writes the accumulator's result type, or a narrower float from float");
  detail::reduce_segments(h, csr{offsets, segments}, contiguous<T>{x}, detail::results<Out>{out}, acc);
}

//! out[r] = the result over row r of a matrix, x[r * columns] .. x[(r + 1) * columns - 1]: the bits of `reduce` over that
//! row, whatever the number of rows. All else as above.
template <is_host Host, class T, class Out, class Op = detail::plain_sum>
void reduce_rows(Host const& h, T const* x, uint64_t rows, uint64_t columns, Out* out, Op const& op = {}) {
  constexpr char const* name = "reduce_rows";
  if (columns != 0 && rows > ~uint64_t{0} / sizeof(T) / columns)
    throw invalid_argument(name, "rows", "at most 2^64 bytes of x, which for these columns are",
                           ~uint64_t{0} / sizeof(T) / columns, "rows");
  detail::check_segment_arrays(name, x, rows * columns, rows, out);
  auto const acc = detail::as_accumulator<element_value<T>>(op);
  static_assert(detail::stores_results<Out, stl::remove_const_t<decltype(acc)>>,
                "isobit: a segmented reduction writes the accumulator's result type, or a narrower float from float");
  detail::reduce_segments(h, fixed_rows{rows, columns}, contiguous<T>{x}, detail::results<Out>{out}, acc);
}

} // namespace isobit::inline bits1
#endif
