// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counter against the definition: every small size, random larger ones, mixed levels, sizes past 2^32.
#include "operators.hpp"

#include <isobit/arith/env.hpp>
#include <isobit/order/counter.hpp>
#include <isobit/order/interpret.hpp>

#include <doctest/doctest.h>

namespace {
using namespace order_test;

// The definition, restarted for every block: node(level, k) of the tree over [0, n).
template <class Acc, class Load>
typename Acc::state block_value(Acc const& acc, Load const& load, int level, uint64_t k, uint64_t n) {
  uint64_t const first = k << level, room = n - first, full = uint64_t(1) << level;
  return interpret<tree>(
      room < full ? room : full, [&](uint64_t i) { return load(first + i); }, acc);
}
} // namespace

TEST_CASE("counter equals the definition for every n up to 2100") {
  for_each_operator([](auto const& acc, auto const& load) {
    counter<typename std::remove_cvref_t<decltype(acc)>::state, 12> c;
    CHECK(c.empty());
    bool all = true;
    for (uint64_t n = 1; n <= 2100; ++n) {
      c.push(acc, acc.lift(load(n - 1)));
      all = all && c.units() == n && bits_equal(c.fold(acc), interpret<tree>(n, load, acc));
    }
    CHECK(all);
    c.clear();
    CHECK(c.empty());
    c.push(acc, acc.lift(load(5)));
    CHECK(bits_equal(c.fold(acc), acc.lift(load(5))));
  });
}

TEST_CASE("counter equals the definition for random n up to 100000") {
  dice roll(1);
  for (int round = 0; round < 12; ++round) {
    uint64_t const n = roll(2100, 100000);
    CAPTURE(n);
    for_each_operator([&](auto const& acc, auto const& load) {
      counter<typename std::remove_cvref_t<decltype(acc)>::state> c;
      for (uint64_t i = 0; i < n; ++i) c.push(acc, acc.lift(load(i)));
      CHECK(bits_equal(c.fold(acc), interpret<tree>(n, load, acc)));
    });
  }
}

TEST_CASE("block law: any aligned blocks, computed anywhere, may replace their elements") {
  dice roll(2);
  for (int round = 0; round < 200; ++round) {
    uint64_t const n = roll.size(12);
    CAPTURE(n);
    for_each_operator([&](auto const& acc, auto const& load) {
      using state = typename std::remove_cvref_t<decltype(acc)>::state;
      state const expected = interpret<tree>(n, load, acc);
      // All blocks of one level, the last one ragged.
      int const level = static_cast<int>(roll(0, 13));
      auto const block = [&](uint64_t k) { return block_value(acc, load, level, k, n); };
      CHECK(bits_equal(interpret<tree>(((n - 1) >> level) + 1, block, acc), expected));
      // Blocks of mixed levels.
      counter<state, 20> c;
      for (uint64_t at = 0; at < n;) {
        int const aligned = at == 0 ? 13 : detail::lowest_level(at);
        int const l = static_cast<int>(roll(0, static_cast<uint64_t>(aligned)));
        c.push(acc, block_value(acc, load, l, at >> l, n), l);
        at += uint64_t(1) << l;
      }
      CHECK(bits_equal(c.fold(acc), expected));
    });
  }
}

TEST_CASE("prefix law: the counter's fold after each element is the scan") {
  dice roll(3);
  for (int round = 0; round < 20; ++round) {
    uint64_t const n = roll.size(11);
    for_each_operator([&](auto const& acc, auto const& load) {
      using state = typename std::remove_cvref_t<decltype(acc)>::state;
      counter<state> c;
      state previous{};
      for (uint64_t i = 0; i < n; ++i) {
        c.push(acc, acc.lift(load(i)));
        state const scan = c.fold(acc);
        REQUIRE(bits_equal(scan, interpret<tree>(i + 1, load, acc)));
        // The scan is no left fold of itself; only an associative operator makes these equal.
        if constexpr (std::is_same_v<state, uint64_t>)
          if (i == 3) CHECK_FALSE(bits_equal(scan, acc.combine(previous, load(i))));
        previous = scan;
      }
    });
  }
}

TEST_CASE("sizes past 2^32: levels instead of elements") {
  // Every element is the same, so that a full node's value depends on its level only.
  std::vector<uint64_t> full{12345};
  while (full.size() < 63) full.push_back(scrambled.combine(full.back(), full.back()));
  auto const expected = [&](uint64_t n) { // the definition for equal elements
    int level = detail::lowest_level(n);
    uint64_t value = full[static_cast<size_t>(level)];
    for (n &= n - 1; n != 0; n &= n - 1)
      value = scrambled.combine(full[static_cast<size_t>(detail::lowest_level(n))], value);
    return value;
  };
  for (uint64_t n : {1, 2, 3, 700, 1023})
    CHECK(expected(n) == interpret<tree>(
                             n, [&](uint64_t) { return full[0]; }, scrambled));
  dice roll(4);
  for (int round = 0; round < 300; ++round) {
    uint64_t const n = (uint64_t(1) << roll(31, 61)) + roll(0, uint64_t(1) << roll(0, 33));
    CAPTURE(n);
    counter<uint64_t> c;
    for (uint64_t at = 0; at < n;) {
      int const aligned = at == 0 ? 62 : detail::lowest_level(at);
      int const room = detail::highest_level(n - at);
      int const most = aligned < room ? aligned : room;
      int const level = most > 3 && roll(0, 3) == 0 ? most - static_cast<int>(roll(1, 3)) : most;
      c.push(scrambled, full[static_cast<size_t>(level)], level);
      at += uint64_t(1) << level;
    }
    CHECK(c.units() == n);
    CHECK(c.fold(scrambled) == expected(n));
    CHECK(c.fold(scrambled) != expected(n - 1));
  }
}

TEST_CASE("a generated load of 2^32 + 5 elements reaches the right index") {
  // One marked element past 2^32: only the blocks around it are evaluated one by one.
  uint64_t const marked = (uint64_t(1) << 32) + 3, n = marked + 2;
  counter<uint64_t> c;
  c.push(plain<uint64_t>{}, 0, 32);
  for (uint64_t i = uint64_t(1) << 32; i < n; ++i) c.push(plain<uint64_t>{}, i == marked ? 1 : 0);
  CHECK(c.units() == n);
  CHECK(c.fold(plain<uint64_t>{}) == 1);
}

TEST_CASE("absent operands are skipped: a sum of -0 is -0, and padding with +0 would lose it") {
  // By bits: a compiler under -fno-signed-zeros may choose either zero for a literal.
  auto const zero = [](bool negative) { return from_bits<float>(negative ? 0x80000000u : 0); };
  auto const negative_zero = [&](uint64_t) { return zero(true); };
  plain<float> const sum{};
  for (uint64_t n : {1, 2, 3, 5, 31, 33, 1000, 1023, 1025}) {
    CAPTURE(n);
    counter<float> c;
    for (uint64_t i = 0; i < n; ++i) c.push(sum, zero(true));
    CHECK(to_bits(c.fold(sum)) == 0x80000000u);
    CHECK(to_bits(interpret<tree>(n, negative_zero, sum)) == 0x80000000u);
    CHECK(to_bits(interpret<lanes<16>>(n, negative_zero, sum)) == 0x80000000u);
    CHECK(to_bits(interpret<sequential>(n, negative_zero, sum)) == 0x80000000u);
    // The control: the next power of two, padded with the "identity" +0.
    uint64_t const padded = (uint64_t(1) << detail::root_level(n)) * 2;
    CHECK(to_bits(interpret<tree>(
              padded, [&](uint64_t i) { return zero(i < n); }, sum)) == 0);
  }
  CHECK(to_bits(interpret<tree>(
            2, [&](uint64_t i) { return zero(i == 0); }, sum)) == 0);
}

TEST_CASE("special values reach the result from every position with the class of the plain expression") {
  environment_guard const guard; // subnormal numbers count, even in a program that flushes them
  plain<float> const sum{};
  float const inf = from_bits<float>(0x7f800000u), nan = from_bits<float>(0xffc00123u), tiny = from_bits<float>(1);
  for (uint64_t n : {1, 2, 7, 33, 100})
    for (uint64_t at = 0; at < n; ++at) {
      auto const with = [&](float special) {
        counter<float> c;
        for (uint64_t i = 0; i < n; ++i) c.push(sum, i == at ? special : -1.5f);
        return sum.finish(c.fold(sum));
      };
      REQUIRE(to_bits(with(inf)) == 0x7f800000u);
      REQUIRE(to_bits(with(-inf)) == 0xff800000u);
      REQUIRE(to_bits(with(nan)) == 0x7fc00000u);
    }
  counter<float> c;
  for (int i = 0; i < 4; ++i) c.push(sum, tiny);
  CHECK(to_bits(c.fold(sum)) == 4); // subnormal numbers count
  auto const overflowing = [](uint64_t i) { return i < 2 ? 3.4028235e38f : -3.4028235e38f; };
  CHECK(to_bits(sum.finish(interpret<tree>(4, overflowing, sum))) == 0x7fc00000u);       // inf + -inf
  CHECK(to_bits(sum.finish(interpret<sequential>(4, overflowing, sum))) == 0x7f800000u); // inf stays
}

TEST_CASE("the orders are different expressions") {
  auto const load = [](uint64_t i) { return mixed(i); };
  for (uint64_t n : {3, 5, 17, 100, 1000}) {
    CAPTURE(n);
    uint64_t const t = interpret<tree>(n, load, scrambled);
    CHECK(interpret<lanes<1>>(n, load, scrambled) == t);
    CHECK(interpret<lanes<1024>>(n, load, scrambled) == t); // n <= L: one element a lane
    if (n > 3) CHECK(interpret<sequential>(n, load, scrambled) != t);
    CHECK(interpret<lanes<2>>(n, load, scrambled) != t);
    CHECK(interpret<tree>(
              n, [&](uint64_t i) { return load(n - 1 - i); }, scrambled) != t);
    CHECK(interpret<tree>(
              n, [&](uint64_t i) { return load(i == 0   ? 1
                                               : i == 1 ? 0
                                                        : i); }, scrambled) != t);
  }
}

TEST_CASE("the tree's float sum keeps the error bound of pairwise summation") {
  dice roll(5);
  double worst = 0;
  for (int round = 0; round < 100; ++round) {
    uint64_t const n = roll.size(14);
    double exact = 0, magnitude = 0; // 53 bits against 24: exact enough for the bound
    for (uint64_t i = 0; i < n; ++i) exact += float_at(i), magnitude += float_at(i) < 0 ? -float_at(i) : float_at(i);
    double const error = static_cast<double>(interpret<tree>(n, float_at, plain<float>{})) - exact;
    double const du = detail::root_level(n) * 0x1p-24, bound = du / (1 - du) * magnitude;
    CHECK((error < 0 ? -error : error) <= bound);
    if (bound > 0) worst = error / bound > worst ? error / bound : worst;
  }
  CHECK(worst > 0); // additions did round
}
