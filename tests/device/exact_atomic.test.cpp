// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact sums on the simulator: groups of every geometry, and atomic deposits under many schedules.
#include "../everyone.hpp"

#include <doctest/doctest.h>

#include <isobit/device/exact_atomic.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using isobit::exact;
using isobit::exact_cell;
using isobit::exact_dot;
using isobit::testing::bits_equal;
namespace simt = isobit::simt;
namespace testing = isobit::testing;

template <class A> using cell_of = exact_cell<typename A::grid>;

template <class T> std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& v : x) {
    v = isobit::from_bits<T>(static_cast<isobit::float_bits<T>>(random()));
    if (!isobit::is_finite(v)) v = -1;
  }
  return x;
}

template <class A, class T> typename A::state sum_of(A const& acc, std::vector<T> const& x) {
  typename A::state s{};
  for (T const& v : x) acc.deposit(s, v);
  return s;
}

// Each thread straight into global memory.
template <class A, class T> ISOBIT_KERNEL void deposit_kernel(T const* x, std::size_t n, cell_of<A>* total) {
  using namespace isobit::machine;
  std::size_t const step = grid_blocks() * block_threads();
  for (std::size_t i = block_rank() * block_threads() + thread_rank(); i < n; i += step)
    atomic_deposit(A{}, total, x[i]);
}

// Into shared memory first; one thread of each block carries it over.
template <class A, class T> ISOBIT_KERNEL void by_block_kernel(T const* x, std::size_t n, cell_of<A>* total) {
  using namespace isobit::machine;
  ISOBIT_SHARED cell_of<A> mine;
  clear(mine, thread_rank(), block_threads());
  sync_block();
  std::size_t const step = grid_blocks() * block_threads();
  for (std::size_t i = block_rank() * block_threads() + thread_rank(); i < n; i += step)
    atomic_deposit(A{}, &mine, x[i]);
  sync_block();
  if (thread_rank() == 0) atomic_merge(total, read(mine));
}

// Control: the same with a float.
ISOBIT_KERNEL void float_kernel(float const* x, std::size_t n, std::uint32_t* total) {
  using namespace isobit;
  std::size_t const step = machine::grid_blocks() * machine::block_threads();
  for (std::size_t i = machine::block_rank() * machine::block_threads() + machine::thread_rank(); i < n; i += step) {
    std::uint64_t seen = machine::here().atomic(atomic_op::load, total, 4, 0, 0, memory_order::relaxed, {});
    for (;;) {
      std::uint32_t const next = to_bits(add(from_bits<float>(static_cast<std::uint32_t>(seen)), x[i]));
      std::uint64_t const old =
          machine::here().atomic(atomic_op::compare_exchange, total, 4, next, seen, memory_order::relaxed, {});
      if (old == seen) break;
      seen = old;
    }
  }
}

template <class A, class T> ISOBIT_KERNEL void tile_kernel(T const* x, std::size_t n, typename A::result* out) {
  auto const r = isobit::reduce(isobit::tile<16>{}, x, n, A{});
  out[isobit::machine::thread_rank()] = r;
}

struct geometry {
  unsigned grid, block;
};
constexpr geometry geometries[] = {{1, 1}, {1, 33}, {2, 32}, {3, 5}, {4, 64}, {2, 96}};

} // namespace

TEST_CASE_TEMPLATE("exact atomics: the bytes of the host at every geometry and schedule", T, float, double) {
  using A = exact<T>;
  A const acc;
  for (std::size_t n : {0u, 1u, 2u, 97u, 400u}) {
    auto x = numbers<T>(n, n);
    if (n == 97) x[50] = -T(0);
    auto const expected = sum_of(acc, x);
    CAPTURE(n);
    for (auto const& g : geometries)
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            cell_of<A> total{}, by_block{};
            simt::launch(c, deposit_kernel<A, T>, x.data(), n, &total);
            simt::launch(c, by_block_kernel<A, T>, x.data(), n, &by_block);
            return std::pair(read(total), read(by_block));
          },
          [&] { return std::pair(expected, expected); }, {.blocks = {g.block}, .grids = {g.grid}, .schedules = 8}));
  }
}

TEST_CASE("exact atomics: products, special values") {
  auto const a = numbers<float>(150, 1), b = numbers<float>(150, 2);
  std::vector<isobit::factors<float>> x;
  for (std::size_t i = 0; i < a.size(); ++i) x.push_back({a[i], b[i]});
  auto const expected = sum_of(exact_dot<float>{}, x);
  std::vector<isobit::factors<double>> y;
  for (auto const& p : x) y.push_back({double(p.a) * 1e-250, double(p.b) * 0x1.23456789abcdep+900});
  auto const expected_double = sum_of(exact_dot<double>{}, y);
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        cell_of<exact_dot<float>> total{};
        simt::launch(c, by_block_kernel<exact_dot<float>, isobit::factors<float>>, x.data(), x.size(), &total);
        cell_of<exact_dot<double>> total_double{};
        simt::launch(c, deposit_kernel<exact_dot<double>, isobit::factors<double>>, y.data(), y.size(), &total_double);
        return std::pair(read(total), read(total_double));
      },
      [&] { return std::pair(expected, expected_double); }, {.blocks = {40}, .grids = {2}, .schedules = 7}));
  float const inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (float special : {inf, -inf, nan, -0.f, std::numeric_limits<float>::denorm_min()})
    for (std::size_t at : {0u, 31u, 32u, 69u}) {
      std::vector<float> v(70, -0.f);
      v[at] = special;
      auto const want = sum_of(exact<float>{}, v);
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            cell_of<exact<float>> total{};
            simt::launch(c, by_block_kernel<exact<float>, float>, v.data(), v.size(), &total);
            return read(total);
          },
          [&] { return want; }, {.blocks = {35}, .grids = {2}, .schedules = 3, .seed = at}));
    }
}

TEST_CASE("exact atomics: a limb at the edge of its band carries, whatever the schedule") {
  exact<float> const acc;
  std::vector<float> x;
  for (int i = 0; i < 96; ++i) x.push_back(i % 7 == 3 ? -0x1.fffffep-9f : 0x1.fffffep-10f);
  auto const added = sum_of(acc, x);
  for (bool negative : {false, true})
    for (std::uint64_t distance : {0u, 1u, 5000u}) {
      cell_of<exact<float>> start{};
      for (auto& limb : start.limb) {
        if (&limb == start.limb + start.limbs - 1) continue;
        std::uint64_t const edge = (std::uint64_t(1) << 62) - 1 - distance;
        limb = negative ? 0 - edge : edge;
      }
      start.flags = isobit::exact_number;
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            auto total = start;
            simt::launch(c, deposit_kernel<exact<float>, float>, x.data(), x.size(), &total);
            bool in_band = true;
            for (auto limb : total.limb) in_band = in_band && isobit::detail::in_band(limb);
            return std::pair(read(total), in_band);
          },
          [&] { return std::pair(read(start) + added, true); }, {.blocks = {48}, .grids = {2}, .schedules = 62}));
    }
  // The top limb cannot carry.
  cell_of<exact<float>> full{};
  full.limb[full.limbs - 1] = (std::uint64_t(1) << 62) - 1;
  auto s = acc.lift(1.f);
  s.word[exact<float>::grid::words - 1] = 5;
  atomic_merge(&full, s);
  CHECK(isobit::is_nan(acc.finish(read(full))));
  s.word[exact<float>::grid::words - 1] = std::uint64_t(1) << 62;
  cell_of<exact<float>> other{};
  atomic_merge(&other, s);
  CHECK(isobit::is_nan(acc.finish(read(other))));
}

TEST_CASE("exact atomics: threads of a host program") {
  exact<double> const acc;
  auto const x = numbers<double>(20000, 9);
  cell_of<exact<double>> total{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < x.size(); i += 3) atomic_deposit(acc, &total, x[i]);
    });
  for (auto& t : threads) t.join();
  CHECK(bits_equal(read(total), sum_of(acc, x)));
}

TEST_CASE("exact atomics: control, a float in the cell's place depends on the schedule") {
  std::vector<float> const x = numbers<float>(64, 4);
  std::vector<float> small(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    small[i] = isobit::from_bits<float>((isobit::to_bits(x[i]) & 0x87ffffffu) | 0x38000000u);
  CHECK(testing::not_repeatable(
      [&](testing::trial const& t) {
        std::uint32_t total = 0;
        simt::launch(t.config({.grid = {2}, .block = {32}}), float_kernel, small.data(), small.size(), &total);
        return total;
      },
      {.runs = 32}));
}

TEST_CASE_TEMPLATE("exact: tile, block and grid give the bits of the host", A, exact<float>, exact<double>,
                   exact<double, float>) {
  using T = typename A::element;
  using R = typename A::result;
  using load = isobit::contiguous<T>;
  A const acc;
  for (std::size_t n : {1u, 15u, 64u, 257u, 9001u}) {
    auto const x = numbers<T>(n, n);
    CAPTURE(n);
    R const expected = isobit::reduce(isobit::host(), x.data(), n, acc);
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          auto lanes = testing::filled<R>(16, 0xff);
          simt::launch(c, tile_kernel<A, T>, x.data(), n, lanes.data());
          return everyone(lanes);
        },
        [&] { return all_received(expected); }, {.blocks = {16}, .grids = {1}}));
    for (auto const& g : {geometry{1, 1}, geometry{1, 7}, geometry{2, 32}, geometry{3, 100}, geometry{2, 256}})
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            std::vector<std::uint64_t> workspace(isobit::grid_workspace<typename A::state>::bytes(n) / 8 + 4, 0);
            R out{};
            simt::launch(c, isobit::device::reduce_kernel<isobit::tree, load, A>, load{x.data()}, std::uint64_t(n), &out,
                         static_cast<void*>(workspace.data()), acc);
            return out;
          },
          [&] { return expected; }, {.blocks = {g.block}, .grids = {g.grid}, .schedules = 3, .seed = n}));
  }
}
