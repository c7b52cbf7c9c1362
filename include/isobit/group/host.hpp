// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The group of CPU threads that work for the calling thread: alone, or with those of an executor.
#pragma once

#include <isobit/config.hpp>

#if !defined(__CUDACC_RTC__)

namespace isobit::inline bits1 {

//! An executor `e` runs jobs: `e(count, f)` calls `f(i)` once for every `i` in `[0, count)`, in any order, on any
//! threads, at the same time or not, and returns when all calls have returned. It may be a lambda around the caller's
//! thread pool or an OpenMP loop:
//!
//!     auto pool = [](std::uint64_t count, auto const& f) {
//!     #pragma omp parallel for schedule(dynamic)
//!       for (std::uint64_t i = 0; i < count; ++i) f(i);
//!     };
//!     float sum = isobit::reduce(isobit::host(pool), x, n);
//!
//! An exception of `f` is the executor's to handle; isobit's own jobs throw only what a user's callable throws.
template <class E>
concept executor = requires(E const& e, void (&f)(uint64_t)) {
  e(uint64_t{}, f);
};

//! The executor that runs every job on the calling thread, in order.
struct inline_executor {
  template <class F> constexpr void operator()(uint64_t count, F const& f) const {
    for (uint64_t i = 0; i < count; ++i) f(i);
  }
};

//! The host as a group: `host()` is the calling thread, `host(executor)` shares the work out as jobs. Which executor
//! runs them, in what order and on how many threads changes the time only, never a bit.
//! `grain`: the fewest elements worth a job of their own (a power of two; other numbers are rounded up).
template <executor Executor = inline_executor> struct host {
  constexpr host() = default;
  constexpr explicit host(Executor e, uint64_t grain_ = 1u << 15) : run(static_cast<Executor&&>(e)), grain(grain_) {}

  [[no_unique_address]] Executor run{};
  uint64_t grain = 1u << 15;
};
host()->host<inline_executor>;
template <class Executor> host(Executor) -> host<Executor>;
template <class Executor> host(Executor, uint64_t) -> host<Executor>;

namespace detail {
template <class T> inline constexpr bool is_host_group = false;
template <class Executor> inline constexpr bool is_host_group<host<Executor>> = true;
} // namespace detail

//! `T` is `host<...>`.
template <class T>
concept is_host = detail::is_host_group<stl::remove_cvref_t<T>>;

} // namespace isobit::inline bits1
#endif
