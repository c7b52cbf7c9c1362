// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accumulators that keep the laws, and one that breaks each of them.
#include <isobit/accum/compensated.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/laws.hpp>

#include <doctest/doctest.h>

namespace testing = isobit::testing;
using isobit::plain;
using isobit::uint64_t;
using testing::verdict;

namespace {

bool breaks(verdict const& v, std::string const& law) {
  bool const found = !v && v.text().find("the law \"" + law) != std::string::npos;
  if (!found) MESSAGE("expected \"" << law << "\":\n" << v);
  return found;
}

testing::wide_exponents<float> const numbers{1};

// A sum to break.
struct sum {
  using input = float;
  using state = float;
  using result = float;
  float lift(float x) const { return x; }
  float combine(float l, float r) const { return isobit::add(l, r); }
  float finish(float s) const { return isobit::canonical(s); }
  float empty() const { return 0; }
};

struct scramble {
  ISOBIT_HD uint64_t operator()(uint64_t a, uint64_t b) const { return (a * 3 + 1) ^ (b * 0x9e3779b97f4a7c15u); }
};
struct average {
  static constexpr bool commutative = true;
  float operator()(float a, float b) const { return isobit::add(a, isobit::mul(0.5f, b)); }
};

// Its finish and its combine write into what they are given.
struct noting {
  using input = float;
  struct state {
    float sum;
    unsigned finished;
  };
  using result = float;
  state lift(float x) const { return {x, 0}; }
  state combine(state const& l, state const& r) const {
    return {isobit::add(l.sum, l.finished != 0 ? 0.0f : r.sum), l.finished};
  }
  float finish(state const& s) const { return const_cast<state&>(s).finished = 1, s.sum; }
  float empty() const { return 0; }
};

struct touching {
  using input = float;
  using result = float;
  struct state {
    float sum, last;
  };
  state lift(float x) const { return {x, x}; }
  state combine(state const& l, state const& r) const {
    const_cast<state&>(l).last = r.last;
    return {isobit::add(l.sum, r.sum), r.last};
  }
  float finish(state const& s) const { return s.sum; }
  float empty() const { return 0; }
};

struct pointing {
  using input = float;
  using result = float;
  struct state {
    float sum;
    float const* where;
  };
  state lift(float x) const { return made(x); }
  state combine(state const& l, state const& r) const { return made(isobit::add(*l.where, *r.where)); }
  float finish(state const& s) const { return *s.where; }
  float empty() const { return 0; }
  // Eight places in turn: a state points to memory that others use again.
  mutable float places[8] = {};
  mutable unsigned next = 0;
  state made(float x) const {
    float& place = places[next++ % 8];
    place = x;
    return {x, &place};
  }
};

} // namespace

TEST_CASE("isobit's accumulators, operators that neither commute nor associate") {
  CHECK(testing::laws(sum{}, numbers));
  CHECK(testing::laws(plain<float>{}, testing::every_class<float>{2}));
  CHECK(testing::laws(plain<double>{}, testing::subnormals<double>{2}));
  CHECK(testing::laws(plain<float>{}, testing::signed_zeros<float>{2, true}));
  CHECK(testing::laws(isobit::compensated<float>{}, testing::every_class<float>{3}));
  CHECK(testing::laws(isobit::compensated<double>{}, testing::cancellation<double>{3, 1000, 80}));
  CHECK(testing::laws(scramble{}, [](uint64_t i) { return testing::philox_word(1, 2, i); }));
}

TEST_CASE("hidden state") {
  struct forgetful : sum {
    mutable unsigned calls = 0;
    float combine(float l, float r) const { return isobit::add(l, ++calls % 7 == 0 ? isobit::mul(2.0f, r) : r); }
  };
  CHECK(breaks(testing::laws(forgetful{}, testing::wide_exponents<float>{1, 0, 3}),
               "combine is a function of its operands"));
  struct counting : sum {
    mutable unsigned calls = 0;
    float lift(float x) const { return ++calls % 5 == 0 ? -x : x; }
  };
  CHECK(breaks(testing::laws(counting{}, numbers), "lift is a function of its input"));
  struct averaging : sum {
    mutable float divisor = 1;
    float finish(float s) const { return isobit::div(s, divisor++); }
  };
  CHECK_FALSE(testing::laws(averaging{}, numbers));
  struct empty_changes : sum {
    mutable float next = 0;
    float empty() const { return next++; }
  };
  CHECK(breaks(testing::laws(empty_changes{}, numbers), "empty() is always the same"));
}

TEST_CASE("finish and combine that change what they are given") {
  CHECK(breaks(testing::laws(noting{}, numbers), "finish leaves the state as it is"));
  CHECK(breaks(testing::laws(touching{}, numbers), "combine leaves its operands as they are"));
}

TEST_CASE("a state that points to itself does not travel") { CHECK_FALSE(testing::laws(pointing{}, numbers)); }

TEST_CASE("declared commutative, and is not") {
  CHECK(breaks(testing::laws(average{}, numbers), "combine commutes, as declared"));
  struct plain_average {
    float operator()(float a, float b) const { return average{}(a, b); }
  };
  CHECK(testing::laws(plain_average{}, numbers));
}

TEST_CASE("a kernel that the accumulator breaks is told with the line that runs it again") {
  struct waiting : sum {
    float combine(float l, float r) const {
      if (isobit::simulator::current != nullptr && isobit::machine::thread_rank() == 0) isobit::machine::sync_block();
      return isobit::add(l, r);
    }
  };
  auto const v = testing::laws(waiting{}, numbers);
  CHECK_FALSE(v);
  CHECK(v.text().find("in a kernel over ") != std::string::npos);
  CHECK(v.text().find("again: isobit::simt::config{.grid = {1}, .block = {33}") != std::string::npos);
  CHECK(testing::laws(waiting{}, numbers, {.simulate = false}));
}

TEST_CASE("range_checked: who combines what") {
  testing::range_checked<plain<float>> const acc;
  auto const load = [](uint64_t i) { return testing::indexed_input<float>{numbers(i), i}; };
  for (uint64_t n : {1, 2, 3, 100, 1000, 5000}) {
    auto const host = isobit::reduce(isobit::host(), n, load, acc);
    CHECK(host.in_order(n));
    CHECK(isobit::to_bits(host.value) ==
          isobit::to_bits(isobit::reduce(isobit::host(), n, [](uint64_t i) { return numbers(i); })));
    CHECK(isobit::reduce(isobit::thread{}, n, load, acc).in_order(n));
    for (unsigned threads : {1u, 31u, 64u, 128u}) {
      testing::range_checked<plain<float>>::result out{};
      isobit::simt::launch(1, threads,
                           testing::detail::law_kernel<testing::range_checked<plain<float>>, decltype(load)>, load, n,
                           &out, acc);
      CHECK(out.in_order(n));
    }
  }
  // Left to right is another expression from three elements on; swapped operands are seen at once.
  auto s = acc.combine(acc.combine(acc.lift(load(0)), acc.lift(load(1))), acc.lift(load(2)));
  CHECK(acc.finish(s).in_order(3));
  s = acc.combine(s, acc.lift(load(3)));
  CHECK_FALSE(acc.finish(s).in_order(4));
  CHECK_FALSE(acc.finish(acc.combine(acc.lift(load(1)), acc.lift(load(0)))).in_order(2));
  CHECK_FALSE(acc.finish(acc.combine(acc.lift(load(0)), acc.lift(load(2)))).in_order(3));
}
