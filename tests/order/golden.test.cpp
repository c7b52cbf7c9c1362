// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The outside vector of P4016R0 on the host: by the definition, by the counter, and by fragments.
#include "../golden/p4016.hpp"
#include "operators.hpp"

#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>

#include <doctest/doctest.h>

#include <iterator>
#include <utility>

namespace {
using namespace order_test;
namespace p4016 = golden::p4016;

std::vector<double> const& data() {
  static std::vector<double> const x = [] {
    std::vector<double> v(p4016::count);
    p4016::generator next;
    for (double& e : v) e = next();
    return v;
  }();
  return x;
}
auto const load = [](uint64_t i) { return data()[i]; };
constexpr plain<double> sum{};
constexpr plain<float> float_sum{};

// A tree for each lane, then the tree over the lanes: the definition with counters.
double count_lanes(uint64_t lanes, uint64_t n) {
  std::vector<counter<double, 21>> lane(lanes);
  for (uint64_t i = 0; i < n; ++i) lane[i % lanes].push(sum, data()[i]);
  counter<double, 21> over;
  for (auto const& l : lane)
    if (!l.empty()) over.push(sum, l.fold(sum));
  return over.fold(sum);
}

template <size_t... I> void check_lanes(std::index_sequence<I...>) {
  auto const check = [](uint64_t lanes, uint64_t bits, double interpreted) {
    CAPTURE(lanes);
    CHECK(to_bits(interpreted) == bits);
    CHECK(to_bits(count_lanes(lanes, p4016::count)) == bits);
  };
  (check(p4016::lanes_sums[I].lanes, p4016::lanes_sums[I].bits,
         interpret<lanes<p4016::lanes_sums[I].lanes>>(p4016::count, load, sum)),
   ...);
}
} // namespace

TEST_CASE("the generator has random access") {
  p4016::generator next;
  for (uint64_t i = 0; i < 3000; ++i) CHECK(testing::bits_equal(next(), p4016::generator::at(i)));
  CHECK(testing::bits_equal(data().back(), p4016::generator::at(p4016::count - 1)));
}

TEST_CASE("golden sums of a million doubles for every number of lanes") {
  check_lanes(std::make_index_sequence<std::size(p4016::lanes_sums)>{});
  double const tree_sum = interpret<tree>(p4016::count, load, sum);
  CHECK(to_bits(tree_sum) == 0x40618f71f6379396u);
  // The vector tells orders and data apart.
  CHECK(to_bits(interpret<sequential>(p4016::count, load, sum)) != 0x40618f71f6379396u);
  CHECK_FALSE(testing::bits_equal(interpret<lanes<17>>(p4016::count, load, sum),
                                  interpret<lanes<16>>(p4016::count, load, sum)));
  auto const rotated = [](uint64_t i) { return data()[(i + 1) % p4016::count]; };
  CHECK_FALSE(testing::bits_equal(interpret<tree>(p4016::count, rotated, sum), tree_sum));
}

TEST_CASE("golden float sums of prefixes, and the scan that observes them") {
  auto const as_float = [](uint64_t i) { return static_cast<float>(data()[i]); };
  for (auto const& golden : p4016::prefix_sums) {
    CAPTURE(golden.n);
    CHECK(to_bits(interpret<tree>(golden.n, as_float, float_sum)) == golden.bits);
  }
  counter<float, 21> c;
  fragment<float, 21> f;
  auto next = std::begin(p4016::prefix_sums);
  for (uint64_t i = 0; i < p4016::count; ++i) {
    c.push(float_sum, as_float(i));
    f.append(float_sum, as_float(i));
    if (i + 1 != next->n) continue;
    CAPTURE(i);
    CHECK(to_bits(c.fold(float_sum)) == next->bits);
    CHECK(to_bits(f.root(float_sum)) == next->bits);
    ++next;
  }
  CHECK(next == std::end(p4016::prefix_sums));
}

TEST_CASE("golden tree from fragments of uneven ranges") {
  dice roll(4016);
  for (uint64_t parts : {2, 7, 64}) {
    auto const cuts = roll.cuts(p4016::count, parts);
    fragment<double, 21> all;
    for (size_t p = 0; p + 1 < cuts.size(); ++p) {
      fragment<double, 21> part(cuts[p]);
      for (uint64_t i = cuts[p]; i < cuts[p + 1]; ++i) part.append(sum, data()[i]);
      all = merge(sum, all, part);
    }
    CHECK(to_bits(all.root(sum)) == 0x40618f71f6379396u);
  }
}
