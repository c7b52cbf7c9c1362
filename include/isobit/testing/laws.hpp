// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `laws`: an accumulator or operator of a user's own has every property that isobit's algorithms rely on.
#pragma once

#include <isobit/algo/reduce.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/invariant.hpp>

#include <memory>

namespace isobit::inline bits1::testing {

struct law_options {
  std::vector<uint64_t> sizes{1, 2, 3, 5, 8, 13, 64, 100, 257}; //!< numbers of elements that trees are built over
  uint64_t seed = 0;
  bool simulate = true; //!< also in a simulated block: the accumulator must be usable in a kernel
};

//! An accumulator that checks whoever uses it: every `combine` must be one of the tree's nodes over adjacent ranges,
//! the lower one left. Feed it with `indexed_input{x, i}`; `in_order` of the result says whether all was well.
//! It turns a test of a fold of one's own (a group, a kernel, a merge of ranks) into one line.
template <class T> struct indexed_input {
  T value;
  uint64_t index;
};
template <accumulator A> struct range_checked {
  struct state {
    typename A::state value;
    uint64_t first, last;
    uint64_t wrong; //!< combinations that are no nodes of the tree
  };
  struct result {
    typename A::result value;
    uint64_t first, last, wrong;
    ISOBIT_HD constexpr bool in_order(uint64_t n) const { return wrong == 0 && first == 0 && last == n; }
  };
  using input = indexed_input<typename A::input>;

  A acc{};

  ISOBIT_HD constexpr state lift(input x) const { return {acc.lift(x.value), x.index, x.index + 1, 0}; }
  ISOBIT_HD constexpr state combine(state const& l, state const& r) const {
    uint64_t const size = l.last - l.first, right = r.last - r.first;
    bool const node =
        l.last == r.first && (size & (size - 1)) == 0 && right >= 1 && right <= size && l.first % (2 * size) == 0;
    return {acc.combine(l.value, r.value), l.first, r.last, l.wrong + r.wrong + (node ? 0u : 1u)};
  }
  ISOBIT_HD constexpr result finish(state const& s) const { return {acc.finish(s.value), s.first, s.last, s.wrong}; }
  ISOBIT_HD constexpr result empty() const { return {acc.empty(), 0, 0, 0}; }
};

namespace detail {

// The shared memory of one block, of any accumulator.
template <class Acc, class Load>
ISOBIT_KERNEL void law_kernel(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  ISOBIT_SHARED block_storage<128, typename Acc::state> memory;
  auto const b = block(memory);
  auto const r = isobit::reduce(b, n, load, acc);
  if (b.thread_rank() == 0) *out = r;
}

template <class T> bool same_bytes(T const& a, T const& b) {
  static_assert(__is_trivially_copyable(T),
                "isobit: laws compares results by their bits: the accumulator's result must be "
                "trivially copyable");
  return std::memcmp(static_cast<void const*>(&a), static_cast<void const*>(&b), sizeof(T)) == 0;
}

// The bytes of an object as they were (a copy of the object would not keep its padding).
template <class T> class snapshot {
public:
  explicit snapshot(T const& x) { std::memcpy(bytes_, static_cast<void const*>(&x), sizeof x); }
  bool still(T const& x) const { return std::memcmp(bytes_, static_cast<void const*>(&x), sizeof x) == 0; }

private:
  unsigned char bytes_[sizeof(T)];
};

template <class Acc> inline constexpr bool declared_commutative = false;
template <class Acc>
requires requires { Acc::commutative; }
inline constexpr bool declared_commutative<Acc> = Acc::commutative;
template <class T, class Op>
requires requires { Op::commutative; }
inline constexpr bool declared_commutative<with_operator<T, Op>> = Op::commutative;

template <class Acc> inline constexpr bool declared_order_free = false;
template <class Acc>
requires requires { Acc::order_free; }
inline constexpr bool declared_order_free<Acc> = Acc::order_free;

template <class Acc, class Generator> class law_check {
public:
  using state = typename Acc::state;
  using result = typename Acc::result;

  law_check(Acc const& acc, Generator const& generate, law_options const& o)
      : acc_(acc), generate_(generate), options_(o), verdict_("laws", "pairs of results") {}

  verdict run() {
    single_values();
    for (uint64_t const n : options_.sizes) {
      if (!verdict_ && verdict_.compared() > 0) break;
      trees(n);
    }
    return verdict_;
  }

private:
  auto input(uint64_t i) const { return generate_(i); }

  // What a state does: its result, and the results of combining it with others. Compared instead of the state's bytes,
  // which may have padding.
  bool alike(state const& a, state const& b, state const& probe) {
    return same_bytes(acc_.finish(a), acc_.finish(b)) &&
           same_bytes(acc_.finish(acc_.combine(a, probe)), acc_.finish(acc_.combine(b, probe))) &&
           same_bytes(acc_.finish(acc_.combine(probe, a)), acc_.finish(acc_.combine(probe, b)));
  }
  void demand(bool holds, char const* law, std::string const& where) {
    verdict_.add_compared(1);
    if (!holds) verdict_.fail("the law \"" + std::string(law) + "\" does not hold " + where);
  }

  void single_values() {
    demand(same_bytes(acc_.empty(), acc_.empty()), "empty() is always the same", "");
    uint64_t const count = 32;
    std::vector<state> s;
    for (uint64_t i = 0; i < count; ++i) s.push_back(acc_.lift(input(i)));
    for (uint64_t i = 0; i + 2 < count; ++i) {
      std::string const at = "for the inputs " + std::to_string(i) + " and " + std::to_string(i + 1);
      state const probe = s[i + 2];
      // More often than once: what a hidden state changes, it may change now and then.
      bool same = true;
      for (int k = 0; k < 8; ++k) same = same && same_bytes(acc_.finish(acc_.lift(input(i))), acc_.finish(s[i]));
      demand(same, "lift is a function of its input", at);
      state left = acc_.lift(input(i)), right = acc_.lift(input(i + 1));
      snapshot const left_before(left), right_before(right);
      state once = acc_.combine(left, right);
      demand(left_before.still(left) && right_before.still(right), "combine leaves its operands as they are", at);
      snapshot const before(once);
      result const r = acc_.finish(once);
      demand(before.still(once), "finish leaves the state as it is", at);
      demand(same_bytes(acc_.finish(once), r), "finish is a function of the state", at);
      for (int k = 0; k < 8; ++k) same = same && same_bytes(acc_.finish(acc_.combine(left, right)), r);
      demand(same, "combine is a function of its operands", at);
      demand(alike(acc_.combine(left, right), once, probe), "one may go on after finish", at);
      demand(alike(moved(once), once, probe), "a state travels as bytes", at);
      if constexpr (declared_commutative<Acc>)
        demand(same_bytes(acc_.finish(acc_.combine(left, right)), acc_.finish(acc_.combine(right, left))),
               "combine commutes, as declared", at);
    }
  }

  // The state's bytes at another address, its old place overwritten.
  state moved(state s) {
    auto const memory = std::make_unique<unsigned char[]>(sizeof(state));
    std::memcpy(memory.get(), static_cast<void const*>(&s), sizeof s);
    std::memset(static_cast<void*>(&s), 0x5a, sizeof s);
    auto other = std::make_unique<state>(s);
    std::memcpy(static_cast<void*>(other.get()), memory.get(), sizeof(state));
    return *other;
  }

  void trees(uint64_t n) {
    std::string const at = "over " + std::to_string(n) + " elements";
    auto const load = [this](uint64_t i) { return input(i); };
    result const wanted = acc_.finish(interpret_states(n));
    if (n == 1)
      demand(same_bytes(isobit::reduce(host(), n, load, acc_), acc_.finish(acc_.lift(input(0)))),
             "one element is its own result, nothing is added to it", at);
    demand(same_bytes(isobit::reduce(host(), n, load, acc_), wanted), "the host's tree is the specified one", at);
    demand(same_bytes(isobit::reduce(thread{}, n, load, acc_), wanted), "a thread's tree is the specified one", at);

    for (split const& cuts : splits(n, 4, options_.seed)) {
      fragment<state> whole(0);
      for (auto const part : cuts.parts()) {
        fragment<state> f(part.first);
        for (uint64_t i = part.first; i < part.last; ++i) f.append(acc_, acc_.lift(input(i)));
        whole.append(acc_, f);
      }
      demand(same_bytes(acc_.finish(whole.root(acc_)), wanted), "parts merge to the whole", at + ", " + cuts.text());
    }
    if constexpr (declared_order_free<Acc>)
      for (uint64_t k = 1; k < 6; ++k) {
        ordering const order(k);
        auto const shuffled = [&](uint64_t i) { return input(order(i, n)); };
        demand(same_bytes(isobit::reduce(host(), n, shuffled, acc_), wanted), "the order is free, as declared",
               at + " in the order " + order.text());
      }
    if (options_.simulate) {
      for (uint32_t const threads : {1u, 33u, 64u}) {
        simt::config const c{.block = {threads}, .seed = options_.seed + threads};
        result got = acc_.empty();
        try {
          simt::launch(c, law_kernel<Acc, decltype(load)>, load, n, &got, acc_);
        } catch (std::exception const& e) {
          verdict_.fail("in a kernel " + at + ": " + e.what() + "\n  again: " + simt::replay(c));
          return;
        }
        demand(same_bytes(got, wanted), "a block's tree is the specified one", at + "\n  again: " + simt::replay(c));
      }
    }
  }

  // The definition: node(l, k) = left + right where both are there.
  state interpret_states(uint64_t n) {
    std::vector<state> level;
    for (uint64_t i = 0; i < n; ++i) level.push_back(acc_.lift(input(i)));
    while (level.size() > 1) {
      std::vector<state> next;
      for (size_t i = 0; i < level.size(); i += 2)
        next.push_back(i + 1 < level.size() ? acc_.combine(level[i], level[i + 1]) : level[i]);
      level = std::move(next);
    }
    return level[0];
  }

  Acc acc_;
  Generator generate_;
  law_options options_;
  verdict verdict_;
};

} // namespace detail

//! Checks, over `generator(i)` for i = 0, 1, ..., that the accumulator (or bare operator) `op` is a function of its
//! arguments, changes none of them, has a state that travels as bytes, adds nothing to single elements, gives the
//! specified tree on the host, in parts and in simulated blocks, commutes if it declares `commutative = true`, and
//! heeds no order of its inputs if it declares `order_free = true`. It need be neither associative nor commutative.
//! Results are compared by their bytes: give them no padding.
//! The report names the law, the elements and, for a kernel, the line that runs it again.
//!
//!     CHECK(isobit::testing::laws(my_accumulator{}, isobit::testing::every_class<float>{1}));
template <class Op, class Generator>
[[nodiscard]] verdict laws(Op const& op, Generator const& generator, law_options const& o = {}) {
  using T = std::remove_cvref_t<decltype(generator(uint64_t{}))>;
  if constexpr (accumulator<Op>) {
    return detail::law_check<Op, Generator>(op, generator, o).run();
  } else {
    using acc = with_operator<T, Op>;
    return detail::law_check<acc, Generator>(acc{op}, generator, o).run();
  }
}

} // namespace isobit::inline bits1::testing
