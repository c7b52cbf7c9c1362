// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Sums of products: dot, sum of squares, Euclidean norm. How a product is rounded is named in the call.
#pragma once

#include <isobit/accum/double_float.hpp>
#include <isobit/accum/factors.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/reduce.hpp>
#include <isobit/algo/zip.hpp>

namespace isobit::inline bits1 {

//! The sum of exact products: a product enters as a `double_word` (its nearest `T`, and the rounding error by a fused
//! multiply-add), the sum goes on as `double_float`: the same bounds, with x_i y_i for x_i, and the same special values.
//! A product does not overflow. One whose error lies below the smallest subnormal number loses at most half of that.
template <ieee_float T> struct sum_of_products {
  using input = factors<T>;
  using state = double_word<T>;
  using result = T;
  static constexpr bool commutative = true;
  ISOBIT_HD constexpr state lift(input p) const { return detail::product_in_two_words(p.a, p.b); }
  ISOBIT_HD constexpr state combine(state left, state right) const { return double_float<T>{}.combine(left, right); }
  ISOBIT_HD constexpr T finish(state s) const { return double_float<T>{}.finish(s); }
  ISOBIT_HD constexpr T empty() const { return T(0); }
};

//! The square root of what the sum `Sum` gives. With `sum_of_products` the sum under the root does not overflow either.
template <class Sum> struct root_of {
  using input = typename Sum::input;
  using state = typename Sum::state;
  using result = typename Sum::result;
  static constexpr bool commutative = true;
  ISOBIT_HD constexpr state lift(input const& p) const { return Sum{}.lift(p); }
  ISOBIT_HD constexpr state combine(state const& left, state const& right) const { return Sum{}.combine(left, right); }
  ISOBIT_HD constexpr result finish(state const& s) const {
    if constexpr (stl::same_as<state, double_word<result>>)
      if (detail::is_scaled(s)) return canonical(mul(sqrt_of(s.low), detail::double_word_scale<result>::up));
    return canonical(sqrt_of(Sum{}.finish(s)));
  }
  ISOBIT_HD constexpr result empty() const { return result(0); }

private:
  ISOBIT_HD static constexpr result sqrt_of(result x) { return isobit::sqrt(x); }
};

//! The recipe "multiply, round, add": each product is rounded to `T`, the sum is `plain<T>`.
struct rounded_product {
  //! The accumulator of `dot` and `sum_of_squares`; that of `norm2` is `root_of<accumulator<T>>`.
  template <class T> using accumulator = plain<T>;
  struct multiply {
    template <ieee_float T> ISOBIT_HD constexpr T operator()(T x, T y) const { return mul(x, y); }
    template <ieee_float T> ISOBIT_HD constexpr T operator()(T x) const { return mul(x, x); }
  };
};

//! The recipe "multiply exactly, add in two words, round once" (`sum_of_products`).
struct fused_product {
  template <class T> using accumulator = sum_of_products<T>;
  struct multiply {
    template <ieee_float T> ISOBIT_HD constexpr factors<T> operator()(T x, T y) const { return {x, y}; }
    template <ieee_float T> ISOBIT_HD constexpr factors<T> operator()(T x) const { return {x, x}; }
  };
};

namespace detail {

template <class R>
concept product_recipe = requires {
  typename R::multiply;
  typename R::template accumulator<float>;
};

#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
// Products of arrays on the host's vector registers (algo/fold_host.hpp).
template <class T> struct host_nodes<sum_of_products<T>> {
  using type = double_float<T>;
};
template <class Sum> struct host_nodes<root_of<Sum>> : host_nodes<Sum> {};

template <class T, class F, class A>
inline constexpr bool has_host_products = has_host_sums<contiguous<T>, typename host_nodes<A>::type> &&
    ((stl::same_as<F, rounded_product::multiply> && stl::same_as<typename host_nodes<A>::type, plain<typename A::result>>) ||
     (stl::same_as<F, fused_product::multiply> && is_double_float<typename host_nodes<A>::type>));
template <class T, class F, class A>
inline constexpr bool has_host_sums<zipped<contiguous<T>, contiguous<T>, F>, A> = has_host_products<T, F, A>;
template <class T, class F, class A>
inline constexpr bool has_host_sums<mapped<contiguous<T>, F>, A> = has_host_products<T, F, A>;

template <class T, class F> struct host_leaves<zipped<contiguous<T>, contiguous<T>, F>> {
  static product_array<T> from(zipped<contiguous<T>, contiguous<T>, F> const& load, uint64_t i) {
    return {load.x.data + i, load.y.data + i};
  }
};
template <class T, class F> struct host_leaves<mapped<contiguous<T>, F>> {
  static product_array<T> from(mapped<contiguous<T>, F> const& load, uint64_t i) {
    return {load.load.data + i, load.load.data + i};
  }
};
#endif

template <class Recipe> struct root_of_recipe {
  template <class T> using accumulator = root_of<typename Recipe::template accumulator<T>>;
};

template <class Load> using loaded_element = stl::remove_cvref_t<decltype(decode_element(stl::declval<Load const&>()(0)))>;

template <class Index, class X> ISOBIT_HD constexpr auto as_elements(X const& x) {
  return as_load<Index>(array_or_load(x));
}

#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
template <class X> void check_array(char const* function, char const* argument, X const& x, bool empty) {
  if constexpr (stl::is_pointer_v<X>) {
    if (x == nullptr && !empty) throw invalid_argument(function, argument, "non-null when n > 0");
    constexpr auto alignment = alignof(stl::remove_pointer_t<X>);
    if (reinterpret_cast<stl::uintptr_t>(x) % alignment != 0)
      throw invalid_argument(function, argument, "aligned to", alignment, "bytes");
  }
}
#endif

template <class Group, class Index>
ISOBIT_HD void check_count([[maybe_unused]] char const* function, [[maybe_unused]] Index n) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group> && stl::is_signed_v<Index>)
    if (n < 0) throw invalid_argument(function, "n", "0 or more");
#endif
}
template <class Group, class X>
ISOBIT_HD void check_input([[maybe_unused]] char const* function, [[maybe_unused]] char const* argument,
                           [[maybe_unused]] X const& x, [[maybe_unused]] bool empty) {
#if !defined(ISOBIT_ON_DEVICE) && !defined(__CUDACC_RTC__)
  if constexpr (is_host<Group>) check_array(function, argument, x, empty);
#endif
}

// The squares of x(0) .. x(n - 1), which `Recipe` multiplies, by the accumulator `A<T>`.
template <class Recipe, class Order, template <class> class A, class Group, class Index, class X>
ISOBIT_HD auto reduce_squares(char const* function, Group const& g, Index n, X const& x) {
  check_count<Group>(function, n);
  check_input<Group>(function, "x", x, n == 0);
  auto const a = as_elements<Index>(x);
  using T = loaded_element<decltype(a)>;
  static_assert(ieee_float<T>, "isobit: sum_of_squares and norm2 need a load of float (or narrower) or double");
  return reduce<Order>(g, static_cast<uint64_t>(n), map(a, typename Recipe::multiply{}), A<T>{});
}

} // namespace detail

//! x(0) y(0) + ... + x(n - 1) y(n - 1) in the order `Order`.
//!
//! - `Recipe`: `rounded_product` (default: one multiplication and one addition an element, the error of both),
//!   `fused_product` (exact products, double-word sum: correct to the last place unless the sum cancels to u^2), or
//!   `exact_product` (algo/exact_product.hpp: order-free, always correctly rounded).
//! - `x`, `y`: arrays, or loads, whose elements are float or double after decoding, of the same type; narrow floats are
//!   multiplied as floats. Two aligned arrays with elements of one size are read by 16-byte accesses.
//! - `g`, `n`, errors and guarantee: as `reduce`. A `block` needs storage for `Recipe::accumulator<T>`.
//!
//! Returns `T` (a `grid`: `grid_result<T>`); +0 for n = 0. Products that overflow: `rounded_product` gives infinities as
//! plain IEEE arithmetic does, `fused_product` overflows only where the result does.
template <class Recipe = rounded_product, class Order = tree, class Group, stl::integral Index, class X, class Y>
ISOBIT_HD auto dot(Group const& g, Index n, X const& x, Y const& y) {
  static_assert(detail::product_recipe<Recipe>, "isobit: the recipe of a product is rounded_product, fused_product or exact_product");
  detail::check_count<Group>("dot", n);
  detail::check_input<Group>("dot", "x", x, n == 0);
  detail::check_input<Group>("dot", "y", y, n == 0);
  auto const a = detail::as_elements<Index>(x);
  auto const b = detail::as_elements<Index>(y);
  using T = detail::loaded_element<decltype(a)>;
  static_assert(ieee_float<T> && stl::same_as<T, detail::loaded_element<decltype(b)>>,
                "isobit: dot needs two loads of the same floating-point type: float (or narrower) or double");
  return reduce<Order>(g, static_cast<uint64_t>(n), zip(a, b, typename Recipe::multiply{}),
                       typename Recipe::template accumulator<T>{});
}

//! x(0)^2 + ... + x(n - 1)^2; see `dot`, of which it has the bits with y = x.
template <class Recipe = rounded_product, class Order = tree, class Group, stl::integral Index, class X>
ISOBIT_HD auto sum_of_squares(Group const& g, Index n, X const& x) {
  static_assert(detail::product_recipe<Recipe>, "isobit: the recipe of a product is rounded_product, fused_product or exact_product");
  return detail::reduce_squares<Recipe, Order, Recipe::template accumulator>("sum_of_squares", g, n, x);
}

//! The Euclidean norm: the square root of `sum_of_squares`, taken where the sum is finished. `fused_product` does not
//! overflow unless the norm does, and is within one unit in the last place as long as no square underflows (elements of
//! less than 2^-51 or 2^-485 beside nothing larger). A `block` needs storage for `root_of<Recipe::accumulator<T>>`, which
//! has the states of `Recipe::accumulator<T>`.
template <class Recipe = rounded_product, class Order = tree, class Group, stl::integral Index, class X>
ISOBIT_HD auto norm2(Group const& g, Index n, X const& x) {
  static_assert(detail::product_recipe<Recipe>, "isobit: the recipe of a product is rounded_product, fused_product or exact_product");
  return detail::reduce_squares<Recipe, Order, detail::root_of_recipe<Recipe>::template accumulator>("norm2", g, n, x);
}

} // namespace isobit::inline bits1
