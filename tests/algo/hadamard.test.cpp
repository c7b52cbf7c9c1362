// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Hadamard transform: integers exactly, orthogonality, the order of the additions, the signs.
#include <doctest/doctest.h>

#include <isobit/algo/hadamard.hpp>

#include <cmath>
#include <cstring>
#include <random>

namespace {

using namespace isobit;

TEST_CASE("the signs are Transformer Engine's") {
  int const signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  for (int i = 0; i < 16; ++i) CHECK((hadamard_signs >> i & 1) == (signs[i] < 0));
}

TEST_CASE("integers: the matrix product, exactly, for many sign masks") {
  std::mt19937 random(1);
  uint64_t wrong = 0, without_signs_wrong = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    uint16_t const mask = trial == 0 ? hadamard_signs : static_cast<uint16_t>(random());
    int64_t v[16];
    float x[16], y[16];
    for (int i = 0; i < 16; ++i) {
      v[i] = static_cast<int64_t>(random() % 2097153) - 1048576; // 16 of them sum to 2^24 at most
      x[i] = y[i] = static_cast<float>(v[i]);
    }
    hadamard16(x, mask);
    hadamard16(y, uint16_t(0));
    for (int j = 0; j < 16; ++j) {
      int64_t sum = 0;
      for (int i = 0; i < 16; ++i) {
        int const sign = (__builtin_popcount(static_cast<unsigned>(i & j)) + (mask >> i & 1)) % 2;
        sum += sign != 0 ? -v[i] : v[i];
      }
      wrong += double(x[j]) != double(sum) / 4;
      without_signs_wrong += double(y[j]) != double(sum) / 4;
    }
    inverse_hadamard16(x, mask); // 16 v / 16: exact while the sums fit 24 bits
    for (int i = 0; i < 16; ++i) wrong += std::abs(double(x[i]) - double(v[i])) > 0.5;
  }
  CHECK(wrong == 0);
  CHECK(without_signs_wrong > 10000); // the control
}

TEST_CASE("orthogonal: unit vectors give rows of norm 1 that are orthogonal; the inverse undoes it") {
  float rows[16][16] = {};
  for (int i = 0; i < 16; ++i) {
    rows[i][i] = 1;
    hadamard16(rows[i]);
    float back[16];
    std::memcpy(back, rows[i], sizeof back);
    for (float v : back) CHECK(std::abs(v) == 0.25f);
    inverse_hadamard16(back);
    for (int j = 0; j < 16; ++j) CHECK(back[j] == (i == j ? 1.0f : 0.0f));
  }
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float dot = 0;
      for (int k = 0; k < 16; ++k) dot += rows[i][k] * rows[j][k];
      CHECK(dot == (i == j ? 1.0f : 0.0f));
    }
}

// The definition, recursively: the last step joins the two halves.
void by_halves(float const* x, int n, float* y) {
  if (n == 1) {
    *y = *x;
    return;
  }
  float low[16], high[16];
  by_halves(x, n / 2, low);
  by_halves(x + n / 2, n / 2, high);
  for (int i = 0; i < n / 2; ++i) {
    y[i] = add(low[i], high[i]);
    y[i + n / 2] = sub(low[i], high[i]);
  }
}

TEST_CASE("the order of the additions is the one that is written down, and it matters") {
  std::mt19937 random(2);
  uint64_t wrong = 0, other_order_differs = 0;
  for (int trial = 0; trial < 500; ++trial) {
    float x[16], signed_x[16], want[16];
    for (float& v : x) v = from_bits<float>((random() & 0x83ffffffu) | 0x3c000000u);
    for (int i = 0; i < 16; ++i) signed_x[i] = (hadamard_signs >> i & 1) != 0 ? -x[i] : x[i];
    by_halves(signed_x, 16, want);
    float other[16]; // row by row, from left to right
    for (int j = 0; j < 16; ++j) {
      other[j] = signed_x[0];
      for (int i = 1; i < 16; ++i)
        other[j] = __builtin_popcount(static_cast<unsigned>(i & j)) % 2 != 0 ? sub(other[j], signed_x[i])
                                                                              : add(other[j], signed_x[i]);
    }
    hadamard16(x);
    for (int j = 0; j < 16; ++j) {
      wrong += to_bits(x[j]) != to_bits(mul(want[j], 0.25f));
      other_order_differs += to_bits(x[j]) != to_bits(mul(other[j], 0.25f));
    }
  }
  CHECK(wrong == 0);
  CHECK(other_order_differs > 100);
}

constexpr float first_row() {
  float x[16] = {};
  x[3] = 1.0f;
  hadamard16(x);
  return x[1];
}
static_assert(first_row() == 0.25f); // sign of element 3 is -1, H[3][1] is -1

TEST_CASE("rounded to bfloat16, after the transform and once") {
  std::mt19937 random(3);
  uint64_t wrong = 0, changed = 0;
  for (int trial = 0; trial < 200; ++trial) {
    float x[16], y[16];
    for (int i = 0; i < 16; ++i) x[i] = y[i] = decode(bf16{static_cast<uint16_t>((random() & 0x81ff) | 0x3e00)});
    hadamard16(x);
    hadamard16_as<bf16>(y);
    for (int i = 0; i < 16; ++i) {
      wrong += to_bits(y[i]) != to_bits(decode(encode<bf16>(x[i])));
      changed += to_bits(y[i]) != to_bits(x[i]);
    }
  }
  CHECK(wrong == 0);
  CHECK(changed > 100);
}

TEST_CASE("subnormal numbers are kept; an infinity or NaN reaches every result") {
  float x[16] = {};
  x[0] = from_bits<float>(64);
  hadamard16(x);
  for (float v : x) CHECK(to_bits(v) == 16);
  for (uint32_t bits : {0x7f800000u, 0x7fc00001u}) {
    float z[16] = {};
    z[5] = from_bits<float>(bits);
    hadamard16(z);
    for (float v : z) CHECK_FALSE(is_finite(v));
  }
}

} // namespace
