// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `resumable`: stop at any step, write the state as bytes, restore it elsewhere, go on: the bits of the straight run.
#pragma once

#include <isobit/error.hpp>
#include <isobit/testing/cases.hpp>
#include <isobit/testing/philox.hpp>

#include <algorithm>
#include <set>

namespace isobit::inline bits1::testing {

//! The bytes of a trivially copyable state, and back: what an operation without `to_bytes` and `from_bytes` gets.
template <class State> std::vector<unsigned char> bytes_of(State const& s) {
  static_assert(__is_trivially_copyable(State),
                "isobit: a state that is not trivially copyable needs to_bytes and from_bytes");
  std::vector<unsigned char> out(sizeof s);
  std::memcpy(out.data(), static_cast<void const*>(&s), sizeof s);
  return out;
}
template <class State> State from_bytes_of(std::vector<unsigned char> const& bytes) {
  alignas(State) unsigned char memory[sizeof(State)];
  if (bytes.size() != sizeof memory)
    throw invalid_argument("testing::from_bytes_of", "bytes", "exactly", sizeof memory, "bytes");
  std::memcpy(memory, bytes.data(), sizeof memory);
  return *reinterpret_cast<State*>(memory);
}

//! Up to `most` places to stop in [0, n]: the ends, places around powers of two, and random ones.
inline std::vector<uint64_t> stops(uint64_t n, uint64_t most = 64, uint64_t seed = 0) {
  std::set<uint64_t> out;
  if (n < most) {
    for (uint64_t i = 0; i <= n; ++i) out.insert(i);
  } else {
    out = {0, 1, n - 1, n};
    for (uint64_t p = 2; p < n && out.size() + 3 < most; p *= 2) out.insert({p - 1, p, p + 1});
    for (uint64_t k = 0; out.size() < most; ++k) out.insert(philox_word(seed, 0x73746f70u, k) % (n + 1));
  }
  return {out.begin(), out.end()};
}

namespace detail {

template <class Op> using state_of = std::remove_cvref_t<decltype(std::declval<Op&>().start())>;

//! The state as a new process would have it: another copy of the operation, and the bytes.
template <class Op> state_of<Op> through_bytes(Op const& original, Op& op, state_of<Op> const& s) {
  if constexpr (requires { op.to_bytes(s); }) {
    std::vector<unsigned char> const bytes = op.to_bytes(s);
    op = original;
    return op.from_bytes(bytes);
  } else {
    std::vector<unsigned char> const bytes = bytes_of(s);
    op = original;
    return from_bytes_of<state_of<Op>>(bytes);
  }
}

//! Runs the steps [0, n) and stops at each of `points` (ascending).
template <class Op> ran run_with_stops(Op const& original, uint64_t n, std::vector<uint64_t> const& points) {
  return run_once([&] {
    Op op = original;
    auto s = op.start();
    size_t next = 0;
    for (uint64_t i = 0; i <= n; ++i) {
      for (; next < points.size() && points[next] == i; ++next) s = through_bytes(original, op, s);
      if (i < n) op.step(s, i);
    }
    return outputs_of(op.finish(s));
  });
}

} // namespace detail

//! An operation `op` has
//! - `start() -> state`, `step(state&, i)` for i = 0, 1, ..., n - 1, and `finish(state) -> results` (see `outputs_of`);
//! - `to_bytes(state) -> std::vector<unsigned char>` and `from_bytes(bytes) -> state`, or a trivially copyable state.
//! It is copied: after a stop a fresh copy goes on, as in a new process, with nothing but the bytes. What else a step
//! keeps in the operation is lost, as it should be.
//!
//! Passes when the straight run, a run with a stop at each of `points`, and one that stops at all of them have the same
//! bits.
//!
//!     CHECK(isobit::testing::resumable(op, n));
template <class Op>
requires std::copy_constructible<Op>
[[nodiscard]] verdict resumable(Op const& op, uint64_t n, std::vector<uint64_t> points) {
  verdict v("resumable");
  if (points.empty()) return v.remark("no point to stop at");
  std::sort(points.begin(), points.end());
  if (points.back() > n)
    return v.fail("a point to stop at, " + std::to_string(points.back()) + ", is beyond the " + std::to_string(n) +
                  " steps");
  detail::ran const straight = detail::run_with_stops(op, n, {});
  if (straight.error) return v.fail("the straight run threw: " + *straight.error);
  auto const same = [&](std::vector<uint64_t> const& at, std::string const& where) {
    detail::ran const r = detail::run_with_stops(op, n, at);
    v.add_runs(1);
    detail::comparison const d = r.error ? detail::of_other_shape("the resumed run threw: " + *r.error)
                                         : detail::compare(straight.results, r.results, 1024);
    v.add_compared(d.compared);
    if (d.equal()) return true;
    v.first_difference(d.different, d.output, d.index);
    v.fail("stopped " + where + " of " + std::to_string(n) + ", the run ends differently\n  " + d.text +
           "\n  (one: straight, other: resumed)\n  again: isobit::testing::resumable(op, " + std::to_string(n) + ", {" +
           std::to_string(at[0]) + "})");
    return false;
  };
  for (uint64_t const p : points)
    if (!same({p}, "before step " + std::to_string(p))) return v;
  same(points, "at all " + std::to_string(points.size()) + " points");
  return v;
}

//! The same at `stops(n)`.
template <class Op> [[nodiscard]] verdict resumable(Op const& op, uint64_t n) { return resumable(op, n, stops(n)); }

} // namespace isobit::inline bits1::testing
