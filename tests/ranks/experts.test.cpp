// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Experts spread over ranks (expert parallelism): a token's combined output has the same bits on any number of ranks.
#include <doctest/doctest.h>

#include <isobit/ranks.hpp>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using namespace isobit;

// One token: which experts it went to, rising, and its weighted outputs.
struct token {
  std::vector<uint64_t> expert;
  std::vector<float> value;
};

std::vector<token> tokens(uint64_t experts, size_t k, size_t count) {
  std::mt19937 random(42);
  std::vector<token> out(count);
  for (token& t : out) {
    while (t.expert.size() < k) {
      uint64_t const e = random() % experts;
      if (std::find(t.expert.begin(), t.expert.end(), e) == t.expert.end()) t.expert.push_back(e);
    }
    std::sort(t.expert.begin(), t.expert.end());
    for (size_t i = 0; i < k; ++i) t.value.push_back(static_cast<float>(static_cast<int>(random() % 20011) - 10005) / 640);
  }
  return out;
}

float alone(token const& t) {
  plain<float> const acc;
  sparse_counter<float> all;
  for (size_t i = 0; i < t.expert.size(); ++i) all.push(acc, t.expert[i], t.value[i]);
  return all.fold(acc);
}

// The experts that a rank has, as indices into the token's list.
struct share {
  size_t first, last;
};
share of_rank(token const& t, index_range const& r) {
  auto const at = [&](uint64_t e) {
    return static_cast<size_t>(std::lower_bound(t.expert.begin(), t.expert.end(), e) - t.expert.begin());
  };
  return {at(r.first), at(r.last)};
}

// Each rank sends one partial result for every node that has something; the token's owner folds what arrives.
float over_ranks(token const& t, uint64_t experts, uint64_t ranks, uint64_t* messages) {
  plain<float> const acc;
  sparse_counter<float> all;
  for (uint64_t r = 0; r < ranks; ++r) {
    auto const range = rank_range(experts, r, ranks);
    auto const s = of_rank(t, range);
    range_partials(
        acc, range.first, range.last, s.last - s.first, [&](uint64_t i) { return t.expert[s.first + i]; },
        [&](uint64_t i) { return t.value[s.first + i]; },
        [&](int node, uint64_t start, float value) {
          CHECK(node < count_nodes(range.first, range.last));
          all.push(acc, start, value);
          ++*messages;
        });
  }
  return all.fold(acc);
}

// What frameworks do: a chain within the rank, then a chain over ranks.
float by_chain(token const& t, uint64_t experts, uint64_t ranks) {
  float sum = 0;
  for (uint64_t r = 0; r < ranks; ++r) {
    auto const s = of_rank(t, rank_range(experts, r, ranks));
    float partial = 0;
    for (size_t i = s.first; i < s.last; ++i) partial += t.value[i];
    sum += partial;
  }
  return sum;
}

} // namespace

TEST_CASE("128 experts, top 6: the same bits on 1, 2, 3, 4, 8 and 16 ranks, which a chain over ranks does not give") {
  uint64_t const experts = 128;
  auto const all = tokens(experts, 6, 20'000);
  for (uint64_t ranks : {1, 2, 3, 4, 8, 16}) {
    uint64_t different = 0, chain_differs = 0, messages = 0;
    for (token const& t : all) {
      float const expected = alone(t);
      different += to_bits(over_ranks(t, experts, ranks, &messages)) != to_bits(expected);
      chain_differs += to_bits(by_chain(t, experts, ranks)) != to_bits(by_chain(t, experts, 1));
    }
    CAPTURE(ranks);
    CHECK(different == 0);
    if (ranks > 1) CHECK(chain_differs > all.size() / 20); // control
    // A power of two of ranks sends one partial a rank that has something, never more than the token's 6 experts.
    CHECK(messages <= all.size() * 6);
  }
}

TEST_CASE("384 experts on 8 ranks: 48 are 32 + 16, two nodes a rank") {
  CHECK(count_nodes(0, 48) == 2);
  CHECK(count_nodes(48, 96) == 2);
  auto const all = tokens(384, 8, 2'000);
  uint64_t different = 0, messages = 0;
  for (token const& t : all) different += to_bits(over_ranks(t, 384, 8, &messages)) != to_bits(alone(t));
  CHECK(different == 0);
}

TEST_CASE("absent experts are skipped: all -0 stays -0, and a token without experts emits nothing") {
  token t{{3, 77, 100}, {-0.0f, -0.0f, -0.0f}};
  uint64_t messages = 0;
  CHECK(to_bits(over_ranks(t, 128, 3, &messages)) == 0x80000000u);
  int emitted = 0;
  range_partials(
      plain<float>{}, 0, 128, 0, [](uint64_t) { return uint64_t{0}; }, [](uint64_t) { return 0.0f; },
      [&](int, uint64_t, float) { ++emitted; });
  CHECK(emitted == 0);
}
