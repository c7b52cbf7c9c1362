// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The tree over n elements on a CPU: in blocks on one thread, or as jobs of an executor.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/group/host.hpp>
#include <isobit/order/counter.hpp>
#include <isobit/order/level.hpp>

#if !defined(__CUDACC_RTC__)

// While nvcc makes device code, host functions are only parsed; there are no host registers to name.
#if !defined(ISOBIT_ON_DEVICE)
#include <isobit/algo/host_sums.hpp>
#endif

namespace isobit::inline bits1 {

namespace detail {

// node(Level, .) of a full subtree whose first leaf is `first`; unrolled.
ISOBIT_CALLS_USER_CODE
template <int Level, class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state full_node(uint64_t first, Leaf const& leaf, Acc const& acc) {
  if constexpr (Level == 0) {
    return leaf(first);
  } else {
    auto const left = full_node<Level - 1>(first, leaf, acc);
    return acc.combine(left, full_node<Level - 1>(first + (uint64_t{1} << (Level - 1)), leaf, acc));
  }
}

// The tree over leaf(first) ... leaf(first + n - 1), n >= 1, any leaf that gives states.
ISOBIT_CALLS_USER_CODE
template <class Leaf, class Acc>
ISOBIT_HD constexpr typename Acc::state fold_leaves(uint64_t first, uint64_t n, Leaf const& leaf, Acc const& acc) {
  constexpr int level = sizeof(typename Acc::state) <= 16 ? 4 : 2;
  constexpr uint64_t leaves = uint64_t{1} << level;
  counter<typename Acc::state> pending;
  uint64_t const end = first + n;
  for (; end - first >= leaves; first += leaves) pending.push(acc, full_node<level>(first, leaf, acc), level);
  for (; first < end; ++first) pending.push(acc, leaf(first));
  return pending.fold(acc);
}

#if !defined(ISOBIT_ON_DEVICE)
// Loads and accumulators that host_sums.hpp runs on vectors (algo/products.hpp adds products).
template <class Load, class A> inline constexpr bool has_host_sums = false;
template <ieee_float T> inline constexpr bool has_host_sums<contiguous<T>, plain<T>> = true;
template <ieee_float T> inline constexpr bool has_host_sums<contiguous<T>, compensated<T>> = true;
template <ieee_float T> inline constexpr bool has_host_sums<contiguous<T>, double_float<T>> = true;
template <small_float T> inline constexpr bool has_host_sums<contiguous<T>, plain<float>> = true;
template <small_float T> inline constexpr bool has_host_sums<contiguous<T>, compensated<float>> = true;
template <small_float T> inline constexpr bool has_host_sums<contiguous<T>, double_float<float>> = true;

// The accumulator of sums that combines as `A` does.
template <class A> struct host_nodes {
  using type = A;
};

// What vectors read of a load, from element `i` on.
template <class Load> struct host_leaves;
template <class T> struct host_leaves<contiguous<T>> {
  static leaf_array<T> from(contiguous<T> const& load, uint64_t i) { return {load.data + i}; }
};

// Appends to `out` the nodes `level` levels above in[0..n), where `leaf(i)` is the state of in[i]; the last is ragged.
template <class Isa, class Array, class Out, class Leaf, class A>
void raise_levels(Array const& in, uint64_t n, Out& out, Leaf const& leaf, A const& acc) {
  constexpr int level = Isa::level;
  constexpr uint64_t step = 256 / sizeof(typename A::result);
  uint64_t steps = n / step;
  if constexpr (is_double_float<A>) {
    if (in.has_scaled || !Isa::template raise<A, false>(in, out, steps)) steps = 0;
  } else {
    if (!Isa::template raise<A, false>(in, out, steps)) Isa::template raise<A, true>(in, out, steps);
  }
  out.count += steps * step >> level;
  uint64_t i = steps * step;
  for (; n - i >= (1u << level); i += 1u << level) out.push(full_node<level>(i, leaf, acc));
  if (i < n) out.push(fold_leaves(i, n - i, leaf, acc));
}

// Elements are taken in tiles so small that the nodes over one stay in the first-level cache while the elements stream
// through it; the nodes over the tiles of a block go on together, so that the scalar end of a tree is rare.
inline constexpr int tile_level = 11, block_level = 15;

// Asks for the memory of the next tile while this one's nodes are folded, which would let memory idle. Further ahead, or
// between the steps of a tile, prefetches were measured to slow a read of memory down: the processor's own do better.
// The address may lie behind the array: a prefetch touches nothing.
inline void prefetch_kilobyte(stl::uintptr_t address) {
  ISOBIT_UNROLL
  for (stl::uintptr_t line = 0; line < 1024; line += 64) __builtin_prefetch(reinterpret_cast<void const*>(address + line));
}

template <class T> void prefetch(leaf_array<T> const& x, uint64_t i) {
  prefetch_kilobyte(reinterpret_cast<stl::uintptr_t>(x.sum) + i * sizeof(T));
}
template <class T> void prefetch(product_array<T> const& p, uint64_t i) {
  prefetch_kilobyte(reinterpret_cast<stl::uintptr_t>(p.x) + i * sizeof(T));
  prefetch_kilobyte(reinterpret_cast<stl::uintptr_t>(p.y) + i * sizeof(T));
}

// The tree over load(first) ... load(first + n - 1), 1 <= n <= 2^block_level.
template <class Isa, class Load, class A>
typename A::state fold_block(Load const& load, uint64_t first, uint64_t n, A const& acc) {
  constexpr int level = Isa::level;
  constexpr uint64_t tile = uint64_t{1} << tile_level;
  using sums = typename host_nodes<A>::type; // stateless, as the accumulators of has_host_sums are
  node_array<sums, (tile >> level)> low;
  node_array<sums, (1u << (block_level - 2 * level))> high;
  auto const in_low = [&](uint64_t i) { return low.get(i); };
  auto const in_high = [&](uint64_t i) { return high.get(i); };
  for (uint64_t done = 0; done < n; done += tile) {
    auto const leaf = [&](uint64_t i) { return acc.lift(load(first + done + i)); };
    auto const leaves = host_leaves<Load>::from(load, first + done);
    low.count = 0;
    if constexpr (is_double_float<sums>) low.has_scaled = false;
    raise_levels<Isa>(leaves, n - done < tile ? n - done : tile, low, leaf, sums{});
    prefetch(leaves, tile);
    raise_levels<Isa>(low, low.count, high, in_low, sums{});
  }
  while (high.count > 16) { // at most 512 nodes become at most 64, which fit into `low`
    low.count = 0;
    raise_levels<Isa>(high, high.count, low, in_high, sums{});
    high.count = 0; // high.has_scaled stays: it may say so in vain
    for (uint64_t i = 0; i < low.count; ++i) high.push(low.get(i));
  }
  return fold_leaves(0, high.count, in_high, sums{});
}

// The tree over load(first) ... load(first + n - 1), n >= 1.
template <class Isa, class Load, class A>
typename A::state fold_blocks(Load const& load, uint64_t first, uint64_t n, A const& acc) {
  constexpr uint64_t block = uint64_t{1} << block_level;
  if (n <= block) return fold_block<Isa>(load, first, n, acc);
  counter<typename A::state> pending;
  for (uint64_t i = 0; i < n; i += block)
    pending.push(acc, fold_block<Isa>(load, first + i, n - i < block ? n - i : block, acc), block_level);
  return pending.fold(acc);
}

// moments<T> of an array: full nodes on vectors, the rest element by element.
template <class Load, class A> inline constexpr bool has_host_moments = false;
template <ieee_float T> inline constexpr bool has_host_moments<contiguous<T>, moments<T>> = true;
inline constexpr int moments_level = 10;

template <class T> moments_state<T> fold_moments(T const* x, uint64_t n, moments<T> const& acc) {
  constexpr uint64_t full = uint64_t{1} << moments_level;
  counter<moments_state<T>> pending;
  uint64_t const rest = n % full, in_full = n - rest;
  for (uint64_t i = 0; i < in_full; i += full) {
    moments_state<T> node{};
    T const* const block = x + i;
#if defined(ISOBIT_HAS_ISA_AVX2)
    bool const done = has_avx2() ? isa_avx2::full_moments<full>(block, node) : isa_base::full_moments<full>(block, node);
#else
    bool const done = isa_base::full_moments<full>(block, node);
#endif
    if (done)
      pending.push(acc, node, moments_level);
    else
      for (uint64_t k = 0; k < full; ++k) pending.push(acc, acc.lift(block[k]));
  }
  for (uint64_t i = 0; i < rest; ++i) pending.push(acc, acc.lift(x[in_full + i]));
  return pending.fold(acc);
}
#endif

// The tree over load(first) ... load(first + n - 1) on this thread.
template <class Load, class A>
typename A::state fold_range(uint64_t first, uint64_t n, Load const& load, A const& acc) {
  if constexpr (order_free_accumulator<A>) {
    typename A::state s{};
    if constexpr (requires { acc.deposit_range(s, first, n, load); })
      acc.deposit_range(s, first, n, load);
    else
      for (uint64_t i = 0; i < n; ++i) acc.deposit(s, load(first + i));
    return s;
  } else {
#if !defined(ISOBIT_ON_DEVICE)
    if constexpr (has_host_moments<Load, A>) {
      return fold_moments(load.data + first, n, acc);
    } else if constexpr (has_host_sums<Load, A>) {
      if (n >= 64) {
#if defined(ISOBIT_HAS_ISA_AVX2)
        if (has_avx2()) return fold_blocks<isa_avx2>(load, first, n, acc);
#endif
        return fold_blocks<isa_base>(load, first, n, acc);
      }
    }
#endif
    return fold_leaves(
        first, n, [&](uint64_t i) { return acc.lift(load(i)); }, acc);
  }
}

} // namespace detail

//! The tree over `load(0) .. load(n - 1)`, n >= 1, by the calling thread, or as at most 256 jobs of the host's executor.
//! A job folds an aligned range of a power of two of elements, so that its result is a node of the one tree; the nodes
//! wait on this stack (at most 16 KiB) and are folded here. Nothing is allocated. `load` and `acc` are called from
//! several threads at once when the executor has them. The caller (`reduce`) sets the floating-point environment of this
//! thread; jobs set that of theirs.
//!
//! Arrays of floats of any format with `plain`, `compensated` or `double_float`, and their products, run on vector
//! registers: 256 bytes a step, even and odd lanes of neighbouring vectors combined, in blocks of 32768 elements. So do
//! full nodes of 1024 elements of `moments` of float and double arrays. All else is called element by element.
template <class Executor, class Load, accumulator A>
typename A::state fold(host<Executor> const& g, uint64_t n, Load const& load, A const& acc) {
  using state = typename A::state;
  if constexpr (!stl::same_as<Executor, inline_executor>) {
    constexpr int most = sizeof(state) <= 64 ? 8 : sizeof(state) <= 1024 ? 4 : 1; // log2 of the number of jobs
    int const least = detail::root_level(n) - most, wanted = detail::root_level(g.grain > 0 ? g.grain : 1);
    int const level = least > wanted ? least : wanted;
    if (level < detail::root_level(n)) {
      state nodes[1 << most];
      uint64_t const jobs = ((n - 1) >> level) + 1, width = uint64_t{1} << level;
      g.run(jobs, [&](uint64_t j) {
        uint64_t const first = j << level;
        // A pool's thread has a floating-point environment of its own.
        nodes[j] = with_default_environment(
            [&] { return detail::fold_range(first, n - first < width ? n - first : width, load, acc); });
      });
      return detail::fold_leaves(
          0, jobs, [&](uint64_t j) { return nodes[j]; }, acc);
    }
  }
  return detail::fold_range(0, n, load, acc);
}

} // namespace isobit::inline bits1
#endif
