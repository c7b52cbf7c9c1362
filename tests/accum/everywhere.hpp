// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One reduction by every group and in several geometries, compared with the order's definition byte by byte.
#pragma once

#include "../everyone.hpp"

#include <isobit/device/reduce_kernel.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/invariant.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <cstring>
#include <vector>

namespace everywhere {

using namespace isobit;

using testing::bits_equal;

template <class Load, class Acc> typename Acc::result specification(uint64_t n, Load const& load, Acc const& acc) {
  return n == 0 ? acc.empty() : acc.finish(interpret<tree>(n, load, acc));
}

template <int N, class Load, class Acc>
ISOBIT_KERNEL void by_block(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  ISOBIT_SHARED block_storage<N, typename Acc::state> memory;
  auto const b = block(memory);
  out[b.thread_rank()] = isobit::reduce(b, n, load, acc);
}
template <int P, class Load, class Acc>
ISOBIT_KERNEL void by_tile(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  out[machine::thread_rank()] = isobit::reduce(tile<P>{}, n, load, acc);
}

//! Whether all of them have the bits of the definition: the first gate that fails, or the last. Every thread's copy is
//! looked at.
template <class Load, class Acc>
testing::verdict equal(uint64_t n, Load const& load, Acc const& acc, uint64_t seed = 0) {
  using result = typename Acc::result;
  result const expected = specification(n, load, acc);
  auto v = bits_equal(isobit::reduce(thread{}, n, load, acc), expected);
  auto const also = [&](auto const& gate) {
    if (v) v = gate();
  };
  also([&] { return bits_equal(isobit::reduce(host(), n, load, acc), expected); });
  auto const backwards = [](auto count, auto const& f) {
    while (count-- > 0) f(count);
  };
  also([&] {
    auto cpu = host(backwards);
    cpu.grain = 16;
    return bits_equal(isobit::reduce(cpu, n, load, acc), expected);
  });

  auto const on_threads = [&](auto const& kernel, std::vector<uint32_t> const& widths) {
    also([&] {
      return testing::same_as_host(
          [&](simt::config const& c) {
            auto out = testing::filled<result>(c.block.x, 0xff);
            simt::launch(c, kernel, load, n, out.data(), acc);
            return everyone(out);
          },
          [&] { return all_received(expected); }, {.blocks = widths, .grids = {1}, .schedules = 3, .seed = seed});
    });
  };
  on_threads(by_block<256, Load, Acc>, {1, 7, 32, 96, 250});
  on_threads(by_tile<2, Load, Acc>, {4});
  on_threads(by_tile<8, Load, Acc>, {16});
  on_threads(by_tile<32, Load, Acc>, {32});

  using space = grid_workspace<typename Acc::state>;
  testing::placed<unsigned char> workspace(std::vector<unsigned char>(space::bytes(n), 0xcd), 0);
  std::memset(workspace.data(), 0, 16);
  also([&] {
    return testing::same_as_host(
        [&](simt::config c) {
          auto out = testing::filled<result>(1, 0xff);
          c.resident = 2;
          simt::launch(c, device::reduce_kernel<tree, Load, Acc>, load, n, out.data(),
                       static_cast<void*>(workspace.data()), acc);
          return out;
        },
        [&] { return std::vector<result>{expected}; },
        {.blocks = {64, 100}, .grids = {1, 3}, .schedules = 3, .seed = seed});
  });
  if (n == 0) return v;

  auto const merged = [&](testing::split const& s) { // ranks of uneven length
    using part = fragment<typename Acc::state, 24>;
    part whole(0);
    for (auto const p : s.parts()) {
      part mine(p.first);
      for (uint64_t i = p.first; i < p.last; ++i) mine.append(acc, acc.lift(load(i)));
      whole = merge(acc, whole, mine);
    }
    return acc.finish(whole.root(acc));
  };
  std::vector<uint64_t> cuts{0};
  for (uint64_t k = 0; cuts.back() < n; ++k) {
    uint64_t const next = cuts.back() + 1 + (k * 37 + seed) % (n / 3 + 1);
    cuts.push_back(next < n ? next : n);
  }
  also([&] { return bits_equal(merged(testing::split(cuts)), expected); });
  also([&] { return testing::partition_invariant(merged, testing::splits(n)); });
  return v;
}

} // namespace everywhere
