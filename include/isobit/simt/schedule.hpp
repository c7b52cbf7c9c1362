// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! In which order the simulator runs what may run: a pure function of the schedule's kind and of a seed.
#pragma once

#include <isobit/config.hpp>

#include <vector>

namespace isobit::inline bits1::simt {

enum class schedule {
  random,   //!< every choice is drawn from the seed: block order, resident blocks, thread order, preemption at atomics
  in_order, //!< lowest block and thread first; a thread runs until it must wait
  reverse,  //!< highest block and thread first; a thread runs until it must wait
};

namespace detail {

//! splitmix64: the k-th number is a function of the seed and k. Constants: Steele, Lea, Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014 (variant 13 of Stafford's mixers).
class random_numbers {
public:
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  constexpr random_numbers() = default;
  constexpr random_numbers(uint64_t seed, uint64_t stream)
      : state_(mix(seed + 0x9e3779b97f4a7c15u) ^ mix(stream * 0xd1342543de82ef95u + 1)) {}
  constexpr uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  //! A number in [0, bound), 1 <= bound <= 2^32. The bias is below bound / 2^32.
  constexpr uint32_t below(uint64_t bound) { return static_cast<uint32_t>((next() >> 32) * bound >> 32); }
  //! True once in `n` times on average.
  constexpr bool one_in(uint64_t n) { return below(n) == 0; }

private:
  uint64_t state_ = 0;
};

//! The threads of one block that can run now.
class run_list {
public:
  void reset(uint32_t capacity) {
    uint32_t c = 64;
    while (c < capacity + 1) c *= 2;
    if (slots_.size() < c) slots_.resize(c);
    slot_ = slots_.data();
    mask_ = static_cast<uint32_t>(slots_.size()) - 1;
    head_ = tail_ = 0;
  }
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }
  void push(uint32_t thread) { slot_[tail_++ & mask_] = thread; }
  uint32_t pop_oldest() { return slot_[head_++ & mask_]; }
  uint32_t pop_newest() { return slot_[--tail_ & mask_]; }
  uint32_t pop_any(random_numbers& random) {
    uint32_t const k = (head_ + random.below(size())) & mask_, h = head_++ & mask_;
    uint32_t const thread = slot_[k];
    slot_[k] = slot_[h];
    return thread;
  }

private:
  std::vector<uint32_t> slots_;
  uint32_t* slot_ = nullptr;
  uint32_t mask_ = 0, head_ = 0, tail_ = 0;
};

} // namespace detail
} // namespace isobit::inline bits1::simt
