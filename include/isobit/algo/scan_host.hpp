// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scan on a CPU: groups in registers on one thread, or chunks as jobs of an executor.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/fold_host.hpp>
#include <isobit/algo/scan_row.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/error.hpp>
#include <isobit/order/counter.hpp>

#if !defined(__CUDACC_RTC__)

// While nvcc makes device code, host functions are only parsed; there are no host registers to name.
#if !defined(ISOBIT_ON_DEVICE)
#include <isobit/algo/scan_vectors.hpp>
#endif

namespace isobit::inline bits1::detail {

//! The arrays of a scan: present, aligned, and either the same array or apart.
template <class T, class Out> void check_scan_arrays(char const* function, T const* x, uint64_t n, Out* out) {
  if (n == 0) return;
  if (x == nullptr) throw invalid_argument(function, "x", "non-null when n > 0");
  if (out == nullptr) throw invalid_argument(function, "out", "non-null when n > 0");
  auto const a = reinterpret_cast<std::uintptr_t>(x), b = reinterpret_cast<std::uintptr_t>(out);
  if (a % alignof(T) != 0) throw invalid_argument(function, "x", "aligned to", alignof(T), "bytes");
  if (b % alignof(Out) != 0) throw invalid_argument(function, "out", "aligned to", alignof(Out), "bytes");
  bool const apart = a < b ? n <= (b - a) / sizeof(T) : n <= (a - b) / sizeof(Out);
  if (!apart && !(a == b && stl::same_as<T, Out>))
    throw invalid_argument(function, "out", "x itself (of the same type) or an array that does not overlap it");
}

// log2 of the elements that are scanned at a time, in registers.
template <class A>
inline constexpr int scan_level = sizeof(typename A::state) <= 8    ? 4
                                  : sizeof(typename A::state) <= 16 ? 3
                                                                    : 2;
#if !defined(ISOBIT_ON_DEVICE)
template <ieee_float T> inline constexpr int scan_level<plain<T>> = vector_unit_level<T>;
template <ieee_float T> inline constexpr int scan_level<compensated<T>> = vector_unit_level<T>;

// The arrays and sums that scan_vectors.hpp can run on.
template <class T, class R>
concept scans_as = stl::same_as<T, R> || (small_float<T> && stl::same_as<R, float>);
template <class Load, class Store, class A> inline constexpr bool has_scan_vectors = false;
template <class T, ieee_float R>
inline constexpr bool has_scan_vectors<contiguous<T>, results<R>, plain<R>> = scans_as<T, R>;
template <class T, ieee_float R>
inline constexpr bool has_scan_vectors<contiguous<T>, results<R>, compensated<R>> = scans_as<T, R>;

// The same by vectors, as far as they go; returns where the rest begins. `whole`: bytes of the whole array's results.
template <class Form, class T, class R, class Acc>
uint64_t scan_range_by_vectors(uint64_t first, uint64_t n, uint64_t whole, Form const& form, contiguous<T> const& load,
                               results<R> const& store, Acc const& acc, counter<typename Acc::state>& pending) {
  if (n < (uint64_t(1) << (scan_level<Acc> + 3))) return first;
  vector_scan<Acc, Form> scan{acc, form};
  // What was just read is in the caches and is written there.
  scan.around_caches = whole >= scan_bytes_around_caches &&
                       static_cast<void const*>(load.data) != static_cast<void const*>(store.data);
  scan.pending = pending;
  if constexpr (Form::exclusive) {
    before_first<Form, typename Acc::state> before;
    pending.for_each_from_right([&](auto const& node) { before.prepend(acc, node); });
    if constexpr (Form::has_initial) before.prepend(acc, form.initial.state);
    scan.held = before.result(acc);
  }
  uint64_t const done = scan_groups(load.data + first, store.data + first, n, scan);
  pending = scan.pending;
  return first + done;
}
#endif

// The results of the elements [first, first + n), where `pending` (in groups) holds what comes before.
template <class Form, class Load, class Store, class Acc>
void scan_range(uint64_t first, uint64_t n, [[maybe_unused]] uint64_t whole, Form const& form, Load const& load,
                Store const& store, Acc const& acc, counter<typename Acc::state>& pending) {
  using state = typename Acc::state;
  constexpr int group = 1 << scan_level<Acc>;
  uint64_t i = first;
  uint64_t const end = first + n;
#if !defined(ISOBIT_ON_DEVICE)
  if constexpr (has_scan_vectors<Load, Store, Acc>)
    i = scan_range_by_vectors(first, n, whole, form, load, store, acc, pending);
#endif
  for (; i < end; i += group) {
    state s[group] = {};
    int const count = row_count(i, end, group);
    load_lane<group>(load, i, count, acc, s);
    if (count == group) // so that the compiler knows the count
      scan_array<group>(acc, s, group);
    else
      scan_array<group>(acc, s, count);
    state const node = s[count - 1];
    auto const before = prepend<group>(pending, form, acc, s, count);
    store_row<group, Form>(tile<1>{}, store, i, count, acc, s, before);
    pending.push(acc, node);
    if (count < group) break;
  }
}

//! One pass on the calling thread. With an executor and more than one grain: the nodes of at most 256 chunks first,
//! then every chunk from the nodes before it; two reads. Nothing is allocated.
template <class Executor, class Form, class Load, class Store, class Acc>
void scan_elements(host<Executor> const& g, uint64_t n, Form const& form, Load const& load, Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  if (n == 0) return;
  if constexpr (!stl::same_as<Executor, inline_executor>) {
    constexpr int most = sizeof(state) <= 64 ? 8 : 4; // log2 of the number of chunks
    int const grain = root_level(g.grain > 0 ? g.grain : 1);
    int level = root_level(n) - most;
    if (level < grain) level = grain;
    if (level < scan_level<Acc>) level = scan_level<Acc>;
    if (level < root_level(n)) {
      state nodes[1 << most];
      uint64_t const width = uint64_t(1) << level, chunks = ((n - 1) >> level) + 1;
      auto const length = [&](uint64_t c) { return n - c * width < width ? n - c * width : width; };
      g.run(chunks, [&](uint64_t c) {
        with_default_environment([&] { nodes[c] = fold_range(c * width, length(c), load, acc); });
      });
      g.run(chunks, [&](uint64_t c) {
        with_default_environment([&] {
          counter<state> pending;
          for (uint64_t before = 0; before < c; ++before) pending.push(acc, nodes[before], level - scan_level<Acc>);
          scan_range(c * width, length(c), n * sizeof(typename Acc::result), form, load, store, acc, pending);
        });
      });
      return;
    }
  }
  with_default_environment([&] {
    counter<state> pending;
    scan_range(0, n, n * sizeof(typename Acc::result), form, load, store, acc, pending);
  });
}

} // namespace isobit::inline bits1::detail
#endif
