// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `isobit::simt::launch`: runs a kernel on the CPU, every thread of it, under a schedule that a seed decides.
#pragma once

#include <isobit/error.hpp>
#include <isobit/simt/crew.hpp>

#include <functional>
#include <tuple>

namespace isobit::inline bits1::simt {

namespace detail {
constexpr extent3 to_extent(extent3 e) { return e; }
template <std::integral I> constexpr extent3 to_extent(I n) {
  return {n < 0 || uint64_t(n) > 0xffffffffu ? 0u : static_cast<uint32_t>(n), 1, 1};
}
template <class T>
concept extent_like = std::integral<std::remove_cvref_t<T>> || std::convertible_to<T, extent3>;

inline void check(config const& c) {
  if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0)
    throw invalid_argument("simt::launch", "grid", "at least 1 block");
  if (c.block.x == 0 || c.block.y == 0 || c.block.z == 0)
    throw invalid_argument("simt::launch", "block", "at least 1 thread");
  if (c.block.count() > 1024 || c.block.z > 64)
    throw invalid_argument("simt::launch", "block", "at most 1024 threads, 64 in z");
  if (c.grid.y > 65535 || c.grid.z > 65535 || c.grid.x > 0x7fffffffu)
    throw invalid_argument("simt::launch", "grid", "at most 2^31 - 1 in x and 65535 in y and z");
  if (c.stack_bytes < 4096) throw invalid_argument("simt::launch", "stack_bytes", "at least", 4096, "bytes");
}
} // namespace detail

//! Runs `kernel(args...)` once for each thread of the grid and returns when all have ended.
//!
//! The kernel is a function or function object that asks isobit's groups, isobit::machine or, after
//! `#include <isobit/simt/cuda.hpp>`, CUDA's own words for its position, barriers, shuffles and atomics. Each thread
//! gets its own copy of by-value parameters. Exactly one simulated thread runs at a time, so an access is never torn;
//! which one is decided by `c.order` and `c.seed`: the same configuration replays the same interleaving.
//!
//! Throws kernel_error if the kernel deadlocks, diverges or misuses a warp collective, isobit::invalid_argument for an
//! impossible geometry, and whatever the kernel throws. The other threads of the launch are unwound first.
template <class Kernel, class... Args> report launch(config const& c, Kernel&& kernel, Args&&... args) {
  detail::check(c);
  if (simulator::current != nullptr)
    throw kernel_error(error_kind::nested_launch, {}, {}, {}, "isobit::simt: a kernel cannot launch a kernel");
  std::tuple<std::decay_t<Kernel>, std::decay_t<Args>...> const call(std::forward<Kernel>(kernel),
                                                                     std::forward<Args>(args)...);
  detail::job j(c, &call, [](void const* bound) {
    std::apply([](auto const& f, auto const&... a) { std::invoke(f, a...); }, *static_cast<decltype(call)*>(bound));
  });
  return detail::run(j);
}

//! The same with the seed 0: `launch(8, 256, kernel, args...)`. Grid and block: integers, extent3 or dim3.
template <detail::extent_like Grid, detail::extent_like Block, class Kernel, class... Args>
report launch(Grid const& grid, Block const& block, Kernel&& kernel, Args&&... args) {
  return launch(config{.grid = detail::to_extent(grid), .block = detail::to_extent(block)},
                std::forward<Kernel>(kernel), std::forward<Args>(args)...);
}

//! This block's dynamic shared memory (`config::shared_bytes`), aligned to 128 bytes and poisoned with 0xFF.
template <class T> T* dynamic_shared() { return static_cast<T*>(detail::worker::here().dynamic_shared()); }

//! Fills `x`, shared memory of the calling thread's block, with 0xFF bytes, once a block: to be called by every thread
//! before its first use of `x`.
template <class T> void poison(T& x) { machine::shared_memory(&x, sizeof x); }

} // namespace isobit::inline bits1::simt
