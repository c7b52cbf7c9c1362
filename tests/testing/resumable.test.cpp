// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// States that survive being stopped: a counter, a fragment, a compensated sum in a loop, a digest, a random number
// generator. Controls: the same with one field dropped, or one kept outside of the state.
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/digest.hpp>
#include <isobit/algo/reduce.hpp>
#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/resumable.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

namespace testing = isobit::testing;
using isobit::uint64_t;
using testing::verdict;

namespace {

using bytes = std::vector<unsigned char>;

bool says(verdict const& v, std::string const& words) {
  bool const found = v.text().find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << v);
  return found;
}

template <class Acc> struct fragment_op {
  using state = isobit::fragment<typename Acc::state>;
  testing::wide_exponents<typename Acc::input> x{3};
  Acc acc{};
  state start() const { return state(0); }
  void step(state& s, uint64_t i) const { s.append(acc, acc.lift(x(i))); }
  bytes to_bytes(state const& s) const {
    bytes out = testing::bytes_of(s);
    out.resize(s.used_bytes());
    return out;
  }
  state from_bytes(bytes const& b) const {
    state s(0);
    std::memcpy(static_cast<void*>(&s), b.data(), b.size());
    return s;
  }
  auto finish(state const& s) const { return s.empty() ? acc.empty() : acc.finish(s.root(acc)); }
};

struct counter_op {
  using state = isobit::counter<float>;
  testing::wide_exponents<float> x{4};
  isobit::plain<float> acc{};
  state start() const { return {}; }
  void step(state& s, uint64_t i) const { s.push(acc, x(i)); }
  float finish(state const& s) const { return s.empty() ? 0 : s.fold(acc); }
};

// A running compensated sum; `Dropped` writes only the rounded sum.
template <bool Dropped> struct running_sum {
  using state = isobit::compensated_state<float>;
  testing::cancellation<float> x{5, 999, 40};
  isobit::compensated<float> acc{};
  state start() const { return acc.lift(0); }
  void step(state& s, uint64_t i) const { s = acc.combine(s, acc.lift(x(i))); }
  bytes to_bytes(state const& s) const { return Dropped ? testing::bytes_of(s.sum) : testing::bytes_of(s); }
  state from_bytes(bytes const& b) const {
    return Dropped ? state{testing::from_bytes_of<float>(b), 0} : testing::from_bytes_of<state>(b);
  }
  float finish(state const& s) const { return acc.finish(s); }
};

struct digest_op {
  isobit::digest_sum start() const { return {}; }
  void step(isobit::digest_sum& s, uint64_t i) const {
    isobit::digest_accumulator a;
    a.add(testing::philox_word(1, 0, i), i, i);
    s += a.sum();
  }
  uint64_t finish(isobit::digest_sum const& s) const { return isobit::finish_digest(s, uint64_t(0)); }
};

// Stochastic: the number drawn in step i is part of the result. `Hidden` keeps the draws' count in the operation, where
// a new process does not find it.
template <bool Hidden> struct random_walk {
  struct state {
    uint64_t place, draws;
  };
  uint64_t draws = 0;
  state start() const { return {0, 0}; }
  void step(state& s, uint64_t) {
    uint64_t& n = Hidden ? draws : s.draws;
    s.place = s.place * 5 + testing::philox_word(9, 0, n++);
  }
  uint64_t finish(state const& s) const { return s.place; }
};

} // namespace

TEST_CASE("states of isobit resume") {
  CHECK(testing::resumable(fragment_op<isobit::plain<float>>{}, 50));
  CHECK(testing::resumable(fragment_op<isobit::compensated<double>>{}, 1000));
  CHECK(testing::resumable(counter_op{}, 100));
  CHECK(testing::resumable(running_sum<false>{}, 999));
  CHECK(testing::resumable(digest_op{}, 300));
  CHECK(testing::resumable(random_walk<false>{}, 20));
  CHECK(testing::resumable(random_walk<false>{}, 20, {7}));
  CHECK(testing::resumable(digest_op{}, 0));
}

TEST_CASE("controls: a dropped field, a field outside of the state") {
  auto const dropped = testing::resumable(running_sum<true>{}, 999);
  CHECK_FALSE(dropped);
  CHECK(says(dropped, "of 999, the run ends differently"));
  CHECK(says(dropped, "again: isobit::testing::resumable(op, 999, {"));
  auto const hidden = testing::resumable(random_walk<true>{}, 20);
  CHECK_FALSE(hidden);
  CHECK(says(hidden, "stopped before step 1 of 20"));
}

TEST_CASE("no stops, impossible stops, exceptions, nothing to compare") {
  CHECK(says(testing::resumable(digest_op{}, 10, {}), "nothing was compared (no point to stop at)"));
  CHECK(says(testing::resumable(digest_op{}, 10, {11}), "beyond the 10 steps"));
  struct empty : digest_op {
    bytes finish(isobit::digest_sum const&) const { return {}; }
  };
  CHECK(says(testing::resumable(empty{}, 10), "nothing was compared"));
  struct forgetful : digest_op {
    bytes to_bytes(isobit::digest_sum const&) const { return {}; }
    isobit::digest_sum from_bytes(bytes const&) const { throw std::runtime_error("cannot read the checkpoint"); }
  };
  CHECK(says(testing::resumable(forgetful{}, 10), "cannot read the checkpoint"));
}

TEST_CASE("bytes of another size are refused") {
  CHECK(testing::from_bytes_of<float>(testing::bytes_of(1.5f)) == 1.5f);
  CHECK_THROWS_WITH(static_cast<void>(testing::from_bytes_of<float>(bytes(3))),
                    "isobit::testing::from_bytes_of: bytes must be exactly 4 bytes");
}

TEST_CASE("where to stop") {
  CHECK(testing::stops(3) == std::vector<uint64_t>{0, 1, 2, 3});
  auto const many = testing::stops(1000000);
  CHECK(many.size() == 64);
  CHECK(many.front() == 0);
  CHECK(many.back() == 1000000);
}
