// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `same_as_host`: a kernel gives the bits of a host function on the simulator; `device_same_as_host`: on a GPU.
#pragma once

#include <isobit/testing/invariant.hpp>

namespace isobit::inline bits1::testing {

struct host_options {
  std::vector<uint32_t> blocks{1, 31, 32, 33, 96, 256};
  std::vector<uint32_t> grids{1, 2, 5};
  uint64_t schedules = 4; //!< for each geometry: in order, in reverse, then random ones (`simt::vary`)
  uint64_t seed = 0;
  uint64_t chunk = 1024; //!< elements of a chunk in the report
  bool shrink = true;    //!< whether a failing configuration is made smaller for the report
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

} // namespace detail

//! `kernel(simt::config) -> results` runs a kernel on the simulator with the given grid, block and schedule;
//! `reference() -> results` computes the same on the host. Their bits must be equal for every geometry and schedule of
//! `o`. A failing configuration is shrunk (`simt::minimise`), and the report has the line that replays it.
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
        simt::config smallest = c;
        if (o.shrink) {
          auto const fails = [&](simt::config const& s) {
            verdict ignored("");
            return !detail::wrongness(kernel, s, wanted.results, o.chunk, ignored).empty();
          };
          smallest = simt::minimise(fails, c).smallest;
          std::string const told = detail::wrongness(kernel, smallest, wanted.results, o.chunk, v);
          if (told.empty())
            smallest = c; // not a function of the configuration: the caller's own randomness
          else
            why = told;
        }
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
