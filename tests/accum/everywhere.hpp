// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! One reduction by every group and in several geometries, compared with the order's definition byte by byte.
#pragma once

#include <isobit/device/reduce_kernel.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace everywhere {

using namespace isobit;

template <class T> bool same_bytes(T const& a, T const& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

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

//! What differs from the definition, by name; empty when nothing does. Every thread's copy is looked at.
template <class Load, class Acc> std::string differences(uint64_t n, Load const& load, Acc const& acc, uint64_t seed = 0) {
  using result = typename Acc::result;
  result const expected = specification(n, load, acc);
  std::string wrong;
  auto const expect = [&](bool ok, char const* who, unsigned width) {
    if (!ok) wrong += std::string(" ") + who + "(" + std::to_string(width) + ")";
  };
  auto const expect_all = [&](std::vector<result> const& got, char const* who, unsigned width) {
    bool ok = true;
    for (auto const& r : got) ok &= same_bytes(r, expected);
    expect(ok, who, width);
  };

  expect(same_bytes(isobit::reduce(thread{}, n, load, acc), expected), "thread", 1);
  expect(same_bytes(isobit::reduce(host(), n, load, acc), expected), "host", 1);
  auto const backwards = [](auto count, auto const& f) {
    while (count-- > 0) f(count);
  };
  auto cpu = host(backwards);
  cpu.grain = 16;
  expect(same_bytes(isobit::reduce(cpu, n, load, acc), expected), "executor", 1);

  for (unsigned width : {1u, 7u, 32u, 96u, 250u}) {
    std::vector<result> out(width);
    simt::config config{};
    config.block = {width, 1, 1};
    config.seed = seed + width;
    simt::launch(config, by_block<256, Load, Acc>, load, n, out.data(), acc);
    expect_all(out, "block", width);
  }
  auto const tiles = [&]<int P>(tile<P>) {
    std::vector<result> out(P < 32 ? 2 * P : 32);
    simt::launch(1, static_cast<unsigned>(out.size()), by_tile<P, Load, Acc>, load, n, out.data(), acc);
    expect_all(out, "tile", P);
  };
  tiles(tile<2>{});
  tiles(tile<8>{});
  tiles(tile<32>{});

  using space = grid_workspace<typename Acc::state>;
  std::vector<unsigned char> memory(space::bytes(n) + 16, 0xcd);
  void* const workspace = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
  std::memset(workspace, 0, 16);
  for (unsigned blocks : {1u, 3u}) {
    result out{};
    simt::config config{};
    config.grid = {blocks, 1, 1};
    config.block = {blocks == 1 ? 64u : 100u, 1, 1};
    config.seed = seed + blocks;
    config.resident = 2;
    simt::launch(config, device::reduce_kernel<tree, Load, Acc>, load, n, &out, workspace, acc);
    expect(same_bytes(out, expected), "grid", blocks);
  }

  if (n > 0) { // ranks of uneven length, merged
    using part = fragment<typename Acc::state, 24>;
    part whole(0);
    for (uint64_t first = 0, k = 0; first < n; ++k) {
      uint64_t const last = first + 1 + (k * 37 + seed) % (n / 3 + 1);
      part mine(first);
      for (; first < last && first < n; ++first) mine.append(acc, acc.lift(load(first)));
      whole = merge(acc, whole, mine);
    }
    expect(same_bytes(acc.finish(whole.root(acc)), expected), "fragments", 0);
  }
  return wrong;
}

} // namespace everywhere
