// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Device-wide scans on the simulator: in one pass and in two, in poisoned workspaces.
#pragma once

#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/device/whole_scan_kernel.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <cstring>

namespace scan_test {

namespace simt = isobit::simt;
namespace testing = isobit::testing;

//! A workspace for n elements, every byte 0xff but those that must be zero.
template <class State> class workspace {
public:
  workspace(std::uint64_t n, isobit::uint32_t threads)
      : memory_(testing::filled<unsigned char>(isobit::scan_workspace<State>::bytes(n, threads) + 256, 0xff)) {
    base_ = memory_.data() + (256 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 256) % 256;
    std::memset(base_, 0, isobit::scan_workspace<State>::zero_bytes(n, threads));
  }
  void* data() { return base_; }

private:
  std::vector<unsigned char> memory_;
  unsigned char* base_;
};

//! One pass over n elements.
template <class Form, class Load, class Store, class Acc>
simt::report one_pass(simt::config const& c, Form const& form, Load const& load, std::uint64_t n, Store const& store,
                      Acc const& acc) {
  workspace<typename Acc::state> memory(n, c.block.x);
  return simt::launch(c, isobit::device::scan_kernel<1024, Form, Load, Store, Acc>, form, load, n, store, memory.data(),
                      acc);
}

//! Two passes.
template <class Form, class Load, class Store, class Acc>
void two_passes(simt::config const& c, Form const& form, Load const& load, std::uint64_t n, Store const& store,
                Acc const& acc) {
  using state = typename Acc::state;
  auto nodes = testing::filled<state>(isobit::scan_workspace<state>::chunks(n, c.block.x) + 1, 0xff);
  simt::launch(c, isobit::device::scan_nodes_kernel<1024, Load, Acc>, load, n, nodes.data(), acc);
  simt::launch(c, isobit::device::scan_after_nodes_kernel<1024, Form, Load, Store, Acc>, form, load, n, store,
               static_cast<state const*>(nodes.data()), acc);
}

//! x scanned on the host, by one thread, element by element; one more element that nobody may touch.
template <class Form, class Load, class Acc>
auto by_thread(Form const& form, Load const& load, std::uint64_t n, Acc const& acc) {
  auto out = testing::filled<typename Acc::result>(n + 1, 0xa5);
  isobit::detail::scan_elements(isobit::thread{}, n, form, load,
                                [&](std::uint64_t i, typename Acc::result const& r) { out[i] = r; }, acc);
  return out;
}

//! Both ways, at these geometries, equal the thread.
template <class Form, class Load, class Acc>
void check_grid(Form const& form, Load const& load, std::uint64_t n, Acc const& acc, testing::host_options const& o) {
  using result = typename Acc::result;
  auto const wanted = by_thread(form, load, n, acc);
  for (bool one : {true, false}) {
    CAPTURE(n);
    CAPTURE(one);
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          auto out = testing::filled<result>(n + 1, 0xa5);
          isobit::detail::results<result> const store{out.data()};
          if (one)
            one_pass(c, form, load, n, store, acc);
          else
            two_passes(c, form, load, n, store, acc);
          return out;
        },
        [&] { return wanted; }, o));
  }
}

} // namespace scan_test
