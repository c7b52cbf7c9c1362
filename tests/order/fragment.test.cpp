// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fragment law: any split, any grouping of the merges, the tree's bits.
#include "operators.hpp"

#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {
using namespace order_test;

template <class Acc> using state_of = typename std::remove_cvref_t<Acc>::state;

template <int Depth = 64, class Acc, class Load>
auto fragment_over(Acc const& acc, Load const& load, uint64_t first, uint64_t last) {
  fragment<state_of<Acc>, Depth> f(first);
  for (uint64_t i = first; i < last; ++i) f.append(acc, acc.lift(load(i)));
  return f;
}

} // namespace

TEST_CASE("fragment law for every split of every small range into three") {
  auto const load = [](uint64_t i) { return mixed(i); };
  for (uint64_t n = 1; n <= 40; ++n) {
    auto const whole = fragment_over<6>(scrambled, load, 0, n);
    REQUIRE(whole.root(scrambled) == interpret<tree>(n, load, scrambled));
    for (uint64_t a = 0; a <= n; ++a)
      for (uint64_t b = a; b <= n; ++b) {
        auto const x = fragment_over<6>(scrambled, load, 0, a), y = fragment_over<6>(scrambled, load, a, b),
                   z = fragment_over<6>(scrambled, load, b, n);
        REQUIRE(bits_equal(merge(scrambled, merge(scrambled, x, y), z), whole));
        REQUIRE(bits_equal(merge(scrambled, x, merge(scrambled, y, z)), whole));
      }
  }
}

TEST_CASE("fragment law for random splits, merged in random groupings") {
  dice roll(10);
  for (int round = 0; round < 60; ++round) {
    uint64_t const n = roll.size(13);
    auto const cuts = roll.cuts(n, 20);
    CAPTURE(n);
    for_each_operator([&](auto const& acc, auto const& load) {
      std::vector<fragment<state_of<decltype(acc)>, 14>> parts;
      for (size_t p = 0; p + 1 < cuts.size(); ++p) parts.push_back(fragment_over<14>(acc, load, cuts[p], cuts[p + 1]));
      while (parts.size() > 1) {
        auto const i = static_cast<std::ptrdiff_t>(roll(0, parts.size() - 2));
        parts[static_cast<size_t>(i)] = merge(acc, parts[static_cast<size_t>(i)], parts[static_cast<size_t>(i) + 1]);
        parts.erase(parts.begin() + i + 1);
      }
      CHECK(bits_equal(parts[0].root(acc), interpret<tree>(n, load, acc)));
      CHECK(bits_equal(parts[0], fragment_over<14>(acc, load, 0, n)));
    });
  }
}

TEST_CASE("the nodes are the maximal aligned blocks of the range") {
  auto const load = [](uint64_t i) { return mixed(i); };
  dice roll(11);
  for (int round = 0; round < 2000; ++round) {
    uint64_t const first = roll(0, 600), last = first + roll(0, 600);
    auto const f = fragment_over(scrambled, load, first, last);
    int size = 0;
    for (uint64_t at = first; at < last; ++size) {
      int level = 0; // grow while the parent still starts here and fits
      while ((at >> level & 1) == 0 && at + (uint64_t(2) << level) <= last) ++level;
      REQUIRE(f.level_at(at) == level);
      auto const block = [&](uint64_t i) { return load(at + i); };
      REQUIRE(f[size] == interpret<tree>(uint64_t(1) << level, block, scrambled));
      at += uint64_t(1) << level;
    }
    REQUIRE(f.size() == size);
    REQUIRE(f.used_bytes() == 24 + 8 * static_cast<size_t>(size));
    if (last > 1) REQUIRE(size <= 2 * detail::root_level(last));
  }
}

TEST_CASE("a fragment travels as its leading bytes") {
  auto const load = [](uint64_t i) { return float_at(i); };
  plain<float> const sum{};
  auto const left = fragment_over<10>(sum, load, 0, 300), right = fragment_over<10>(sum, load, 300, 777);
  fragment<float, 10> received;
  std::memcpy(&received, &right, right.used_bytes());
  CHECK(bits_equal(received, right));
  CHECK(testing::bits_equal(merge(sum, left, received).root(sum), interpret<tree>(777, load, sum)));
}

TEST_CASE("block values enter a fragment as nodes") {
  auto const load = [](uint64_t i) { return mixed(i); };
  auto const block = [&](int level, uint64_t k) {
    return fragment_of<12>(interpret<tree>(
                               uint64_t(1) << level, [&](uint64_t i) { return load((k << level) + i); }, scrambled),
                           level, k);
  };
  auto const middle = merge(scrambled, block(4, 1), block(5, 1)); // [16, 32) and [32, 64)
  CHECK(bits_equal(middle, fragment_over<12>(scrambled, load, 16, 64)));
  auto const all = merge(scrambled, fragment_over<12>(scrambled, load, 0, 16), middle);
  CHECK(all.size() == 1);
  CHECK(all.root(scrambled) == interpret<tree>(64, load, scrambled));
}

TEST_CASE("fragments past 2^32") {
  std::vector<uint64_t> full{99};
  while (full.size() < 63) full.push_back(scrambled.combine(full.back(), full.back()));
  // The widest nodes that fit, from `first` on.
  auto const over = [&](uint64_t first, uint64_t last) {
    fragment<uint64_t> f(first);
    while (first < last) {
      int level = 0;
      while ((first >> level & 1) == 0 && first + (uint64_t(2) << level) <= last) ++level;
      f.append(scrambled, full[static_cast<size_t>(level)], level);
      first += uint64_t(1) << level;
    }
    return f;
  };
  dice roll(12);
  for (int round = 0; round < 200; ++round) {
    uint64_t const n = (uint64_t(1) << roll(32, 60)) + roll(0, uint64_t(1) << roll(0, 40));
    counter<uint64_t> expected;
    for (int level = 62; level >= 0; --level)
      if ((n >> level & 1) != 0) expected.push(scrambled, full[static_cast<size_t>(level)], level);
    auto const cuts = roll.cuts(n, 9);
    fragment<uint64_t> all(n); // from the right this time
    for (size_t p = cuts.size() - 1; p > 0; --p) all = merge(scrambled, over(cuts[p - 1], cuts[p]), all);
    CHECK(all.root(scrambled) == expected.fold(scrambled));
  }
}

TEST_CASE("empty fragments change nothing") {
  auto const load = [](uint64_t i) { return mixed(i); };
  auto const f = fragment_over(scrambled, load, 3, 9);
  CHECK(bits_equal(merge(scrambled, fragment<uint64_t>(3), f), f));
  CHECK(bits_equal(merge(scrambled, f, fragment<uint64_t>(9)), f));
  CHECK(fragment<uint64_t>(7).empty());
  CHECK(fragment<uint64_t>(7).size() == 0);
  CHECK_FALSE(f.empty());
}

TEST_CASE("misuse is refused and named") {
  auto const load = [](uint64_t i) { return mixed(i); };
  auto const left = fragment_over(scrambled, load, 0, 5), right = fragment_over(scrambled, load, 5, 12);
  CHECK(adjacent(left, right));
  CHECK_FALSE(adjacent(right, left));
  CHECK_THROWS_AS(merge(scrambled, right, left), invalid_argument);
  CHECK_THROWS_WITH(merge(scrambled, left, fragment_over(scrambled, load, 6, 12)),
                    "isobit::fragment::append: right must be adjacent: to start where the left one ends");
  CHECK_THROWS_AS(right.root(scrambled), invalid_argument);
  CHECK_THROWS_AS(fragment<uint64_t>().root(scrambled), invalid_argument);
  fragment<uint64_t, 4> f(3);
  CHECK_THROWS_AS(f.append(scrambled, 1, 1), invalid_argument);  // 3 is odd
  CHECK_THROWS_AS(f.append(scrambled, 1, -1), invalid_argument); // no such level
  CHECK_THROWS_AS(f.append(scrambled, 1, 64), invalid_argument);
  CHECK(f.empty()); // nothing was changed
  fragment<uint64_t, 4> top(8);
  top.append(scrambled, 1, 3);
  CHECK_THROWS_AS(top.append(scrambled, 1), invalid_argument); // past 2^4
  CHECK_THROWS_AS(fragment_of(uint64_t(1), 64, 0), invalid_argument);
}

TEST_CASE("control: wrong merges give other bits") {
  auto const load = [](uint64_t i) { return affine_at(i); };
  uint64_t const n = 1000, cut = 400;
  affine const expected = interpret<tree>(n, load, composed);
  auto const left = fragment_over(composed, load, 0, cut), right = fragment_over(composed, load, cut, n);
  CHECK(merge(composed, left, right).root(composed) == expected);
  // The right part first.
  auto const rotated = [&](uint64_t i) { return load((i + cut) % n); };
  CHECK_FALSE(interpret<tree>(n, rotated, composed) == expected);
  // Each part folded to one value, then the two values: not the tree, unless the cut is a node's edge.
  auto const root_of = [](uint64_t first, uint64_t last) {
    return interpret<tree>(
        last - first, [&](uint64_t i) { return float_at(first + i); }, plain<float>{});
  };
  float const tree_sum = interpret<tree>(n, float_at, plain<float>{});
  CHECK(testing::bits_equal(plain<float>{}.combine(root_of(0, 512), root_of(512, n)), tree_sum));
  auto const scrambled_root = [](uint64_t first, uint64_t last) {
    return interpret<tree>(
        last - first, [&](uint64_t i) { return mixed(first + i); }, scrambled);
  };
  CHECK(scrambled.combine(scrambled_root(0, cut), scrambled_root(cut, n)) != scrambled_root(0, n));
}
