// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No small change is missed: moves by one unit in the last place, swaps, rotations, pairs, flips, moves among zeros.
// With ISOBIT_EXHAUSTIVE set, ten million trials of each.
#include "trials.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace {

std::uint64_t trial_count() { return std::getenv("ISOBIT_EXHAUSTIVE") != nullptr ? 10'000'000 : 100'000; }

template <class T> void check_type(char const* name) {
  CAPTURE(name);
  std::uint64_t const count = trial_count();
  std::uint64_t weak = 0, seed = 1;
  auto const expect = [&](char const* what, auto const& change, bool blind) {
    CAPTURE(what);
    auto const m = trials::run<T>(count, seed++, 8192, change);
    CHECK(m.trials > count / 2);
    CHECK(m.isobit64 == 0);
    CHECK(m.isobit128 == 0);
    // Control: exclusive or and torch_hash miss many of the same trials; of reorderings, all.
    CHECK(m.exclusive_or >= (blind ? m.trials : 1));
    CHECK(m.torch >= (blind ? m.trials : 1));
    weak += m.torch;
  };
  for (std::size_t moved : {2u, 4u, 16u}) expect("one ulp", trials::by_one_ulp<T>(moved), false);
  expect("swap", trials::swap<T>, true);
  expect("rotate", trials::rotate<T>, true);
  expect("in zeros", trials::in_zeros<T>, true);
  expect("same flip", trials::same_flip<T>, false);
  auto const pairs = trials::run<T>(count, 99, 64, trials::pair<T>);
  CHECK(pairs.isobit64 == 0);
  CHECK(pairs.exclusive_or > pairs.trials / 2);
  auto const corners = trials::run<T>(count, 98, 8192, trials::rectangle<T>);
  CHECK(corners.isobit64 == 0);
  CHECK(weak > count);
}

} // namespace

TEST_CASE("bf16, f32 and fp8: nothing is missed that moves, swaps, rotates or flips in pairs") {
  check_type<isobit::bf16>("bf16");
  check_type<float>("float");
  check_type<isobit::e4m3>("e4m3");
}

TEST_CASE("updates in the trials equal digests computed anew") {
  trials::generator r{3};
  trials::followed<float> x(512, r, trials::any_number<float>);
  for (int t = 0; t < 50; ++t) trials::by_one_ulp<float>(4)(x, r), trials::swap(x, r), trials::rotate(x, r);
  std::vector<float> y(x.size());
  std::memcpy(y.data(), x.elements().data(), 4 * y.size());
  CHECK(isobit::digest<isobit::digest128>(isobit::host(), y.data(), {y.size()}) == x.digest());
  CHECK(isobit::torch_hash(isobit::host(), y.data(), y.size()) == x.torch());
}

TEST_CASE("moved boundaries: the same elements in rows of other lengths, zeros appended") {
  trials::generator r{4};
  std::vector<float> x(256);
  for (std::uint64_t t = 0; t < trial_count() / 10; ++t) {
    x[r.below(200)] = static_cast<float>(r.below(5));
    std::uint64_t const n = 100 + r.below(100), m = 1 + r.below(n - 1);
    auto const of = [&](std::uint64_t first, std::uint64_t last) {
      return isobit::digest(isobit::host(), x.data() + first, {last - first});
    };
    // Two rows that meet at m, or at m - 1.
    REQUIRE(std::pair(of(0, m), of(m, n)) != std::pair(of(0, m - 1), of(m - 1, n)));
    std::uint64_t const offsets[2] = {m, n}, moved[2] = {m - 1, n};
    REQUIRE(isobit::digest(isobit::host(), offsets, {2}) != isobit::digest(isobit::host(), moved, {2}));
    REQUIRE(of(0, n) != of(0, n + 1)); // a zero, or whatever comes next
    REQUIRE(isobit::digest(isobit::host(), x.data(), {2, 128}) != isobit::digest(isobit::host(), x.data(), {128, 2}));
  }
}

TEST_CASE("avalanche and independence of the output bits, both halves") {
  std::uint64_t const count = 200'000;
  auto const a = trials::flip_bits(count, 5);
  for (auto const& h : {a.low, a.high}) {
    CHECK(std::abs(h.mean - 32) < 0.05);
    CHECK(h.worst_output < 0.006);      // five standard deviations
    CHECK(h.worst_correlation < 0.013); // of 2016 pairs
  }
  // Controls: these flip a few bits only.
  CHECK(a.words.mean < 2);
  CHECK(a.torch.mean < 3);
  CHECK(a.words.worst_correlation > 0.5);
  // The halves of a 128-bit digest do not follow each other.
  trials::generator r{6};
  trials::followed<float> x(64, r, trials::any_number<float>);
  trials::flips across;
  for (std::uint64_t t = 0; t < count; ++t) {
    auto const before = x.digest();
    trials::by_one_ulp<float>(1)(x, r);
    auto const now = x.digest();
    across.add(before.low ^ before.high ^ now.low ^ now.high);
  }
  CHECK(std::abs(across.result().mean - 32) < 0.05);
}
