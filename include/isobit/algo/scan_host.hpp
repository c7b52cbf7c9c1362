// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The scan on a CPU: tiles of the first-level cache on one thread, or chunks as jobs of an executor.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/algo/fold_host.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/error.hpp>
#include <isobit/order/counter.hpp>

#if !defined(__CUDACC_RTC__)
namespace isobit::inline bits1::detail {

//! The arrays of a scan: present, aligned, and either the same array or apart.
template <class T, class Out> void check_scan_arrays(char const* function, T const* x, uint64_t n, Out const* out) {
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

// s[j] = node + s[j] for count elements. Generic; for float and double a vector at a time.
template <class Acc, class State> void prepend_to_all(Acc const& acc, State node, State* s, uint64_t count) {
  uint64_t j = 0;
#if !defined(ISOBIT_ON_DEVICE)
  if constexpr (ieee_float<State> && stl::same_as<Acc, plain<State>>) {
    using v = native<State>;
    constexpr uint64_t width = native_width<State>;
    v const left = broadcast<v>(node);
    for (; count - j >= width; j += width) store(s + j, add(left, isobit::load<v>(s + j)));
  }
#endif
  for (; j < count; ++j) s[j] = acc.combine(node, s[j]);
}

// s[j] = the prefix over s[0..j], for j < count <= the capacity of a tile.
template <class Acc, class State> void scan_tile(Acc const& acc, State* s, uint64_t count) {
  constexpr uint64_t small = 8;
  uint64_t i = 0;
  for (; count - i >= small; i += small) {
    State* const p = s + i;
    State a[small];
    ISOBIT_UNROLL
    for (uint64_t j = 0; j < small; ++j) a[j] = p[j];
    ISOBIT_UNROLL
    for (uint64_t step = 1; step < small; step *= 2) {
      ISOBIT_UNROLL
      for (uint64_t j = 0; j < small; ++j)
        if ((j & step) != 0) a[j] = acc.combine(a[(j & ~(2 * step - 1)) | (step - 1)], a[j]);
    }
    ISOBIT_UNROLL
    for (uint64_t j = 0; j < small; ++j) p[j] = a[j];
  }
  for (uint64_t step = 1; step < small; step *= 2)
    for (uint64_t j = i; j < count; ++j)
      if ((j & step) != 0) s[j] = acc.combine(s[(j & ~(2 * step - 1)) | (step - 1)], s[j]);
  for (uint64_t half = small; half < count; half *= 2)
    for (uint64_t first = half; first < count; first += 2 * half)
      prepend_to_all(acc, s[first - 1], s + first, count - first < half ? count - first : half);
}

// log2 of a tile's elements.
template <class State> inline constexpr int scan_tile_level = sizeof(State) <= 4 ? 10 : sizeof(State) <= 16 ? 9 : 6;

// The prefixes of the elements [first, first + n), where `pending` (in tiles) holds what comes before.
template <class Load, class Store, class Acc>
void scan_range(uint64_t first, uint64_t n, Load const& load, Store const& store, Acc const& acc,
                counter<typename Acc::state>& pending) {
  using state = typename Acc::state;
  constexpr uint64_t tile = uint64_t(1) << scan_tile_level<state>;
  state s[tile];
  for (uint64_t i = 0; i < n; i += tile) {
    uint64_t const count = n - i < tile ? n - i : tile, base = first + i;
    for (uint64_t j = 0; j < count; ++j) s[j] = acc.lift(load(base + j));
    scan_tile(acc, s, count);
    state const node = s[count - 1];
    pending.for_each_from_right([&](state const& left) { prepend_to_all(acc, left, s, count); });
    for (uint64_t j = 0; j < count; ++j) store(base + j, acc.finish(s[j]));
    pending.push(acc, node);
  }
}

//! One pass on the calling thread. With an executor and more than one grain: the nodes of at most 256 chunks first,
//! then every chunk from the nodes before it; two reads. Nothing is allocated.
template <class Executor, class Load, class Store, class Acc>
void scan_elements(host<Executor> const& g, uint64_t n, Load const& load, Store const& store, Acc const& acc) {
  using state = typename Acc::state;
  if (n == 0) return;
  if constexpr (!stl::same_as<Executor, inline_executor>) {
    constexpr int most = sizeof(state) <= 64 ? 8 : 4; // log2 of the number of chunks
    int const grain = root_level(g.grain > 0 ? g.grain : 1);
    int level = root_level(n) - most;
    if (level < grain) level = grain;
    if (level < scan_tile_level<state>) level = scan_tile_level<state>;
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
          for (uint64_t before = 0; before < c; ++before)
            pending.push(acc, nodes[before], level - scan_tile_level<state>);
          scan_range(c * width, length(c), load, store, acc, pending);
        });
      });
      return;
    }
  }
  with_default_environment([&] {
    counter<state> pending;
    scan_range(0, n, load, store, acc, pending);
  });
}

} // namespace isobit::inline bits1::detail
#endif
