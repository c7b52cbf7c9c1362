// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Other libraries' ways of saying where elements lie, as loads: spans, multidimensional views in any layout, random
//! access iterators. Known by their members, so that nothing is included: std:: and cuda::std::span and mdspan, Kokkos'
//! mdspan, std::vector, Thrust's iterators.
//!
//! In device code the view's own members must be callable there: cuda::std's and Thrust's are, the standard library's
//! are under nvcc's --expt-relaxed-constexpr.
#pragma once

#include <isobit/algo/reduce.hpp>

namespace isobit::inline bits1 {

namespace detail {
template <class It> struct iterator_value {
  using type = stl::remove_cvref_t<decltype(*stl::declval<It const&>())>;
};
// A proxy reference (thrust::device_reference) is not the element.
template <class It>
  requires requires { typename It::value_type; }
struct iterator_value<It> {
  using type = typename It::value_type;
};
} // namespace detail

//! A multidimensional view: `rank()`, `extent(r)`, `data_handle()`, `mapping()`, `accessor()`.
template <class V>
concept md_view = requires(V const& v) {
  { V::rank() } -> stl::convertible_to<size_t>;
  typename V::index_type;
  v.extent(0);
  v.data_handle();
  v.mapping();
  v.accessor();
};

//! A contiguous array with its length: `data()`, a pointer, and `size()`.
template <class V>
concept array_view = !md_view<V> && requires(V const& v) {
  { v.size() } -> stl::convertible_to<uint64_t>;
  { *v.data() };
  requires stl::is_pointer_v<stl::remove_cvref_t<decltype(v.data())>>;
};

//! A random access iterator that is not a pointer: `it[i]`, `it + i`, `*it`.
template <class It>
concept indexable_iterator = !stl::is_pointer_v<It> && !array_view<It> && !md_view<It> && requires(It const& it) {
  it[stl::ptrdiff_t{}];
  it + stl::ptrdiff_t{};
  *it;
};

//! The elements data[0], data[step], data[2 * step], ...: a column of a row-major matrix, a row of a column-major one.
//! `step` may be 0 or negative. No 16-byte accesses.
template <class T> struct strided {
  T const* data;
  int64_t step;
  template <class Index> ISOBIT_HD element_value<T> operator()(Index i) const {
    return decode_element(data[static_cast<int64_t>(i) * step]);
  }
};
template <class T> strided(T const*, int64_t) -> strided<T>;
template <class T> strided(T*, int64_t) -> strided<T>;

//! The elements of a multidimensional view in the order of their indices, the last index fastest, whatever the layout:
//! a row-major and a column-major view of the same numbers give the same bits. Of a matrix also by (row, column), as
//! `reduce_columns` asks for them. Cost: a division for each dimension but the first, an element.
template <md_view View> struct view_elements {
  View view;

  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const { return at(static_cast<uint64_t>(i)); }
  ISOBIT_CALLS_USER_CODE
  template <class Row, class Column>
    requires(View::rank() == 2)
  ISOBIT_HD auto operator()(Row r, Column c) const {
    using index = typename View::index_type;
    return read(static_cast<index>(r), static_cast<index>(c));
  }

private:
  ISOBIT_CALLS_USER_CODE
  template <class... Indices> ISOBIT_HD auto read(Indices... indices) const {
    using value = stl::remove_cv_t<typename View::value_type>;
    return decode_element(static_cast<value>(
        view.accessor().access(view.data_handle(), static_cast<size_t>(view.mapping()(indices...)))));
  }
  // The dimensions whose indices are known are the last ones.
  ISOBIT_CALLS_USER_CODE
  template <class... Known> ISOBIT_HD auto at(uint64_t i, Known... known) const {
    constexpr auto left = View::rank() - sizeof...(Known);
    using index = typename View::index_type;
    if constexpr (left == 0) {
      return read(known...);
    } else if constexpr (left == 1) {
      return read(static_cast<index>(i), known...);
    } else {
      auto const n = static_cast<uint64_t>(view.extent(left - 1));
      return at(i / n, static_cast<index>(i % n), known...);
    }
  }
};

//! Row r, or column c, of a matrix view as a load. Precondition: r and c are within the view.
template <md_view View> struct view_row {
  view_elements<View> all;
  uint64_t row;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index c) const { return all(row, c); }
};
template <md_view View> struct view_column {
  view_elements<View> all;
  uint64_t column;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index r) const { return all(r, column); }
};
template <md_view View> ISOBIT_HD view_row<View> row_of(View const& view, uint64_t r) {
  static_assert(View::rank() == 2, "isobit: row_of takes a view with two dimensions");
  return {{view}, r};
}
template <md_view View> ISOBIT_HD view_column<View> column_of(View const& view, uint64_t c) {
  static_assert(View::rank() == 2, "isobit: column_of takes a view with two dimensions");
  return {{view}, c};
}

//! What an iterator points at and what follows it. The iterator may compute (transform, counting, permutation, zip).
template <indexable_iterator It> struct iterator_elements {
  It first;
  ISOBIT_CALLS_USER_CODE
  template <class Index> ISOBIT_HD auto operator()(Index i) const {
    using value = stl::remove_cv_t<typename detail::iterator_value<It>::type>;
    return decode_element(static_cast<value>(first[static_cast<stl::ptrdiff_t>(i)]));
  }
};

//! A pointer, array view, multidimensional view or random access iterator as a load. Arrays keep 16-byte accesses.
template <class T> ISOBIT_HD constexpr contiguous<T> load_of(T const* data) { return {data}; }
ISOBIT_CALLS_USER_CODE
template <array_view View> ISOBIT_HD constexpr auto load_of(View const& view) { return contiguous{view.data()}; }
template <md_view View> ISOBIT_HD constexpr view_elements<View> load_of(View const& view) { return {view}; }
template <indexable_iterator It> ISOBIT_HD constexpr iterator_elements<It> load_of(It const& first) { return {first}; }

//! How many elements a view has: 1 for one without dimensions.
ISOBIT_CALLS_USER_CODE
template <array_view View> ISOBIT_HD constexpr uint64_t size_of(View const& view) {
  return static_cast<uint64_t>(view.size());
}
ISOBIT_CALLS_USER_CODE
template <md_view View> ISOBIT_HD constexpr uint64_t size_of(View const& view) {
  uint64_t n = 1;
  using rank = decltype(View::rank());
  for (rank r = 0; r < View::rank(); ++r) n *= static_cast<uint64_t>(view.extent(r));
  return n;
}

//! `reduce` over all elements of a view; see `reduce(g, x, n, op)`, and `view_elements` for the order of a matrix.
ISOBIT_CALLS_USER_CODE
template <class Order = tree, class Group, array_view View, class Op = detail::plain_sum>
ISOBIT_HD auto reduce(Group const& g, View const& view, Op const& op = {}) {
  return reduce<Order>(g, load_of(view).data, size_of(view), op);
}
ISOBIT_CALLS_USER_CODE
template <class Order = tree, class Group, md_view View, class Op = detail::plain_sum>
ISOBIT_HD auto reduce(Group const& g, View const& view, Op const& op = {}) {
  return reduce<Order>(g, size_of(view), load_of(view), op);
}

} // namespace isobit::inline bits1
