// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Inputs that find mistakes. Each is a load: `generator(i)` is element i, a function of the seed and i alone, with the
//! same bits on the host and in a kernel. Integer operations only.
#pragma once

#include <isobit/bits/cast.hpp>
#include <isobit/testing/philox.hpp>

#if !defined(__CUDACC_RTC__)
#include <vector>
#endif

namespace isobit::inline bits1::testing {

namespace detail {

// A number with a random sign and mantissa and the exponent 2^e; e within the normal numbers.
template <ieee_float T> ISOBIT_HD constexpr T with_exponent(uint64_t random, int e) {
  using f = float_fields<T>;
  auto const b = static_cast<float_bits<T>>(random);
  return from_bits<T>((b & (f::sign | f::mantissa)) | static_cast<float_bits<T>>(f::bias + e) << f::mantissa_bits);
}

ISOBIT_HD constexpr int floor_log2(uint64_t x) {
  int r = 0;
  while (x >>= 1) ++r;
  return r;
}

} // namespace detail

//! A pseudorandom permutation of [0, n): a Feistel network of four rounds with cycle walking.
struct permutation {
  uint64_t seed;
  uint64_t n;

  //! Precondition: i < n.
  ISOBIT_HD constexpr uint64_t operator()(uint64_t i) const {
    if (n < 2) return i;
    int const half = (detail::floor_log2(n - 1) + 2) / 2;
    uint64_t const mask = (uint64_t(1) << half) - 1;
    do {
      uint64_t left = i >> half, right = i & mask;
      for (uint64_t round = 0; round < 4; ++round) {
        uint64_t const next = left ^ (philox_word(seed, 0x7065726du + round, right) & mask);
        left = right;
        right = next;
      }
      i = left << half | right;
    } while (i >= n);
    return i;
  }
};

//! The elements of another load in another order: another rounding of every order-sensitive sum.
template <class Load> struct permuted {
  Load load;
  permutation order;
  ISOBIT_HD constexpr auto operator()(uint64_t i) const { return load(order(i)); }
};
template <class Load> ISOBIT_HD constexpr permuted<Load> permute(Load const& load, uint64_t n, uint64_t seed) {
  return {load, {seed, n}};
}

//! Both signs, exponents spread evenly from `low` to `high` (normal numbers): almost every addition rounds.
template <ieee_float T> struct wide_exponents {
  uint64_t seed;
  int low = -20, high = 20;
  ISOBIT_HD constexpr T operator()(uint64_t i) const {
    philox_block const r = philox_at(seed, 0x77696465u, i);
    auto const e = low + static_cast<int>(r.word[2] % static_cast<uint32_t>(high - low + 1));
    return detail::with_exponent<T>(uint64_t(r.word[1]) << 32 | r.word[0], e);
  }
};

//! Subnormal numbers (and a zero now and then) of both signs: what flushing destroys.
template <ieee_float T> struct subnormals {
  uint64_t seed;
  ISOBIT_HD constexpr T operator()(uint64_t i) const {
    using f = float_fields<T>;
    return from_bits<T>(static_cast<float_bits<T>>(philox_word(seed, 0x7375626eu, i)) & (f::sign | f::mantissa));
  }
};

//! +0 and -0. Their sum is +0 unless all are -0 (`negative_only`): an absent operand that is padded with +0 shows.
template <ieee_float T> struct signed_zeros {
  uint64_t seed;
  bool negative_only = false;
  ISOBIT_HD constexpr T operator()(uint64_t i) const {
    bool const negative = negative_only || (philox_word(seed, 0x7a65726fu, i) & 1) != 0;
    return from_bits<T>(negative ? float_fields<T>::sign : 0);
  }
};

//! Every class of number: zeros, subnormals, the largest, infinities, NaNs with all sorts of payloads, one, and numbers
//! of moderate size half of the time.
template <ieee_float T> struct every_class {
  uint64_t seed;
  ISOBIT_HD constexpr T operator()(uint64_t i) const {
    using f = float_fields<T>;
    using bits = float_bits<T>;
    philox_block const r = philox_at(seed, 0x636c6173u, i);
    bits const b = static_cast<bits>(uint64_t(r.word[1]) << 32 | r.word[0]);
    bits const sign = b & f::sign;
    switch (r.word[2] % 16) {
    case 0:
      return from_bits<T>(sign);
    case 1:
      return from_bits<T>(sign | f::exponent);
    case 2:
      return from_bits<T>(b | f::exponent | 1);
    case 3:
      return from_bits<T>(b & (f::sign | f::mantissa));
    case 4:
      return from_bits<T>(sign | (f::exponent - 1));
    case 5:
      return from_bits<T>(sign | 1);
    case 6:
      return from_bits<T>(sign | (f::mantissa + 1));
    case 7:
      return from_bits<T>(sign | static_cast<bits>(f::bias) << f::mantissa_bits);
    default:
      return detail::with_exponent<T>(uint64_t(r.word[1]) << 32 | r.word[0], static_cast<int>(r.word[3] % 41) - 20);
    }
  }
};

//! Another load with `value` (a NaN, an infinity, ...) at index `at`.
template <class Load, class T> struct with_special {
  Load load;
  uint64_t at;
  T value;
  ISOBIT_HD constexpr T operator()(uint64_t i) const { return i == at ? value : load(i); }
};
template <class Load, class T>
ISOBIT_HD constexpr with_special<Load, T> place_special(Load const& load, uint64_t at, T value) {
  return {load, at, value};
}

//! n numbers whose exact sum is known and far smaller than they are: pairs x, -x with |x| in [1, 2), one number
//! `exact_sum()`, a +0 when n is even, all in a pseudorandom order. The condition number of the sum,
//! sum |x_i| / |sum x_i|, is about 2^log2_condition; `condition()` is the achieved one.
//! Preconditions: n >= 1; the exact sum, about 3/2 n / 2^log2_condition, is a normal number.
template <ieee_float T> struct cancellation {
  uint64_t seed;
  uint64_t n;
  int log2_condition;

  ISOBIT_HD constexpr T operator()(uint64_t i) const {
    uint64_t const j = permutation{seed, n}(i);
    if (j == 0) return exact_sum();
    if (j > 2 * pairs()) return T(0);
    T const x = pair((j - 1) / 2);
    return j % 2 == 1 ? x : from_bits<T>(to_bits(x) ^ float_fields<T>::sign);
  }
  //! The sum of all elements, exactly.
  ISOBIT_HD constexpr T exact_sum() const {
    int const e = pairs() == 0 ? 0 : detail::floor_log2(3 * pairs()) - log2_condition;
    return detail::with_exponent<T>(philox_word(seed, 0x72657374u, 0), e);
  }
  //! The condition number, to within a few roundings of a double. Reads all elements.
  ISOBIT_HD constexpr double condition() const {
    double sum = 0;
    for (uint64_t k = 0; k < pairs(); ++k) {
      double const x = static_cast<double>(pair(k));
      sum += 2 * (x < 0 ? -x : x);
    }
    double const rest = static_cast<double>(exact_sum()), size = rest < 0 ? -rest : rest;
    return (sum + size) / size;
  }

private:
  ISOBIT_HD constexpr uint64_t pairs() const { return (n - 1) / 2; }
  ISOBIT_HD constexpr T pair(uint64_t k) const {
    return detail::with_exponent<T>(philox_word(seed, 0x70616972u, k), 0);
  }
};

#if !defined(__CUDACC_RTC__)
//! The first `n` elements of a generator as an array.
template <class Generator> auto elements(Generator const& generator, uint64_t n) {
  std::vector<stl::remove_cvref_t<decltype(generator(uint64_t{}))>> out;
  out.reserve(n);
  for (uint64_t i = 0; i < n; ++i) out.push_back(generator(i));
  return out;
}
#endif

} // namespace isobit::inline bits1::testing
