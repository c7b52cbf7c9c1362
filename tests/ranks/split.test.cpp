// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A long sum split over ranks: any number of them, even, ragged and empty ranges, gives the bits of one rank.
#include "../thrown.hpp"
#include "numbers.hpp"

#include <doctest/doctest.h>

#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/zip.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/ranks.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/invariant.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace isobit;
using testing::bits_equal;

// A message: what travels is the used bytes, and the rest of the receiver's memory is what it was.
template <class Fragment> Fragment received(Fragment const& sent) {
  std::vector<unsigned char> const bytes(reinterpret_cast<unsigned char const*>(&sent),
                                         reinterpret_cast<unsigned char const*>(&sent) + sent.used_bytes());
  Fragment out;
  std::memset(static_cast<void*>(&out), 0xff, sizeof out);
  std::memcpy(static_cast<void*>(&out), bytes.data(), bytes.size());
  return out;
}

template <class Acc, class T>
typename Acc::result over_parts(testing::split const& s, std::vector<T> const& x, Acc const& acc) {
  fragment<typename Acc::state> whole;
  for (auto const& part : s.parts()) {
    auto const mine = reduce_fragment(host(), part.first, part.last, x.data() + part.first, acc);
    whole = merge(acc, whole, received(mine));
  }
  return finish_fragment(whole, acc);
}

template <class Acc, class T> void check_splits(std::vector<T> const& x, Acc const& acc) {
  auto const alone = reduce(host(), x.data(), x.size(), acc);
  for (auto const& s : testing::splits(x.size(), 6)) {
    CAPTURE(s.text());
    CHECK(bits_equal(over_parts(s, x, acc), alone));
  }
}

} // namespace

TEST_CASE("an even split covers the range in order, for any number of ranks") {
  for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1000}, (uint64_t{1} << 40) + 3})
    for (uint64_t ranks : {1, 2, 3, 7, 8, 3072}) {
      uint64_t last = 0;
      for (uint64_t r = 0; r < ranks; ++r) {
        auto const part = rank_range(n, r, ranks);
        REQUIRE(part.first == last);
        REQUIRE(part.size() - n / ranks <= 1);
        last = part.last;
      }
      CHECK(last == n);
    }
  static_assert(rank_range(10, 0, 4).size() == 3 && rank_range(10, 3, 4).size() == 2 && rank_range(2, 3, 4).empty());
}

TEST_CASE("the nodes of a range are aligned, maximal and few") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    uint64_t const a = random() >> (1 + random() % 60), b = random() >> (1 + random() % 60);
    uint64_t const first = a < b ? a : b, last = a < b ? b : a;
    uint64_t at = first;
    int count = 0;
    for_each_node(first, last, [&](uint64_t start, int level) {
      uint64_t const size = uint64_t{1} << level;
      REQUIRE(start == at);
      REQUIRE(start % size == 0);
      uint64_t const parent = start / size / 2 * (2 * size);
      REQUIRE((parent < first || parent + 2 * size > last));
      at = start + size;
      ++count;
    });
    CHECK(at == last);
    CHECK(count == count_nodes(first, last));
    CHECK(count <= 2 * 63);
  }
  CHECK(count_nodes(5, 5) == 0);
}

TEST_CASE("any split of an array gives one rank's bits, with every accumulator") {
  for (size_t n : {1, 2, 3, 31, 1000}) check_splits(hard_floats(n), plain<float>{});
  auto const x = hard_floats(777);
  check_splits(x, compensated<float>{});
  check_splits(x, double_float<float>{});
  check_splits(x, exact<float>{});
  std::vector<double> const d(x.begin(), x.end());
  check_splits(d, plain<double>{});
  std::vector<bf16> b;
  for (float v : x) b.push_back(encode<bf16>(v));
  check_splits(b, plain<float>{});
}

TEST_CASE("operators that do not commute, statistics and extrema") {
  uint64_t const n = 4321;
  auto const x = hard_floats(n, 5);
  auto const affine = [](uint64_t a, uint64_t b) { return a * 3 + b * 5 + 1; }; // neither commutes nor associates
  auto const number = [](uint64_t i) { return i * 2654435761u; };
  uint64_t const whole = reduce(host(), n, number, affine);
  auto const numbered_x = with_index(x.data());
  auto const largest = reduce(host(), n, numbered_x, extrema<float>{});
  auto const statistics = reduce(host(), x.data(), n, moments<float>{});
  for (uint64_t ranks : {2, 3, 5, 16, 100}) {
    auto const acc = isobit::detail::as_accumulator<uint64_t>(affine);
    fragment<uint64_t> f;
    fragment<extrema<float>::state> e;
    fragment<moments<float>::state> m;
    for (uint64_t r = 0; r < ranks; ++r) {
      auto const p = rank_range(n, r, ranks);
      f = merge(acc, f, reduce_fragment(host(), p.first, p.last, number, affine));
      e = merge(extrema<float>{}, e, reduce_fragment(host(), p.first, p.last, numbered_x, extrema<float>{}));
      m = merge(moments<float>{}, m, reduce_fragment(host(), p.first, p.last, x.data() + p.first, moments<float>{}));
    }
    CHECK(finish_fragment(f, acc) == whole);
    CHECK(bits_equal(finish_fragment(e, extrema<float>{}), largest));
    CHECK(bits_equal(finish_fragment(m, moments<float>{}), statistics));
  }
}

TEST_CASE("2,432 and 3,072 ranks in one process, ragged and empty ranges among them") {
  auto const x = hard_floats(200'003, 7);
  float const alone = reduce(host(), x.data(), x.size());
  std::mt19937_64 random(11);
  for (uint64_t ranks : {2432, 3072}) {
    std::vector<uint64_t> even{0}, ragged;
    for (uint64_t r = 0; r < ranks; ++r) even.push_back(rank_range(x.size(), r, ranks).last);
    ragged = {0, x.size()};
    while (ragged.size() < ranks + 1) {
      uint64_t const at = random() % (x.size() + 1);
      ragged.insert(ragged.end(), 1 + random() % 3, at); // repeated cuts: empty ranks
    }
    ragged.resize(ranks + 1);
    std::sort(ragged.begin(), ragged.end());
    ragged.front() = 0, ragged.back() = x.size();
    uint64_t empty = 0;
    for (uint64_t r = 0; r < ranks; ++r) empty += ragged[r] == ragged[r + 1];
    CHECK(empty > 0);
    CHECK(bits_equal(over_parts(testing::split(even), x, plain<float>{}), alone));
    CHECK(bits_equal(over_parts(testing::split(ragged), x, plain<float>{}), alone));

    // Control: one partial sum a rank, added in the order of ranks, is another number.
    float naive = 0;
    for (uint64_t r = 0; r < ranks; ++r)
      naive += reduce(host(), x.data() + even[r], even[r + 1] - even[r]);
    CHECK(!bits_equal(naive, alone));
  }
}

TEST_CASE("merging in any grouping: a tree of messages over ranks gives the same bits as a chain") {
  auto const x = hard_floats(50'000, 9);
  plain<float> const acc;
  uint64_t const ranks = 37;
  std::vector<fragment<float>> parts;
  for (uint64_t r = 0; r < ranks; ++r) {
    auto const p = rank_range(x.size(), r, ranks);
    parts.push_back(reduce_fragment(host(), p.first, p.last, x.data() + p.first));
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    auto some = parts;
    while (some.size() > 1) {
      size_t const at = random() % (some.size() - 1);
      some[at] = merge(acc, some[at], some[at + 1]);
      some.erase(some.begin() + static_cast<long>(at) + 1);
    }
    CHECK(bits_equal(finish_fragment(some[0], acc), reduce(host(), x.data(), x.size())));
  }
}

TEST_CASE("a rank past index 2^40, by a generated load; a thread is a group too") {
  uint64_t const first = (uint64_t{1} << 40) - 1000, last = first + 5000;
  auto const load = [](uint64_t i) { return static_cast<double>(i % 1009) / 7; };
  auto const once = reduce_fragment(host(), first, last, load);
  plain<double> const acc;
  fragment<double> each(first);
  for (uint64_t i = first; i < last; ++i) each.append(acc, load(i));
  CHECK(bits_equal(once, each));
  CHECK(bits_equal(reduce_fragment(thread{}, first, last, load), each));
}

TEST_CASE("an empty whole is the accumulator's empty value") {
  fragment<float> const none;
  CHECK(bits_equal(finish_fragment(none, plain<float>{}), 0.0f));
  CHECK(bits_equal(finish_fragment(reduce_fragment(host(), 0, 0, static_cast<float const*>(nullptr)), plain<float>{}),
                   0.0f));
}

TEST_CASE("bad arguments name themselves; nothing is folded") {
  float const x[4] = {1, 2, 3, 4};
  CHECK(thrown([&] { reduce_fragment(host(), 3, 2, x); }) == "isobit::reduce_fragment: first must be at most last");
  CHECK(thrown([&] { reduce_fragment(host(), 0, 4, static_cast<float const*>(nullptr)); }) ==
        "isobit::reduce_fragment: x must be non-null when first < last");
  CHECK(thrown([&] {
          reduce_fragment(host(), 0, 1, reinterpret_cast<float const*>(reinterpret_cast<char const*>(x) + 1));
        }) == "isobit::reduce_fragment: x must be aligned to 4 bytes");
  auto const part = reduce_fragment(host(), 2, 4, x);
  CHECK(thrown([&] { finish_fragment(part, plain<float>{}); }) ==
        "isobit::fragment::root: fragment must be not empty and start at index 0");
}
