// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise sums over ranks: the tree (or the chain) over the absolute rank, whoever computes an element.
#include "../thrown.hpp"
#include "numbers.hpp"

#include <doctest/doctest.h>

#include <isobit/order/interpret.hpp>
#include <isobit/ranks.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace isobit;
using testing::bits_equal;

std::vector<std::vector<float>> gradients(uint64_t ranks, size_t n, unsigned seed = 1) {
  std::vector<std::vector<float>> x;
  for (uint64_t r = 0; r < ranks; ++r) x.push_back(hard_floats(n, seed + static_cast<unsigned>(r)));
  return x;
}

template <class Order> std::vector<float> specification(std::vector<std::vector<float>> const& x) {
  std::vector<float> out(x[0].size());
  plain<float> const acc;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = acc.finish(interpret<Order>(x.size(), [&](uint64_t r) { return x[r][i]; }, acc));
  return out;
}

template <int W> peers<float, W> pointers(std::vector<std::vector<float>> const& x) {
  peers<float, W> p{};
  for (int r = 0; r < W; ++r) p.array[r] = x[static_cast<size_t>(r)].data();
  return p;
}

template <class Order, int W> void check_device_function() {
  auto const x = gradients(W, 40);
  auto const expected = specification<Order>(x);
  auto const from = pointers<W>(x);
  std::vector<float> one(40), four(40);
  for (uint64_t i = 0; i < 40; ++i) one[i] = ordered_sum<Order>(from, i);
  for (uint64_t i = 0; i < 40; i += 4) ordered_sum_vector<Order>(from, i, four.data() + i);
  CAPTURE(W);
  CHECK(bits_equal(one, expected));
  CHECK(bits_equal(four, expected));
}

template <class Order, int... W> void check_device_functions(std::integer_sequence<int, W...>) {
  (check_device_function<Order, W + 1>(), ...);
}

} // namespace

TEST_CASE("ordered_sum over 1 to 20 ranks is the definition, element by element and 16 bytes at a time") {
  check_device_functions<tree>(std::make_integer_sequence<int, 20>{});
  check_device_functions<sequential>(std::make_integer_sequence<int, 9>{});
}

TEST_CASE("the host's form takes any number of ranks, and its own output among the inputs") {
  for (uint64_t ranks : {1, 2, 3, 6, 8, 100, 1000}) {
    auto x = gradients(ranks, 33, 5);
    auto const by_tree = specification<tree>(x), by_chain = specification<sequential>(x);
    std::vector<float> out(33);
    auto const array = [&](uint64_t r) { return static_cast<float const*>(x[r].data()); };
    ordered_sum(ranks, array, 33, out.data());
    CHECK(bits_equal(out, by_tree));
    ordered_sum<sequential>(ranks, array, 33, out.data());
    CHECK(bits_equal(out, by_chain));
    ordered_sum(ranks, array, 33, x[ranks / 2].data());
    CHECK(bits_equal(x[ranks / 2], by_tree));
    if (ranks > 3) CHECK(!bits_equal(by_tree, by_chain)); // control: the orders are not the same
  }
}

TEST_CASE("narrow elements are summed in float and rounded once") {
  // In bf16 alone, 256 + 1 is 256, again and again; in float all ones count.
  std::vector<std::vector<bf16>> x(9, std::vector<bf16>(1, encode<bf16>(1.0f)));
  x[0][0] = encode<bf16>(256.0f);
  bf16 out[1];
  ordered_sum(9, [&](uint64_t r) { return static_cast<bf16 const*>(x[r].data()); }, 1, out);
  CHECK(decode(out[0]) == 264.0f);
}

TEST_CASE("-0 stays, NaN is canonical, infinities are IEEE's, in every rank's place") {
  float const inf = from_bits<float>(0x7f800000u);
  for (size_t at = 0; at < 7; ++at) {
    std::vector<std::vector<float>> x(7, std::vector<float>(4, -0.0f));
    x[at][1] = from_bits<float>(0xffabcdefu);
    x[at][2] = -inf;
    x[at][3] = inf, x[(at + 1) % 7][3] = -inf;
    auto const from = pointers<7>(x);
    float out[4];
    ordered_sum_vector(from, 0, out);
    CHECK(to_bits(out[0]) == 0x80000000u);
    CHECK(to_bits(out[1]) == float_fields<float>::quiet_nan);
    CHECK(bits_equal(out[2], -inf));
    CHECK(to_bits(out[3]) == float_fields<float>::quiet_nan);
  }
}

TEST_CASE("bad arguments name themselves before anything is written") {
  float const x[2] = {1, 2};
  float out[2] = {7, 7};
  auto const some = [&](uint64_t r) { return r == 1 ? nullptr : static_cast<float const*>(x); };
  CHECK(thrown([&] { ordered_sum(0, some, 2, out); }) == "isobit::ordered_sum: ranks must be at least 1 rank");
  CHECK(thrown([&] { ordered_sum(3, some, 2, out); }) == "isobit::ordered_sum: array must be non-null when n > 0");
  CHECK(thrown([&] { ordered_sum(1, some, 2, static_cast<float*>(nullptr)); }) ==
        "isobit::ordered_sum: out must be non-null when n > 0");
  CHECK(out[0] == 7);
  CHECK(out[1] == 7);
}
