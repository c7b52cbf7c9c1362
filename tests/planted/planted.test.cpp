// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each planted mistake is caught by the gate that is made for it; the right form of the same kernel passes.
#include "kernels.hpp"

#include <isobit/algo/reduce.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/every_byte_written.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <doctest/doctest.h>

namespace simt = isobit::simt;
namespace testing = isobit::testing;
using testing::verdict;

namespace {

std::vector<float> numbers(isobit::uint64_t n) { return testing::elements(testing::wide_exponents<float>{7}, n); }

bool says(verdict const& v, std::string const& words) {
  bool const found = v.text().find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << v);
  return found;
}

template <bool Wrong> verdict missing_barrier() {
  auto const x = numbers(3 * planted::width);
  return testing::repeatable([&](testing::trial const& t) {
    auto out = t.buffer<float>(3);
    simt::launch(t.config({.grid = {3}, .block = {planted::width}}), planted::missing_barrier<Wrong>, x.data(),
                 out.data());
    return out;
  });
}

template <bool Wrong> verdict early_ticket() {
  auto const x = numbers(32);
  return testing::repeatable([&](testing::trial const& t) {
    auto partials = t.buffer<unsigned>(32);
    auto out = t.buffer<float>(1);
    unsigned ticket = 0;
    simt::launch(t.config({.grid = {32}, .block = {1}}), planted::early_ticket<Wrong>, x.data(), partials.data(),
                 &ticket, out.data());
    return out;
  });
}

template <bool Wrong> auto arrival_order(std::vector<float> const& x) {
  return [&x](testing::trial const& t) {
    float sum = 0;
    simt::launch(t.config({.grid = {32}, .block = {8}}), planted::arrival_order<Wrong>, x.data(),
                 static_cast<unsigned>(x.size()), &sum);
    return sum;
  };
}

template <bool Wrong> verdict uninitialised_word() {
  auto const x = numbers(5 * planted::width);
  return testing::same_as_host(
      [&](simt::config const& c) {
        std::vector<float> out(5);
        simt::launch(c, planted::uninitialised_word<Wrong>, x.data(), out.data());
        return out;
      },
      [&] {
        std::vector<float> out;
        for (unsigned b = 0; b < 5; ++b) out.push_back(isobit::add(x[b * planted::width], x[b * planted::width + 32]));
        return out;
      },
      {.blocks = {64}, .grids = {5}});
}

template <bool Wrong> verdict tail() {
  auto const x = numbers(101);
  return testing::every_byte_written([&](testing::fill const& f) {
    auto out = f.buffer<float>(101);
    simt::launch(f.config({.grid = {2}, .block = {32}}), planted::tail<Wrong>, x.data(), 101u, out.data());
    return out;
  });
}

template <bool Wrong> verdict lane_dependent() {
  auto const x = numbers(1000);
  return testing::geometry_invariant(
      [&](testing::geometry const& g) {
        float out = 0;
        simt::launch(g.config(), planted::lane_dependent<Wrong>, x.data(), 1000u, &out);
        return out;
      },
      {1, 32, 33, 96, 256, 1024});
}

// Rows of seven elements; the kernel's own row is the one under test.
template <bool Wrong> verdict padding_read() {
  auto const row = numbers(7);
  return testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto batch = n.surround(row, 7);
    auto const rows = static_cast<unsigned>(batch.size() / 7);
    batch.push_back(0.0f); // a wrong read behind the last row stays within the array
    std::vector<float> out(rows);
    simt::launch(n.config({.grid = {rows}, .block = {4}}), planted::padding_read<Wrong>, batch.data(), 7u, out.data());
    return n.mine(out, 1);
  });
}

template <bool Wrong> verdict batch_maximum() {
  auto const row = numbers(12);
  return testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto const batch = n.surround(row, 12);
    auto const rows = static_cast<unsigned>(batch.size() / 12);
    std::vector<float> out(rows);
    simt::launch(n.config({.grid = {rows}, .block = {4}}), planted::batch_maximum<Wrong>, batch.data(), rows, 12u,
                 out.data());
    return n.mine(out, 1);
  });
}

} // namespace

TEST_CASE("missing barrier: repeatable") {
  CHECK(missing_barrier<false>());
  auto const v = missing_barrier<true>();
  CHECK_FALSE(v);
  CHECK(says(v, "again: call the function with isobit::testing::trial("));
  CHECK(says(v, "on the simulator: isobit::simt::config{.grid = {3}, .block = {128}"));
}

TEST_CASE("missing barrier: same_as_host, with the smallest geometry") {
  auto const x = numbers(16 * planted::width);
  auto const reference = [&] {
    std::vector<float> out;
    for (unsigned b = 0; b < 2; ++b) {
      std::vector<float> memory(x.begin() + b * planted::width, x.begin() + (b + 1) * planted::width);
      for (unsigned half = planted::width / 2; half > 0; half /= 2)
        for (unsigned t = 0; t < half; ++t) memory[t] = isobit::add(memory[t], memory[t + half]);
      out.push_back(memory[0]);
    }
    return out;
  };
  auto const run = [&](auto kernel) {
    return [&x, kernel](simt::config const& c) {
      std::vector<float> out(c.grid.x);
      simt::launch(c, kernel, x.data(), out.data());
      out.resize(2);
      return out;
    };
  };
  testing::host_options const o{.blocks = {planted::width}, .grids = {2, 8}};
  CHECK(testing::same_as_host(run(planted::missing_barrier<false>), reference, o));
  auto const v = testing::same_as_host(run(planted::missing_barrier<true>), reference, o);
  CHECK_FALSE(v);
  CHECK(says(v, "again: isobit::simt::config{.grid = {2}, .block = {128}"));
}

TEST_CASE("a ticket before its partial result: repeatable") {
  CHECK(early_ticket<false>());
  CHECK_FALSE(early_ticket<true>());
}

TEST_CASE("arrival-order sum: repeatable") {
  auto const x = numbers(256);
  CHECK(testing::repeatable(arrival_order<false>(x)));
  CHECK_FALSE(testing::repeatable(arrival_order<true>(x)));
  CHECK(testing::not_repeatable(arrival_order<true>(x)));
  CHECK_FALSE(testing::not_repeatable(arrival_order<false>(x)));
  CHECK(testing::count_distinct(arrival_order<true>(x)) > 2);
}

TEST_CASE("uninitialised shared word: same_as_host, by the simulator's poison") {
  CHECK(uninitialised_word<false>());
  auto const v = uninitialised_word<true>();
  CHECK_FALSE(v);
  CHECK(says(v, "a NaN and a number"));
}

TEST_CASE("off-by-one tail: every_byte_written") {
  CHECK(tail<false>());
  auto const v = tail<true>();
  CHECK_FALSE(v);
  CHECK(v.index() == 100);
  CHECK(says(v, "nobody wrote byte 400 of output 0 (byte 0 of element 100, float)"));
}

TEST_CASE("lane-dependent result: geometry_invariant names the smallest") {
  CHECK(lane_dependent<false>());
  auto const v = lane_dependent<true>();
  CHECK_FALSE(v);
  CHECK(says(v, "the smallest: isobit::testing::geometry(1, 32, 1, 0)"));
}

TEST_CASE("padding read: neighbour_invariant") {
  CHECK(padding_read<false>());
  CHECK_FALSE(padding_read<true>());
}

TEST_CASE("a maximum over the batch: neighbour_invariant") {
  CHECK(batch_maximum<false>());
  CHECK_FALSE(batch_maximum<true>());
}

TEST_CASE("partial sums by part: partition_invariant") {
  auto const x = numbers(300);
  auto const parts = [&](bool wrong) {
    return testing::partition_invariant(
        [&, wrong](testing::split const& s) {
          isobit::plain<float> const acc;
          isobit::fragment<float> whole;
          float sum = 0;
          for (auto const p : s.parts()) {
            isobit::fragment<float> f(p.first);
            for (auto i = p.first; i < p.last; ++i) f.append(acc, x[i]);
            whole.append(acc, f);
            sum = isobit::add(sum, isobit::reduce(isobit::host(), x.data() + p.first, p.size()));
          }
          return wrong ? sum : whole.root(acc);
        },
        testing::splits(300));
  };
  CHECK(parts(false));
  CHECK_FALSE(parts(true));
}
