// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `reduce`: one value from n elements, in a named order, by any group of threads, with the same bits.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/algo/fold_block.hpp>
#include <isobit/algo/fold_grid.hpp>
#include <isobit/algo/fold_thread.hpp>
#include <isobit/algo/fold_tile.hpp>
#include <isobit/order/order.hpp>
#if !defined(__CUDACC_RTC__)
#include <isobit/algo/fold_host.hpp>
#include <isobit/arith/env.hpp>
#include <isobit/error.hpp>
#endif

namespace isobit::inline bits1 {

namespace detail {

// A user's load: called with the index type that the user counts in; narrow floats become float.
template <class Index, class Load> struct indexed : width_hint_of<Load> {
  Load load;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD constexpr auto operator()(uint64_t i) const { return decode_element(load(static_cast<Index>(i))); }
};
template <class Index, class Load> ISOBIT_HD constexpr indexed<Index, Load> as_load(Load const& load) {
  return {{}, load};
}
// Loads of arrays decode, and count in any integer.
template <class Index, class Load>
  requires requires { Load::has_vectors; }
ISOBIT_HD constexpr Load as_load(Load const& load) {
  return load;
}

template <class Load> using loaded = stl::remove_cvref_t<decltype(stl::declval<Load const&>()(uint64_t{}))>;

struct plain_sum {}; // the default: plain<the element's type>

// An accumulator as it is; a binary operator as an accumulator over T.
template <class T> ISOBIT_HD constexpr plain<T> as_accumulator(plain_sum) { return {}; }
template <class T, accumulator A> ISOBIT_HD constexpr A as_accumulator(A const& acc) { return acc; }
template <class T, class Op>
  requires(!accumulator<Op>)
ISOBIT_HD constexpr with_operator<T, Op> as_accumulator(Op const& op) {
  return {op};
}

// What a misused call returns: converts to anything, so that the one sentence is not followed by others.
struct misuse {
  template <class T> ISOBIT_HD operator T() const;
};

template <class Op, class T>
concept folds = stl::same_as<Op, plain_sum> || accumulator<Op> || requires(Op const op, T a) { static_cast<T>(op(a, a)); };

// True when `reduce` can be instantiated; otherwise one sentence says what is wrong.
template <class Order, class Index, class Load, class Op> ISOBIT_HD constexpr bool can_reduce() {
  constexpr bool order = is_order<Order>;
  static_assert(order, "isobit: the order of a reduction is tree, lanes<L> or sequential");
  constexpr bool loads = requires(Load const load, Index i) { load(i); };
  static_assert(loads, "isobit: reduce needs a load: something to call with an index");
  if constexpr (order && loads) {
    using element = loaded<indexed<Index, Load>>;
    if constexpr (meant_as_accumulator<Op>) {
      if constexpr (!is_accumulator<Op>()) return false;
      constexpr bool input = requires(Op const op, element x) { op.lift(x); };
      static_assert(input, "isobit: the elements of the load do not convert to the accumulator's input");
      return input;
    } else {
      constexpr bool op = folds<Op, element>;
      static_assert(op, "isobit: reduce needs an accumulator, or a binary operator over the element type");
      return op;
    }
  }
  return false;
}

template <class T> struct is_grid_result : stl::false_type {};
template <class T> struct is_grid_result<grid_result<T>> : stl::true_type {};

// A lane of `lanes<L>`: the tree over every L-th element, walked by one thread.
template <uint64_t L, class Load, class Acc> struct lane_of {
  static constexpr int width_hint = 1;
  Load const& load;
  uint64_t n;
  Acc const& acc;
  ISOBIT_CALLS_USER_CODE
  ISOBIT_HD typename Acc::state operator()(uint64_t l) const {
    auto const& elements = load;
    auto const element = [&, l](uint64_t row) { return elements(row * L + l); };
    return fold(thread{}, (n - l + L - 1) / L, element, acc);
  }
};

// Every order comes down to trees over some range.
ISOBIT_CALLS_USER_CODE
template <class Order, class Group, class Load, class Acc>
ISOBIT_HD auto fold_in(Group const& g, uint64_t n, Load const& load, Acc const& acc) {
  if constexpr (stl::same_as<Order, tree>) {
    return fold(g, n, load, acc);
  } else if constexpr (stl::same_as<Order, sequential>) {
    // Nothing can be shared: every thread walks the whole range.
    auto s = acc.lift(load(uint64_t{0}));
    for (uint64_t i = 1; i < n; ++i) s = acc.combine(s, acc.lift(load(i)));
    return s;
  } else {
    constexpr uint64_t L = Order::count;
    return fold(g, n < L ? n : L, lane_of<L, Load, Acc>{load, n, acc}, over_states<Acc>{acc});
  }
}

ISOBIT_CALLS_USER_CODE
template <class Order, class Group, class Load, class Acc>
ISOBIT_HD auto reduce_elements(Group const& g, uint64_t n, Load const& load, Acc const& acc) {
  using state = decltype(fold_in<Order>(g, n, load, acc));
  if constexpr (is_grid_result<state>::value) {
    using result = grid_result<typename Acc::result>;
    static_assert(!stl::same_as<Order, sequential>, "isobit: a grid cannot share out the sequential order");
    if (n == 0) return result{g.block_rank() == 0, acc.empty()};
    auto const r = fold_in<Order>(g, n, load, acc);
    return result{r.here, r.here ? acc.finish(r.value) : acc.empty()};
  } else {
    if (n == 0) return acc.empty();
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
    if constexpr (is_host<Group>)
      return with_default_environment([&] { return acc.finish(fold_in<Order>(g, n, load, acc)); });
    else
#endif
      return acc.finish(fold_in<Order>(g, n, load, acc));
  }
}

} // namespace detail

//! Folds `load(0), ..., load(n - 1)` in the order `Order` and returns the accumulator's result.
//!
//! - `Order`: `tree` (default), `lanes<L>` or `sequential`; docs/order.md defines them.
//! - `g`: who works together: `thread`, `tile<P>`, `block`, `grid`, or `host`. All threads of the group pass the same
//!   arguments, and all receive the same bits. A `grid` returns `grid_result`: the value, in one block.
//! - `n`: how many elements; any integer type. `load` is called with indices of that type, each once or more often,
//!   from any thread. n >= 0.
//! - `load`: anything callable with an index. `contiguous{pointer}` and `map(pointer, f)` read 16 bytes at a time.
//! - `op`: an accumulator (`plain<T>`, `compensated<T>`, a user's own) or a binary operator over the element type,
//!   commutative or not. Default: the flag-proof sum; `half`, `bf16` and `fp8` elements are summed in float.
//!
//! A `host` group throws `invalid_argument` when n is negative; on a device that is a precondition.
//! n = 0 gives `op.empty()` (0 for sums; `T{}` for a bare operator).
//! Guarantee: run-to-run, geometry, target, partition, neighbourhood. A `host` group computes in the default
//! floating-point environment and leaves the caller's as it was (flush-to-zero and rounding mode included).
//! Cost: n - 1 combinations, one read of the input; `lanes<L>` runs on L threads at most, `sequential` on one.
ISOBIT_CALLS_USER_CODE
template <class Order = tree, class Group, stl::integral Index, class Load, class Op = detail::plain_sum>
ISOBIT_HD auto reduce(Group const& g, Index n, Load const& load, Op const& op = {}) {
  if constexpr (detail::can_reduce<Order, Index, Load, Op>()) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
    if constexpr (is_host<Group> && stl::is_signed_v<Index>)
      if (n < 0) throw invalid_argument("reduce", "n", "0 or more");
#endif
    auto const elements = detail::as_load<Index>(load);
    auto const acc = detail::as_accumulator<detail::loaded<decltype(elements)>>(op);
    return detail::reduce_elements<Order>(g, static_cast<uint64_t>(n), elements, acc);
  } else {
    return detail::misuse{};
  }
}

//! The same for an array: `reduce(g, x, n)` folds `x[0] .. x[n - 1]`. A `host` group also checks that `x` is not null
//! when n > 0 and that it is aligned for its type.
template <class Order = tree, class Group, class T, stl::integral Index, class Op = detail::plain_sum>
ISOBIT_HD auto reduce(Group const& g, T const* x, Index n, Op const& op = {}) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) {
    if (x == nullptr && n > 0) throw invalid_argument("reduce", "x", "non-null when n > 0");
    if (reinterpret_cast<stl::uintptr_t>(x) % alignof(T) != 0)
      throw invalid_argument("reduce", "x", "aligned to", alignof(T), "bytes");
  }
#endif
  return reduce<Order>(g, n, contiguous<T>{x}, op);
}

} // namespace isobit::inline bits1
