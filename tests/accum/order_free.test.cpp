// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's accumulator that says that it is order-free: groups deposit instead of walking the tree, with the same bytes; and
// one that does not say so is led through the tree.
#include "../everyone.hpp"

#include <doctest/doctest.h>

#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <cstdint>
#include <vector>

namespace {

namespace simt = isobit::simt;
namespace testing = isobit::testing;
using isobit::testing::bits_equal;

// How often each residue modulo 7 occurs.
struct histogram {
  using input = std::uint32_t;
  struct state {
    std::uint32_t count[7];
  };
  using result = std::uint64_t;
  static constexpr bool order_free = true;
  void deposit(state& s, input x) const { ++s.count[x % 7]; }
  state lift(input x) const {
    state s{};
    deposit(s, x);
    return s;
  }
  state combine(state left, state const& right) const {
    for (int i = 0; i < 7; ++i) left.count[i] += right.count[i];
    return left;
  }
  result finish(state const& s) const {
    std::uint64_t h = 0;
    for (auto c : s.count) h = h * 100003 + c;
    return h;
  }
  result empty() const { return finish(state{}); }
};

// Sees the order; has deposit, but makes no promise.
struct first : histogram {
  static constexpr bool order_free = false;
  void deposit(state& s, input) const { s.count[0] = 99; }
  state combine(state const& left, state const&) const { return left; }
};

static_assert(isobit::order_free_accumulator<histogram> && !isobit::order_free_accumulator<first>);

template <class Group, class A> ISOBIT_KERNEL void tile_kernel(std::uint32_t const* x, std::size_t n, std::uint64_t* out, A acc) {
  out[isobit::machine::thread_rank()] = isobit::reduce(Group{}, x, n, acc);
}
template <class A> ISOBIT_KERNEL void block_kernel(std::uint32_t const* x, std::size_t n, std::uint64_t* out, A acc) {
  ISOBIT_SHARED isobit::block<256>::storage<A> memory;
  out[isobit::machine::thread_rank()] = isobit::reduce(isobit::block(memory), x, n, acc);
}

} // namespace

TEST_CASE_TEMPLATE("order-free accumulators with every group", A, histogram, first) {
  A const acc;
  for (std::size_t n : {0u, 1u, 3u, 100u, 1025u}) {
    std::vector<std::uint32_t> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<std::uint32_t>(i * i + 3);
    std::uint64_t expected = acc.empty();
    if (n > 0) {
      auto s = acc.lift(x[0]);
      for (std::size_t i = 1; i < n; ++i) s = acc.combine(s, acc.lift(x[i]));
      expected = acc.finish(s);
    }
    CAPTURE(n);
    CHECK(bits_equal(isobit::reduce(isobit::host(), x.data(), n, acc), expected));
    CHECK(bits_equal(isobit::reduce(isobit::thread{}, x.data(), n, acc), expected));
    auto const check = [&](auto const& kernel, std::vector<isobit::uint32_t> const& widths) {
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            auto out = testing::filled<std::uint64_t>(c.block.x, 0xff);
            simt::launch(c, kernel, x.data(), n, out.data(), acc);
            return everyone(out);
          },
          [&] { return all_received(expected); }, {.blocks = widths, .grids = {1}, .schedules = 3, .seed = n}));
    };
    check(block_kernel<A>, {1, 8, 31, 96, 256});
    check(tile_kernel<isobit::tile<8>, A>, {8});
  }
}
