// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Operators that tell expressions apart, and the random sizes and splits that the tests of the orders share.
#pragma once

#include <isobit/accum/plain.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <random>
#include <vector>

namespace order_test {

using namespace isobit;

//! Neither associative nor commutative: any other bracketing or order gives other bits.
struct scramble {
  ISOBIT_HD constexpr uint64_t operator()(uint64_t a, uint64_t b) const {
    uint64_t const x = (a * 3 + 1) ^ (b * 0x9e3779b97f4a7c15u + (a >> 7));
    return x ^ (x >> 29);
  }
};
inline constexpr with_operator<uint64_t, scramble> scrambled{};

//! x -> scale * x + offset modulo 2^32; the operator applies `left` first. Associative, does not commute.
struct affine {
  uint32_t scale, offset;
  friend constexpr bool operator==(affine, affine) = default;
};
struct compose {
  constexpr affine operator()(affine left, affine right) const {
    return {right.scale * left.scale, right.scale * left.offset + right.offset};
  }
};
inline constexpr with_operator<affine, compose> composed{};

struct minimum {
  constexpr int operator()(int a, int b) const { return b < a ? b : a; }
};
inline constexpr with_operator<int, minimum> smallest{};

//! An expression as text: operands side by side, brackets around every inner node but the root.
struct expression {
  char text[240] = {};
  int length = 0;
  bool leaf = true;

  constexpr void put(char c) { text[length++] = c; }
  constexpr void put(expression const& e) {
    if (length != 0 && !(text[length - 1] == ')' && !e.leaf)) put(' ');
    if (!e.leaf) put('(');
    for (int i = 0; i < e.length; ++i) put(e.text[i]);
    if (!e.leaf) put(')');
  }
  constexpr bool operator==(char const* other) const {
    int i = 0;
    while (i < length && other[i] == text[i]) ++i;
    return i == length && other[i] == 0;
  }
};
struct write_down {
  constexpr expression operator()(expression const& left, expression const& right) const {
    expression e;
    e.leaf = false;
    e.put(left);
    e.put(right);
    return e;
  }
};
inline constexpr with_operator<expression, write_down> written{};

//! The leaf `i` of an expression.
constexpr expression operand(uint64_t i) {
  expression e;
  if (i >= 10) e.put(static_cast<char>('0' + i / 10));
  e.put(static_cast<char>('0' + i % 10));
  return e;
}

//! Same bits, for the states that the tests use.
using testing::bits_equal;

//! A fixed, spread value for index `i`.
constexpr uint64_t mixed(uint64_t i) {
  i = (i + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  i = (i ^ i >> 27) * 0x94d049bb133111ebu;
  return i ^ i >> 31;
}
inline float float_at(uint64_t i) {
  // Magnitudes from 2^-20 to 2^19 and both signs: almost every addition rounds.
  uint64_t const m = mixed(i);
  return from_bits<float>(static_cast<uint32_t>((m & 0x807fffffu) | (107 + (m >> 40) % 40) << 23));
}
constexpr affine affine_at(uint64_t i) {
  return {static_cast<uint32_t>(mixed(i)) | 1, static_cast<uint32_t>(mixed(i) >> 32)};
}

//! Calls `test(acc, load)` with each operator and elements that show its order.
template <class Test> void for_each_operator(Test const& test) {
  test(scrambled, [](uint64_t i) { return mixed(i); });
  test(plain<float>{}, [](uint64_t i) { return float_at(i); });
  test(composed, [](uint64_t i) { return affine_at(i); });
  test(smallest, [](uint64_t i) { return static_cast<int>(mixed(i)); });
  test(plain<uint32_t>{}, [](uint64_t i) { return static_cast<uint32_t>(mixed(i)); });
}

class dice {
public:
  explicit dice(uint64_t seed) : engine_(seed) {}
  //! A number in [low, high].
  uint64_t operator()(uint64_t low, uint64_t high) { return low + engine_() % (high - low + 1); }
  //! A size whose magnitude is spread evenly, in [1, 2^bits].
  uint64_t size(int bits) {
    uint64_t const top = uint64_t(1) << (*this)(0, static_cast<uint64_t>(bits));
    return (*this)(top / 2 + 1, top);
  }
  //! 0 = c0 <= c1 <= ... = n: at most `parts` + 1 cuts, equal neighbours (empty parts) among them.
  std::vector<uint64_t> cuts(uint64_t n, uint64_t parts) {
    std::vector<uint64_t> c{0, n};
    for (uint64_t i = (*this)(1, parts); i > 1; --i) c.push_back((*this)(0, n));
    for (size_t i = 1; i < c.size(); ++i)
      for (size_t j = i; j > 0 && c[j] < c[j - 1]; --j) std::swap(c[j], c[j - 1]);
    return c;
  }

private:
  std::mt19937_64 engine_;
};

} // namespace order_test
