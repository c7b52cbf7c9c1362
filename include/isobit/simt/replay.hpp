// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A configuration as a line of C++ with which the same interleaving runs again, and the smallest one that still fails.
#pragma once

#include <isobit/simt/config.hpp>

#include <string>
#include <vector>

namespace isobit::inline bits1::simt {

namespace detail {
inline std::string extent_text(extent3 e) {
  std::string out = "{" + std::to_string(e.x);
  if (e.y != 1 || e.z != 1) out += ", " + std::to_string(e.y);
  if (e.z != 1) out += ", " + std::to_string(e.z);
  return out + "}";
}
inline bool same_extent(extent3 a, extent3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
} // namespace detail

//! `isobit::simt::config{.grid = {3}, .block = {96}, .seed = 17}`: pass it to `launch` to see the same run again.
//! Members that have their default values are left out.
inline std::string replay(config const& c) {
  config const normal;
  std::string out;
  auto const put = [&](char const* name, std::string const& value) {
    out += (out.empty() ? "." : ", .") + std::string(name) + " = " + value;
  };
  auto const number = [&](char const* name, uint64_t value, uint64_t usual) {
    if (value != usual) put(name, std::to_string(value));
  };
  auto const flag = [&](char const* name, bool value, bool usual) {
    if (value != usual) put(name, value ? "true" : "false");
  };
  put("grid", detail::extent_text(c.grid));
  put("block", detail::extent_text(c.block));
  number("seed", c.seed, normal.seed);
  if (c.order == schedule::in_order) put("order", "isobit::simt::schedule::in_order");
  if (c.order == schedule::reverse) put("order", "isobit::simt::schedule::reverse");
  number("resident", c.resident, normal.resident);
  flag("preempt", c.preempt, normal.preempt);
  flag("exited_threads_count", c.exited_threads_count, normal.exited_threads_count);
  number("shared_bytes", c.shared_bytes, normal.shared_bytes);
  number("stack_bytes", c.stack_bytes, normal.stack_bytes);
  number("spin_limit", c.spin_limit, normal.spin_limit);
  return "isobit::simt::config{" + out + "}";
}

//! What `minimise` found.
struct minimised {
  config smallest;   //!< still fails
  uint64_t runs = 0; //!< how often `fails` was asked
};

//! The smallest configuration that still fails, from one that does: fewer blocks, narrower blocks, fewer resident
//! blocks, no preemption, a simpler schedule, a smaller seed, one after the other until nothing helps or `fails` has
//! been asked `most_runs` times. `fails(config) -> bool` runs the kernel and says whether it went wrong; a kernel that
//! works at some geometries only must return false at the others. A kernel of one dimension stays one.
template <class Fails> minimised minimise(Fails const& fails, config start, uint64_t most_runs = 300) {
  minimised m{start, 0};
  auto const try_one = [&](config const& c) {
    if (m.runs >= most_runs) return false;
    ++m.runs;
    if (!fails(c)) return false;
    m.smallest = c;
    return true;
  };
  // A few seeds each: a smaller geometry often needs another one.
  auto const try_seeds = [&](config c) {
    for (uint64_t k = 0; k < (c.order == schedule::random ? 4u : 1u); ++k) {
      if (try_one(c)) return true;
      c.seed = k;
    }
    return false;
  };
  auto const shrink = [&](uint32_t extent3::*axis, extent3 config::*which) {
    for (bool better = true; better;) {
      better = false;
      uint32_t const now = m.smallest.*which.*axis;
      for (uint32_t const next : {uint32_t(1), uint32_t(2), now / 4, now / 2, now - now / 4, now - 1}) {
        if (next == 0 || next >= now) continue;
        config c = m.smallest;
        c.*which.*axis = next;
        if (try_seeds(c)) {
          better = true;
          break;
        }
      }
    }
  };
  for (bool better = true; better && m.runs < most_runs;) {
    config const before = m.smallest;
    for (auto which : {&config::grid, &config::block})
      for (auto axis : {&extent3::z, &extent3::y, &extent3::x}) shrink(axis, which);
    better = !detail::same_extent(before.grid, m.smallest.grid) || !detail::same_extent(before.block, m.smallest.block);
  }
  for (schedule const order : {schedule::in_order, schedule::reverse}) {
    if (m.smallest.order != schedule::random) break;
    config c = m.smallest;
    c.order = order;
    c.seed = 0;
    try_one(c);
  }
  if (m.smallest.order == schedule::random) {
    config c = m.smallest;
    c.preempt = false;
    if (c.preempt != m.smallest.preempt) try_one(c);
    for (uint64_t seed = 0; seed < 8 && seed < m.smallest.seed; ++seed) {
      c = m.smallest;
      c.seed = seed;
      if (try_one(c)) break;
    }
  }
  return m;
}

} // namespace isobit::inline bits1::simt
