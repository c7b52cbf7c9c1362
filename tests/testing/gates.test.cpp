// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes each gate fail: nothing compared, an exception, another result.
#include <isobit/simt/launch.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/every_byte_written.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

namespace simt = isobit::simt;
namespace testing = isobit::testing;
using isobit::uint64_t;
using testing::verdict;

namespace {

bool says(verdict const& v, std::string const& words) {
  bool const found = v.text().find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << v);
  return found;
}

using floats = std::vector<float>;

} // namespace

TEST_CASE("nothing compared: every gate fails") {
  auto const nothing = [](auto const&...) { return floats{}; };
  CHECK(says(testing::repeatable(nothing), "nothing was compared"));
  CHECK(says(testing::geometry_invariant(nothing, {1, 2}), "nothing was compared"));
  CHECK(says(testing::partition_invariant(nothing, testing::splits(4)), "nothing was compared"));
  CHECK(says(testing::neighbour_invariant(nothing), "nothing was compared"));
  CHECK(says(testing::same_as_host(nothing, nothing), "nothing was compared"));
  CHECK(says(testing::every_byte_written(nothing), "nothing was compared"));
  auto const one = [](auto const&...) { return 1.0f; };
  CHECK_FALSE(testing::repeatable(one, {.runs = 1}));
  CHECK_FALSE(testing::geometry_invariant(one, {32}));
  CHECK_FALSE(testing::geometry_invariant(one, {}));
  CHECK_FALSE(testing::partition_invariant(one, {}));
  CHECK_FALSE(testing::neighbour_invariant(one, {}));
  CHECK_FALSE(testing::same_as_host(one, one, {.blocks = {}}));
  CHECK_FALSE(testing::every_byte_written(one, {0x00, 0x00}));
  CHECK_FALSE(testing::not_repeatable(nothing));
  CHECK(testing::repeatable(one));
}

TEST_CASE("a run that throws is a failure with its words, not an exception of the gate") {
  auto const throwing = [](auto const& c) -> float {
    if constexpr (requires { c.index; })
      if (c.index < 3) return 1;
    throw std::runtime_error("the kernel broke");
  };
  auto const v = testing::repeatable(throwing);
  CHECK(says(v, "17 of 19 runs give something else"));
  CHECK(says(v, "the run threw: the kernel broke"));
  CHECK(says(v, "isobit::testing::trial(3, 0, 0xff)"));
  CHECK(says(testing::geometry_invariant(throwing, {1, 2}), "the first run threw: the kernel broke"));
  auto const deadlock = [](simt::config const& c) {
    simt::launch(c, [] {
      if (isobit::machine::thread_rank() > 0) isobit::machine::sync_block();
    });
    return 1.0f;
  };
  auto const d = testing::same_as_host(deadlock, [] { return 1.0f; });
  CHECK(says(d, "isobit::simt: deadlock"));
  CHECK(says(d, "again: isobit::simt::config{.grid = {1}, .block = {31}, .order = isobit::simt::schedule::in_order}"));
  auto const any = testing::same_as_host(deadlock, [] { return 1.0f; }, {.shrink = testing::shrinking::any});
  CHECK(says(any, "again: isobit::simt::config{.grid = {1}, .block = {2}, .order = isobit::simt::schedule::in_order}"));
  auto const none =
      testing::same_as_host(deadlock, [] { return 1.0f; }, {.blocks = {256, 33}, .shrink = testing::shrinking::none});
  CHECK(says(none, "again: isobit::simt::config{.grid = {1}, .block = {256}, "));
  CHECK(says(testing::same_as_host(deadlock, []() -> float { throw std::runtime_error("no reference"); }),
             "the reference threw: no reference"));
}

TEST_CASE("when only the first case is different, the report says so") {
  auto const first = [](testing::trial const& t) { return t.index == 0 ? 1.0f : 2.0f; };
  CHECK(says(testing::repeatable(first), "all but the first agree with each other"));
  auto const all = [](testing::trial const& t) { return static_cast<float>(t.index); };
  CHECK(testing::repeatable(all).text().find("agree with each other") == std::string::npos);
}

TEST_CASE("device_same_as_host: the caller's launch at every geometry") {
  auto const host = [] { return 1.0f; };
  auto const v = testing::device_same_as_host([](testing::geometry const&) { return 1.0f; }, host);
  CHECK(v);
  CHECK(v.runs() == 18);
  auto const wrong =
      testing::device_same_as_host([](testing::geometry const& g) { return g.block == 96 ? 2.0f : 1.0f; }, host);
  CHECK(says(wrong, "1 of 1 elements (float) differ"));
  CHECK(says(wrong, "isobit::testing::geometry(1, 96, 1, 0)"));
  CHECK(says(testing::device_same_as_host([](auto const&) -> float { throw std::runtime_error("no device"); }, host),
             "the run threw: no device"));
  CHECK_FALSE(testing::device_same_as_host([](auto const&) { return floats{}; }, [] { return floats{}; }));
}

TEST_CASE("every_byte_written tells unwritten bytes from results that depend on the fill") {
  auto const partly = [](testing::fill const& f) {
    auto out = f.buffer<std::uint32_t>(8);
    for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], "abc", i == 5 ? 3 : 4);
    return out;
  };
  CHECK(says(testing::every_byte_written(partly), "nobody wrote byte 23 of output 0 (byte 3 of element 5, uint32)"));
  auto const depends = [](testing::fill const& f) { return std::vector<int>{1, 2, f.buffer<int>(1)[0] / 2 + 1}; };
  auto const v = testing::every_byte_written(depends);
  CHECK(says(v, "an output depends on what was in an output or workspace before"));
  CHECK(v.index() == 2);
}

TEST_CASE("splits hold the shapes that find mistakes") {
  for (uint64_t const n : {uint64_t(0), uint64_t(1), uint64_t(2), uint64_t(100), uint64_t(100000)}) {
    bool empty = false, single = n == 0, whole = false;
    for (testing::split const& s : testing::splits(n)) {
      CHECK(s.n() == n);
      uint64_t at = 0;
      for (auto const p : s.parts()) {
        CHECK(p.first == at);
        CHECK(p.last >= p.first);
        at = p.last;
        empty = empty || p.size() == 0;
        single = single || p.size() == 1;
      }
      CHECK(at == n);
      whole = whole || s.size() == 1;
    }
    CHECK(empty);
    CHECK(single);
    CHECK(whole);
  }
}

TEST_CASE("neighbours keep the rows of interest") {
  auto const row = testing::elements(testing::wide_exponents<float>{3}, 10);
  for (testing::neighbours const& n : testing::neighbourhoods()) {
    auto const batch = n.surround(row, 5);
    CHECK(batch.size() == (n.before + n.behind) * 5 + 10);
    CHECK(n.mine(batch, 5, 2) == row);
    auto const again = n.surround(row, 5);
    CHECK(std::memcmp(batch.data(), again.data(), 4 * batch.size()) == 0);
  }
  using kind = testing::neighbours::content;
  CHECK(isobit::is_nan(testing::neighbours(1, 0, kind::nans).surround(floats{}, 1)[0]));
  CHECK(isobit::is_inf(testing::neighbours(1, 0, kind::infinities).surround(floats{}, 1)[0]));
  CHECK(isobit::magnitude_bits(testing::neighbours(1, 0, kind::huge).surround(floats{}, 1)[0]) >= 0x7f000000u);
  CHECK(testing::neighbours(1, 0, kind::poison).surround(std::vector<int>{}, 1)[0] == -1);
}
