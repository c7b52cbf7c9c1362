// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Exact sums and dot products: no rounding but the last, and therefore the same bits for any order of the inputs.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/accum/exact_state.hpp>
#include <isobit/accum/factors.hpp>
#include <isobit/arith/op.hpp>
#if !defined(__CUDACC_RTC__)
#include <isobit/accum/exact_bins.hpp>
#endif

namespace isobit::inline bits1 {

namespace detail {

template <class T> struct exact_value {
  using type = float; // what loads of narrow elements give
};
template <ieee_float T> struct exact_value<T> { using type = T; };

// The code of x in the format T. A float that is no value of T becomes a NaN: better loud than rounded in secret.
template <class T> ISOBIT_HD constexpr typename exact_fields<T>::bits exact_code(float x) {
  using f = exact_fields<T>;
  using wide = exact_fields<float>;
  constexpr int dropped = wide::mantissa_bits - f::mantissa_bits;
  constexpr uint32_t infinity = ((1u << f::exponent_bits) - 1) << f::mantissa_bits;
  uint32_t const magnitude = magnitude_bits(x);
  uint32_t const sign = sign_bit(x) ? 1u << (f::exponent_bits + f::mantissa_bits) : 0;
  if (magnitude >= float_fields<float>::exponent)
    return magnitude == float_fields<float>::exponent ? infinity | sign : f::quiet_nan;
  if constexpr (f::exponent_bits == wide::exponent_bits) {
    return (magnitude & ((1u << dropped) - 1)) == 0 ? (magnitude >> dropped) | sign : f::quiet_nan;
  } else {
    if (magnitude == 0) return sign;
    auto const p = split_bits<float>(magnitude);
    // On the grid of T; a float's subnormal numbers are below it.
    int const width = bit_width(p.significand);
    int const at = static_cast<int>(p.position) + exact_grid<float>::lowest - exact_grid<T>::lowest; // of the last bit
    int const leading = at + width - 1;
    int const last = leading > f::mantissa_bits ? leading - f::mantissa_bits : 0;
    int const lost = last - at;
    if (leading < 0 || lost < 0 || lost > 63 || (p.significand & ((uint64_t(1) << lost) - 1)) != 0) return f::quiet_nan;
    uint32_t const code =
        (static_cast<uint32_t>(last) << f::mantissa_bits) + static_cast<uint32_t>(p.significand >> lost);
    return code >= infinity ? f::quiet_nan : code | sign;
  }
}

template <class T> ISOBIT_HD constexpr typename exact_fields<T>::bits exact_bits(T x) {
  return exact_fields<T>::get(x);
}
template <class T>
  requires(!ieee_float<T>)
ISOBIT_HD constexpr typename exact_fields<T>::bits exact_bits(float x) {
  return exact_code<T>(x);
}

template <class T>
ISOBIT_HD constexpr void deposit_bits(exact_state<exact_grid<T>>& s, typename exact_fields<T>::bits b) {
  auto const p = split_bits<T>(b);
  if (!p.finite) {
    s.flags = join_flags(s.flags, exact_number | (p.nan        ? exact_nan
                                                  : p.negative ? exact_minus_infinity
                                                               : exact_plus_infinity));
    return;
  }
  s.flags = join_flags(s.flags, p.significand == 0 && p.negative ? exact_minus_zero : exact_number);
  add_shifted<2>(s, p.position, p.significand, 0, p.negative);
}

// a*b = (-1)^negative * (low + 2^64 high) * 2^(position + exact_product_grid<T>::lowest), where finite.
struct exact_product_parts {
  uint64_t low, high, flags;
  uint32_t position;
  bool negative;
  bool finite;
};
template <class T>
ISOBIT_HD constexpr exact_product_parts split_product(typename exact_fields<T>::bits a,
                                                      typename exact_fields<T>::bits b) {
  auto const p = split_bits<T>(a), q = split_bits<T>(b);
  bool const negative = p.negative != q.negative, zero = p.significand == 0 || q.significand == 0;
  exact_product_parts r{0, 0, exact_number, p.position + q.position, negative, p.finite && q.finite};
  if (!r.finite) {
    bool const nan = p.nan || q.nan || (p.finite && p.significand == 0) || (q.finite && q.significand == 0);
    r.flags |= nan ? exact_nan : negative ? exact_minus_infinity : exact_plus_infinity;
    return r;
  }
  if (zero && negative) r.flags = exact_minus_zero;
  if constexpr (exact_fields<T>::mantissa_bits <= 31)
    r.low = p.significand * q.significand;
  else
    multiply_wide(p.significand, q.significand, r.low, r.high);
  return r;
}

template <class T>
ISOBIT_HD constexpr void deposit_product_bits(exact_state<exact_product_grid<T>>& s, typename exact_fields<T>::bits a,
                                              typename exact_fields<T>::bits b) {
  constexpr int parts = exact_fields<T>::mantissa_bits <= 31 ? 2 : 3;
  auto const p = split_product<T>(a, b);
  s.flags = join_flags(s.flags, p.flags);
  if (p.finite) add_shifted<parts>(s, p.position, p.low, p.high, p.negative);
}

} // namespace detail

//! The exact sum of `T` (float, double, f16, bf16, e5m2), rounded once, to the nearest `Result`, ties to even.
//!
//! The state is one integer as wide as the range of `T` and 2^headroom_log2 times it: float 56 bytes, double 280, f16
//! 24, bf16 56 (see exact_state.hpp). Every deposit carries through at once, so there is nothing to renormalise, and
//! adding is associative and commutative in every byte of the state. Should more than 2^headroom_log2 numbers of the
//! largest size (at least 2^64; no caller gets there but by doubling a state some 80 times) exceed the integer, the
//! result is NaN.
//!
//!     exact<float> acc;
//!     exact<float>::state s{};                    // the sum of nothing
//!     for (float v : values) acc.deposit(s, v);   // any order, any split: s + t merges
//!     float sum = acc.finish(s);
//!
//! Special values: a NaN, or both infinities, give the canonical NaN; one infinity gives that infinity: the class of
//! the plain IEEE sum of the same values where its partial sums are finite. Finite sums never overflow on the way; only
//! the exact sum is rounded, to infinity where IEEE rounds it so. -0 alone (any number of them) gives -0; an exact zero
//! from anything else, and the sum of nothing, +0.
//!
//! Narrow `T`: inputs come as float, as every load gives them; a float that is no value of `T` counts as NaN.
//! Level: order-free, and all others. Cost of a deposit: about 20 integer operations; host arrays far less
//! (exact_bins.hpp).
template <class T, class Result = typename detail::exact_value<T>::type> struct exact {
  using element = T;
  using grid = exact_grid<T>;
  using input = typename detail::exact_value<T>::type;
  using state = exact_state<grid>;
  using result = Result;
  static constexpr bool commutative = true;
  //! States may be combined in any order, and `state{}` is the state of no input: see `order_free_accumulator`.
  static constexpr bool order_free = true;
  //! log2 of the number of deposits of the largest number that the state holds.
  static constexpr int headroom_log2 = grid::headroom_bits;

  ISOBIT_HD constexpr void deposit(state& s, input x) const { detail::deposit_bits<T>(s, detail::exact_bits<T>(x)); }
  ISOBIT_HD constexpr void deposit(state& s, T x) const
    requires(!stl::same_as<T, input>)
  {
    detail::deposit_bits<T>(s, detail::exact_bits<T>(x));
  }
  ISOBIT_HD constexpr state lift(input x) const {
    state s{};
    deposit(s, x);
    return s;
  }
  ISOBIT_HD constexpr state lift(T x) const
    requires(!stl::same_as<T, input>)
  {
    state s{};
    deposit(s, x);
    return s;
  }
  ISOBIT_HD constexpr state combine(state const& left, state const& right) const { return left + right; }
  ISOBIT_HD constexpr result finish(state const& s) const { return detail::round_state<Result>(s); }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }

#if !defined(__CUDACC_RTC__)
  //! Deposits `load(first) .. load(first + n - 1)`; host only, for long runs.
  template <class Load> void deposit_range(state& s, uint64_t first, uint64_t n, Load const& load) const {
    auto const code = [&](uint64_t i) {
      if constexpr (requires { requires stl::same_as<stl::remove_cvref_t<decltype(load.data[i])>, T>; })
        return detail::exact_bits<T>(load.data[first + i]); // an array: its own codes
      else
        return detail::exact_bits<T>(load(first + i));
    };
    if (n < detail::exact_bins<T>::worth_while)
      for (uint64_t i = 0; i < n; ++i) detail::deposit_bits<T>(s, code(i));
    else
      detail::deposit_by_bins<T>(s, n, code);
  }
#endif
};

//! The exact sum of products a*b of `T` (float, double, f16, bf16), rounded once to the nearest `Result`. Products are
//! exact integers too, so nothing underflows or overflows on the way. float 88 bytes, double 544. Special values: each
//! product has the class and sign of the IEEE product (infinity times zero is NaN; products of zeros have signs), else
//! as `exact`.
//!
//!     float d = reduce(host(), n, [=](size_t i) { return factors<float>{x[i], y[i]}; }, exact_dot<float>{});
//!
//! Narrow `T`: factors of float that are values of `T`. Level: order-free, and all others.
template <class T, class Result = typename detail::exact_value<T>::type> struct exact_dot {
  using element = T;
  using grid = exact_product_grid<T>;
  using factor = typename detail::exact_value<T>::type;
  using input = factors<factor>;
  using state = exact_state<grid>;
  using result = Result;
  static constexpr bool commutative = true;
  static constexpr bool order_free = true;
  static constexpr int headroom_log2 = grid::headroom_bits;

  ISOBIT_HD constexpr void deposit(state& s, input const& x) const { deposit(s, x.a, x.b); }
  ISOBIT_HD constexpr void deposit(state& s, factor a, factor b) const {
    detail::deposit_product_bits<T>(s, detail::exact_bits<T>(a), detail::exact_bits<T>(b));
  }
  ISOBIT_HD constexpr state lift(input const& x) const {
    state s{};
    deposit(s, x);
    return s;
  }
  ISOBIT_HD constexpr state combine(state const& left, state const& right) const { return left + right; }
  ISOBIT_HD constexpr result finish(state const& s) const { return detail::round_state<Result>(s); }
  ISOBIT_HD constexpr result empty() const { return finish(state{}); }

#if !defined(__CUDACC_RTC__)
  //! Deposits `load(first) .. load(first + n - 1)`; host only, for long runs. Products of floats are exact in double.
  template <class Load>
    requires(stl::same_as<T, float>)
  void deposit_range(state& s, uint64_t first, uint64_t n, Load const& load) const {
    if (n < detail::exact_bins<double>::worth_while) {
      for (uint64_t i = 0; i < n; ++i) deposit(s, load(first + i));
    } else {
      detail::deposit_by_bins<double>(s, n, [&](uint64_t i) {
        input const p = load(first + i);
        return to_bits(mul(convert<double>(p.a), convert<double>(p.b)));
      });
    }
  }
#endif
};

} // namespace isobit::inline bits1
