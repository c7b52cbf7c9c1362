// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The slot law (absent slots are skipped, whoever computes which part) and the segment law.
#include "operators.hpp"

#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/order/sparse.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

namespace {
using namespace order_test;

template <class Acc> using state_of = typename std::remove_cvref_t<Acc>::state;

// node(level, k) where only the indices in `present` (sorted) exist: the definition again.
template <class Acc, class Load>
std::optional<state_of<Acc>> slot_node(Acc const& acc, Load const& load, std::vector<uint64_t> const& present,
                                       int level, uint64_t k) {
  auto const from = std::lower_bound(present.begin(), present.end(), k << level);
  if (from == present.end() || *from >> level != k) return std::nullopt;
  if (level == 0) return acc.lift(load(k));
  auto const left = slot_node(acc, load, present, level - 1, 2 * k);
  auto const right = slot_node(acc, load, present, level - 1, 2 * k + 1);
  if (!left) return right;
  if (!right) return left;
  return acc.combine(*left, *right);
}

std::vector<uint64_t> random_slots(dice& roll, int bits, uint64_t count) {
  std::vector<uint64_t> present;
  for (uint64_t i = 0; i < count; ++i) present.push_back(roll(0, (uint64_t(1) << bits) - 1));
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  return present;
}

template <class Acc, class Load>
auto sparse_root(Acc const& acc, Load const& load, std::vector<uint64_t> const& present) {
  sparse_counter<state_of<Acc>> s;
  for (uint64_t i : present) s.push(acc, i, acc.lift(load(i)));
  return s.fold(acc);
}
} // namespace

TEST_CASE("slot law: the sparse counter skips absent slots as the definition does") {
  dice roll(20);
  for (int round = 0; round < 300; ++round) {
    int const bits = static_cast<int>(roll(0, 16));
    auto const present = random_slots(roll, bits, roll(1, 64));
    for_each_operator([&](auto const& acc, auto const& load) {
      CHECK(bits_equal(sparse_root(acc, load, present), *slot_node(acc, load, present, bits, 0)));
      CHECK(bits_equal(sparse_root(acc, load, present),
                       *slot_node(acc, load, present, bits + 3, 0))); // n does not matter
    });
  }
}

TEST_CASE("slot law: with every slot present it is the tree") {
  auto const load = [](uint64_t i) { return mixed(i); };
  sparse_counter<uint64_t, 11> s;
  CHECK(s.empty());
  for (uint64_t n = 1; n <= 2048; ++n) {
    s.push(scrambled, n - 1, load(n - 1));
    REQUIRE(s.fold(scrambled) == interpret<tree>(n, load, scrambled));
  }
}

TEST_CASE("slot law: far indices") {
  auto const load = [](uint64_t i) { return mixed(i); };
  dice roll(21);
  for (int round = 0; round < 100; ++round) {
    auto const present = random_slots(roll, 62, roll(1, 40));
    CHECK(sparse_root(scrambled, load, present) == *slot_node(scrambled, load, present, 62, 0));
  }
  sparse_counter<uint64_t> s;
  s.push(scrambled, 0, 1);
  s.push(scrambled, ~uint64_t(0), 2);
  CHECK(s.fold(scrambled) == scrambled.combine(1, 2));
}

TEST_CASE("slot law: top-k experts over 1, 2, 4, 8 and 16 ranks") {
  dice roll(22);
  plain<float> const sum{};
  int other_order = 0;
  for (int token = 0; token < 500; ++token) {
    auto const experts = random_slots(roll, 7, 6);
    auto const load = [&](uint64_t e) { return float_at(e * 1000 + static_cast<uint64_t>(token)); };
    float const expected = sparse_root(sum, load, experts);
    for (int rank_bits : {0, 1, 2, 3, 4}) {
      int const per_rank = 7 - rank_bits; // 2^per_rank experts on each rank
      sparse_counter<float, 7> over_ranks;
      for (uint64_t rank = 0; rank < uint64_t(1) << rank_bits; ++rank) {
        std::vector<uint64_t> mine;
        for (uint64_t e : experts)
          if (e >> per_rank == rank) mine.push_back(e);
        if (!mine.empty()) over_ranks.push(sum, rank << per_rank, sparse_root(sum, load, mine));
      }
      REQUIRE(testing::bits_equal(over_ranks.fold(sum), expected));
    }
    // The control: a chain over ranks is another expression.
    float chain = load(experts[0]);
    for (size_t i = 1; i < experts.size(); ++i) chain = sum.combine(chain, load(experts[i]));
    other_order += to_bits(chain) != to_bits(expected);
  }
  CHECK(other_order > 50);
}

TEST_CASE("slot law: expert outputs 1e8, 1, -1e8, 1") {
  float const out[] = {1e8f, 1, -1e8f, 1};
  sparse_counter<float, 2> s;
  for (uint64_t k = 0; k < 4; ++k) s.push(plain<float>{}, k, out[k]);
  CHECK(s.fold(plain<float>{}) == 0); // (1e8 + 1) + (-1e8 + 1), by the tree
  float const left_to_right = interpret<sequential>(
      4, [&](uint64_t k) { return out[k]; }, plain<float>{});
  CHECK(left_to_right == 1);
}

TEST_CASE("slot misuse is refused and named") {
  sparse_counter<uint64_t, 4> s;
  CHECK_THROWS_AS(s.push(scrambled, 16, 1), invalid_argument);
  s.push(scrambled, 5, 1);
  CHECK_THROWS_WITH(s.push(scrambled, 5, 1),
                    "isobit::sparse_counter::push: index must be above the index pushed before it");
  CHECK_THROWS_AS(s.push(scrambled, 4, 1), invalid_argument);
  CHECK(s.fold(scrambled) == 1);
}

TEST_CASE("segment law: a segment is indexed from its own start, wherever it lies and beside whatever") {
  dice roll(23);
  for (int round = 0; round < 40; ++round) {
    uint64_t const size = roll.size(11), before = roll(0, 5000), after = roll(0, 100);
    for_each_operator([&](auto const& acc, auto const& load) {
      using state = state_of<decltype(acc)>;
      state const expected = interpret<tree>(size, load, acc);
      // One pass over before | segment | after with one counter, as a segmented reduction walks its input.
      counter<state> c;
      std::vector<state> sums;
      for (uint64_t length : {before, size, after}) {
        for (uint64_t i = 0; i < length; ++i) c.push(acc, acc.lift(length == size ? load(i) : load(i + 77777)));
        if (!c.empty()) sums.push_back(c.fold(acc));
        c.clear();
      }
      CHECK(bits_equal(sums[before == 0 ? 0 : 1], expected));
    });
  }
  // The control: indices counted from the start of the whole input make the bits depend on the place.
  auto const load = [](uint64_t i) { return mixed(i); };
  auto const in_place = [&](uint64_t before) {
    counter<uint64_t> c;
    for (uint64_t i = 0; i < before + 100; ++i) c.push(plain<uint64_t>{}, 0); // position only
    fragment<uint64_t> f(before);
    for (uint64_t i = 0; i < 100; ++i) f.append(scrambled, load(i));
    uint64_t value = f[f.size() - 1];
    for (int i = f.size() - 2; i >= 0; --i) value = scrambled.combine(f[i], value);
    return value;
  };
  CHECK(in_place(0) == interpret<tree>(100, load, scrambled));
  CHECK(in_place(1) != in_place(0));
}
