// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The parts of the tour that decide its answer: the comparison of outputs, and the command line.
#include <doctest/doctest.h>

#include "../../examples/tour/options.hpp"
#include "../../examples/tour/outputs.hpp"

#include <initializer_list>
#include <vector>

namespace {

tour::outputs some_outputs() {
  tour::outputs o;
  o.sum = 1.0f;
  o.compensated_sum = -0.0f;
  o.row_sums = {1.0f};
  o.row_norms = {3.0f, 4.0f};
  o.row_scans = {5.0f, 6.0f, 7.0f};
  o.floor = {{1, 2, 3}, {4}, 0.5f, 0.25f};
  o.rceil = {{1, 2, 3}, {5}, 0.5f, 0.25f};
  o.digests = {{"input", {{10, 11}, 12}}};
  return o;
}

tour::options parse(std::initializer_list<char const*> words) {
  std::vector<char const*> all{"tour"};
  all.insert(all.end(), words);
  return tour::options::parse(static_cast<int>(all.size()), all.data(), "default");
}

} // namespace

TEST_CASE("tour: equal outputs have no difference") { CHECK(tour::difference(some_outputs(), some_outputs()) == ""); }

TEST_CASE("tour: every part that can differ is noticed and named") {
  auto const expected = some_outputs();
  auto const named = [&](auto const& change) {
    auto got = some_outputs();
    change(got);
    return tour::difference(expected, got);
  };
  CHECK(named([](auto& o) { o.sum = 2; }) == "sum");
  CHECK(named([](auto& o) { o.compensated_sum = 0.0f; }) == "compensated sum"); // -0 is not +0
  CHECK(named([](auto& o) { o.row_sums[0] = 2; }) == "row sum 0");
  CHECK(named([](auto& o) { o.row_norms[1] = 2; }) == "row norm 1");
  CHECK(named([](auto& o) { o.row_scans[2] = 2; }) == "row scan, element 2");
  CHECK(named([](auto& o) { o.floor.codes[2] = 9; }) == "MXFP8 floor code 2");
  CHECK(named([](auto& o) { o.floor.scales[0] = 9; }) == "MXFP8 floor scale 0");
  CHECK(named([](auto& o) { o.floor.largest_error = 9; }) == "MXFP8 floor largest error");
  CHECK(named([](auto& o) { o.rceil.relative_rms = 9; }) == "MXFP8 rceil relative rms");
  CHECK(named([](auto& o) { o.digests[0].digests.chunks[1] = 9; }) == "digest of input, chunk 1");
  CHECK(named([](auto& o) { o.digests[0].digests.whole = 9; }) == "digest of input");
  CHECK(named([](auto& o) { o.row_scans = {8, 8, 8}; }) == "row scan, element 0 (and 2 more)");
  CHECK(named([](auto& o) { o.row_scans.pop_back(); }) == "the size of row scan, element");
  CHECK(named([](auto& o) { o.digests.clear(); }) == "the number of outputs");
}

TEST_CASE("tour: a NaN is compared by its bits") {
  auto a = some_outputs(), b = some_outputs();
  a.sum = b.sum = __builtin_nanf("");
  CHECK(tour::difference(a, b) == "");
  b.sum = __builtin_nanf("1");
  CHECK(tour::difference(a, b) == "sum");
}

TEST_CASE("tour: the command line") {
  auto const plain = parse({});
  CHECK(plain.data == "default");
  CHECK(plain.seeds == 3);
  CHECK(!plain.control);
  CHECK(!plain.help);
  auto const full = parse({"--data", "x", "--seeds", "7", "--control", "--help"});
  CHECK(full.data == "x");
  CHECK(full.seeds == 7);
  CHECK(full.control);
  CHECK(full.help);
  for (auto const* seeds : {"", "0", "1001", "-1", "2x", " 2", "99999999999"})
    CHECK_THROWS_AS(parse({"--seeds", seeds}), std::invalid_argument);
  CHECK_THROWS_AS(parse({"--seeds"}), std::invalid_argument);
  CHECK_THROWS_AS(parse({"--data"}), std::invalid_argument);
  CHECK_THROWS_AS(parse({"extra"}), std::invalid_argument);
}
