// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `same_as_host`: a kernel gives the bits of a host function on the simulator; `device_same_as_host`: on a GPU.
#pragma once

#include <isobit/testing/invariant.hpp>

namespace isobit::inline bits1::testing {

//! How `same_as_host` looks for a smaller configuration that fails.
enum class shrinking {
  none,
  listed, //!< the listed grids and blocks only: the kernel may be made for these
  any     //!< any smaller grid and block: the kernel gives the reference's results at every geometry
};

struct host_options {
  std::vector<uint32_t> blocks{1, 31, 32, 33, 96, 256};
  std::vector<uint32_t> grids{1, 2, 5};
  uint64_t schedules = 4; //!< for each geometry: in order, in reverse, then random ones (`simt::vary`)
  uint64_t seed = 0;
  uint64_t chunk = 1024; //!< elements of a chunk in the report
  shrinking shrink = shrinking::listed;
};

namespace detail {

//! Why the run with this configuration is wrong; empty when it is right.
template <class Kernel>
std::string wrongness(Kernel const& kernel, simt::config const& c, outputs const& wanted, uint64_t chunk, verdict& v) {
  ran const got = run_once(kernel, c);
  v.add_runs(1);
  if (got.error) return "the kernel threw: " + *got.error;
  comparison const d = compare(wanted, got.results, chunk);
  v.add_compared(d.compared);
  if (!d.equal()) v.first_difference(d.different, d.output, d.index);
  return d.equal() ? "" : d.text + "\n  (one: host, other: kernel)";
}

//! A smaller configuration for which `fails` holds, or `c`.
template <class Fails> simt::config smaller(Fails const& fails, simt::config const& c, host_options const& o) {
  if (o.shrink == shrinking::none) return c;
  if (o.shrink == shrinking::any) return simt::minimise(fails, c).smallest;
  std::vector<extent3> shapes; // x: grid, y: block
  for (uint32_t const grid : o.grids)
    for (uint32_t const block : o.blocks)
      if (uint64_t(grid) * block < c.grid.count() * c.block.count()) shapes.push_back({grid, block, 1});
  std::sort(shapes.begin(), shapes.end(),
            [](extent3 a, extent3 b) { return uint64_t(a.x) * a.y < uint64_t(b.x) * b.y; });
  simt::config found = c;
  for (extent3 const shape : shapes) {
    // A smaller geometry often needs another schedule.
    for (uint64_t k = 0; k < 16; ++k) {
      simt::config const s = simt::vary({.grid = {shape.x}, .block = {shape.y}, .seed = o.seed}, k);
      if (!fails(s)) continue;
      found = s;
      break;
    }
    if (found.grid.x == shape.x && found.block.x == shape.y) break;
  }
  auto const fails_there = [&](simt::config const& s) {
    return simt::detail::same_extent(s.grid, found.grid) && simt::detail::same_extent(s.block, found.block) && fails(s);
  };
  return simt::minimise(fails_there, found).smallest;
}

} // namespace detail

//! `kernel(simt::config) -> results` runs a kernel on the simulator with the given grid, block and schedule;
//! `reference() -> results` computes the same on the host. Their bits must be equal for every geometry and schedule of
//! `o`. A failing configuration is shrunk, and the report has the line that replays it: the smallest of the listed
//! geometries, or of all (`shrinking::any`), with the simplest schedule and seed that still fail.
//!
//!     CHECK(isobit::testing::same_as_host(
//!         [&](isobit::simt::config const& c) { isobit::simt::launch(c, kernel, x.data(), out.data()); return out; },
//!         [&] { return reference(x); }));
template <class Kernel, class Reference>
[[nodiscard]] verdict same_as_host(Kernel const& kernel, Reference const& reference, host_options const& o = {}) {
  verdict v("same_as_host");
  detail::ran const wanted = detail::run_once(reference);
  if (wanted.error) return v.fail("the reference threw: " + *wanted.error);
  for (uint32_t const grid : o.grids) {
    for (uint32_t const block : o.blocks) {
      for (uint64_t k = 0; k < o.schedules; ++k) {
        simt::config const c = simt::vary({.grid = {grid}, .block = {block}, .seed = o.seed}, k);
        std::string why = detail::wrongness(kernel, c, wanted.results, o.chunk, v);
        if (why.empty()) continue;
        auto const fails = [&](simt::config const& s) {
          verdict ignored("");
          return !detail::wrongness(kernel, s, wanted.results, o.chunk, ignored).empty();
        };
        simt::config smallest = detail::smaller(fails, c, o);
        std::string const told = detail::wrongness(kernel, smallest, wanted.results, o.chunk, v);
        if (told.empty())
          smallest = c; // not a function of the configuration: the caller's own randomness
        else
          why = told;
        return v.fail(why + "\n  first seen at " + simt::replay(c) + "\n  again: " + simt::replay(smallest));
      }
    }
  }
  return v;
}

//! `device(geometry) -> results`, which launches on a GPU and copies the results back, gives the bits of
//! `reference() -> results` for every grid and block of `o`. Not yet run on a GPU.
template <class Device, class Reference>
[[nodiscard]] verdict device_same_as_host(Device const& device, Reference const& reference,
                                          host_options const& o = {}) {
  verdict v("device_same_as_host");
  detail::ran const wanted = detail::run_once(reference);
  if (wanted.error) return v.fail("the reference threw: " + *wanted.error);
  for (uint32_t const grid : o.grids) {
    for (uint32_t const block : o.blocks) {
      geometry const g(grid, block);
      detail::ran const got = detail::run_once(device, g);
      v.add_runs(1);
      if (got.error) return v.fail("the run threw: " + *got.error + detail::again(g));
      detail::comparison const d = detail::compare(wanted.results, got.results, o.chunk);
      v.add_compared(d.compared);
      if (!d.equal())
        return v.first_difference(d.different, d.output, d.index)
            .fail(d.text + "\n  (one: host, other: device)" + detail::again(g));
    }
  }
  return v;
}

} // namespace isobit::inline bits1::testing
