// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Law 4: moving a segment, or changing its neighbours, changes nothing. Empty segments.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/testing/invariant.hpp>

namespace {

using namespace scan_test;
namespace testing = isobit::testing;

} // namespace

TEST_CASE("B14: empty segments, a segment's own start, and nothing outside of segments") {
  std::vector<float> const x = {1, 2, 3, 4, 5, 6, 7};
  CHECK(segmented(x, {0, 3, 3, 7}, -1.f) == std::vector<float>{1, 3, 6, 4, 9, 15, 22});
  CHECK(segmented(x, {0, 0, 7, 7, 7}, -1.f) == std::vector<float>{1, 3, 6, 10, 15, 21, 28});
  CHECK(segmented(x, {2, 3, 5}, -1.f) == std::vector<float>{-1, -1, 3, 4, 9, -1, -1});
  CHECK(segmented(x, {3, 3, 3}, -1.f) == std::vector<float>(7, -1.f));
  CHECK(segmented(std::vector<float>{}, {0, 0}, -1.f).empty());
  CHECK(segmented(std::vector<float>{5, 2, 3, 1}, {0, 2, 4}, -1.f) == std::vector<float>{5, 7, 3, 4});
  float one = 1;
  isobit::segmented_inclusive_scan(host(), &one, 1, static_cast<int const*>(nullptr), 0, &one); // no segments
  CHECK(one == 1);
}

TEST_CASE("law 4: moving a segment and changing its neighbours changes nothing") {
  auto const segment = floats(5000, 77);
  auto const alone = host_scan(segment);
  for (std::int64_t before : {0, 1, 31, 1023, 4097}) {
    auto x = floats(static_cast<std::size_t>(before) + 5000 + 100, static_cast<std::uint64_t>(before));
    std::copy(segment.begin(), segment.end(), x.begin() + before);
    auto const total = static_cast<std::int64_t>(x.size());
    auto const out = segmented(x, {0, before, before + 5000, total}, 0.f);
    CHECK(bits_equal(std::span(out).subspan(static_cast<std::size_t>(before), 5000), alone));
    // Control: without the segment's own start its bits do move (unless it stands first).
    auto const unsegmented = host_scan(x);
    CHECK(bool(bits_equal(std::span(unsegmented).subspan(static_cast<std::size_t>(before), 5000), alone)) ==
          (before == 0));
  }
}

TEST_CASE("law 4: whatever the neighbours hold") {
  auto const segment = floats(700, 78);
  CHECK(testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto const x = n.surround(segment, 700);
    auto const first = static_cast<std::int64_t>(n.before * 700);
    return n.mine(segmented(x, {0, first, first + 700, static_cast<std::int64_t>(x.size())}, 0.f), 700);
  }));
  // Control: in one scan of everything they do matter.
  CHECK_FALSE(testing::neighbour_invariant(
      [&](testing::neighbours const& n) { return n.mine(host_scan(n.surround(segment, 700)), 700); }));
}
