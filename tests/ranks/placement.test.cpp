// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Case B04 (public reports on all-reduce): for a fixed global order of values the result does not depend on the number of
// ranks, on the chunking of a message, or on an element's offset in it; compensated sums give 2 for every placement.
#include "numbers.hpp"

#include <doctest/doctest.h>

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/ranks.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <algorithm>
#include <array>

namespace {

using namespace isobit;
using testing::bits_equal;

template <class Acc> float over_ranks(std::array<float, 4> const& on_rank, Acc const& acc) {
  fragment<typename Acc::state> whole;
  for (uint64_t r = 0; r < 4; ++r) whole = merge(acc, whole, reduce_fragment(host(), r, r + 1, &on_rank[r], acc));
  return finish_fragment(whole, acc);
}

} // namespace

TEST_SUITE("B04") {
  TEST_CASE("1e8, 1, -1e8, 1 on four ranks in all orders") {
    std::array<float, 4> values{-1e8f, 1, 1, 1e8f};
    int placements = 0, plain_differs = 0;
    do {
      ++placements;
      CHECK(over_ranks(values, compensated<float>{}) == 2.0f);
      CHECK(over_ranks(values, exact<float>{}) == 2.0f);
      float const four = over_ranks(values, plain<float>{});
      CHECK(bits_equal(four, reduce(host(), values.data(), 4))); // one rank's bits
      peers<float, 4> from{};
      for (size_t r = 0; r < 4; ++r) from.array[r] = &values[r];
      CHECK(bits_equal(ordered_sum(from, 0), four));
      plain_differs += four != 2.0f;
    } while (std::next_permutation(values.begin(), values.end()));
    CHECK(placements == 12);
    CHECK(plain_differs > 0); // control: the placement is another order, which a plain sum shows
  }

  TEST_CASE("24 values over 1, 2, 3, 4, 6, 8 and 24 ranks") {
    auto const x = hard_floats(24, 4);
    float const alone = reduce(host(), x.data(), 24);
    for (uint64_t ranks : {1, 2, 3, 4, 6, 8, 24}) {
      fragment<float> whole;
      for (uint64_t r = 0; r < ranks; ++r) {
        auto const part = rank_range(24, r, ranks);
        whole = merge(plain<float>{}, whole, reduce_fragment(host(), part.first, part.last, x.data() + part.first));
      }
      CHECK(bits_equal(finish_fragment(whole, plain<float>{}), alone));
    }
  }

  TEST_CASE("rows within a longer message have the bits that they have alone, at any offset and chunk") {
    constexpr int ranks = 5;
    size_t const n = 2048;
    std::vector<std::vector<float>> x;
    peers<float, ranks> from{};
    for (int r = 0; r < ranks; ++r) x.push_back(hard_floats(n, static_cast<unsigned>(r)));
    for (size_t r = 0; r < ranks; ++r) from.array[r] = x[r].data();
    std::vector<float> whole(n);
    ordered_sum(ranks, [&](uint64_t r) { return static_cast<float const*>(x[r].data()); }, n, whole.data());
    for (size_t first : {0, 1, 3, 400, 1664})
      for (size_t count : {1, 7, 64, 384}) {
        std::vector<float> part(count);
        ordered_sum(
            ranks, [&](uint64_t r) { return static_cast<float const*>(x[r].data()) + first; }, count, part.data());
        CHECK(bits_equal(part, std::vector<float>(whole.begin() + static_cast<long>(first),
                                                  whole.begin() + static_cast<long>(first + count))));
        CHECK(bits_equal(ordered_sum(from, first), whole[first]));
      }
  }
}
