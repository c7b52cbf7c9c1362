// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the code under test returned, as bytes: one or several arrays of any trivially copyable types.
#pragma once

#include <isobit/testing/element_kind.hpp>

#include <cstring>
#include <iterator>
#include <ranges>
#include <tuple>
#include <vector>

namespace isobit::inline bits1::testing {

//! One array of results.
struct output {
  element_kind kind;
  std::vector<unsigned char> bytes;
  uint64_t count() const { return bytes.size() / kind.size; }
};

//! All arrays that one run gave.
using outputs = std::vector<output>;

//! What a function under test may return: a contiguous container or a view of one (`std::vector<float>`, `std::span`,
//! `std::array`), a single trivially copyable value, a `std::tuple` or `std::pair` of these, or `outputs`.
//! An array that a pointer names: `std::span(pointer, n)`.
template <class R> outputs outputs_of(R const& r);

namespace detail {

template <class T> output output_of(T const* data, size_t n) {
  output out{kind_of<T>(), std::vector<unsigned char>(n * sizeof(T))};
  if (n > 0) std::memcpy(out.bytes.data(), static_cast<void const*>(data), n * sizeof(T));
  return out;
}

template <class R> void collect(outputs& out, R const& r) {
  if constexpr (std::same_as<R, outputs>) {
    out.insert(out.end(), r.begin(), r.end());
  } else if constexpr (std::ranges::contiguous_range<R const> && std::ranges::sized_range<R const>) {
    out.push_back(output_of(std::ranges::data(r), std::ranges::size(r)));
  } else if constexpr (requires { std::tuple_size<R>::value; }) {
    std::apply([&](auto const&... each) { (collect(out, each), ...); }, r);
  } else {
    static_assert(!std::ranges::range<R> && !std::is_pointer_v<R>,
                  "isobit: results are contiguous arrays; std::vector<bool>, lists and bare pointers are not");
    out.push_back(output_of(&r, 1));
  }
}

inline uint64_t count_of(outputs const& o) {
  uint64_t n = 0;
  for (output const& each : o) n += each.count();
  return n;
}

//! Two results, compared.
struct comparison {
  bool same_shape = true;
  uint64_t compared = 0, different = 0;
  uint64_t output = 0, index = 0; //!< of the first difference
  std::string text;               //!< what differs, several lines; empty when nothing does

  bool equal() const { return same_shape && different == 0; }
};

inline comparison of_other_shape(std::string const& text) {
  comparison c;
  c.same_shape = false;
  c.text = text;
  return c;
}

//! The lines about one differing element, from its bytes in both.
inline std::string about(element_kind const& k, uint64_t index, uint64_t chunk, void const* a, void const* b) {
  std::string text = "\n  first at element " + std::to_string(index);
  if (chunk > 0) text += " (chunk " + std::to_string(index / chunk) + " of " + std::to_string(chunk) + " elements)";
  text += "\n    one:   " + k.describe(a) + "\n    other: " + k.describe(b);
  if (k.apart == nullptr) return text;
  number_class const ca = k.classify(a), cb = k.classify(b);
  if (ca == number_class::nan && cb == number_class::nan) return text + "\n    two NaNs with different bits";
  if (ca == number_class::nan || cb == number_class::nan) return text + "\n    a NaN and a number";
  if (ca == number_class::zero && cb == number_class::zero) return text + "\n    zeros of different sign";
  return text + "\n    " + std::to_string(k.apart(a, b)) + " units in the last place apart";
}

//! Element by element, all outputs.
inline comparison compare(outputs const& a, outputs const& b, uint64_t chunk) {
  if (a.size() != b.size())
    return of_other_shape(std::to_string(a.size()) + " against " + std::to_string(b.size()) + " outputs");
  comparison c;
  for (size_t o = 0; o < a.size(); ++o) {
    element_kind const& k = a[o].kind;
    std::string const which = a.size() > 1 ? "output " + std::to_string(o) + ": " : "";
    if (k.size != b[o].kind.size || k.name != b[o].kind.name)
      return of_other_shape(which + "elements of type " + k.name + " against " + b[o].kind.name);
    uint64_t const n = a[o].count();
    if (n != b[o].count())
      return of_other_shape(which + std::to_string(n) + " against " + std::to_string(b[o].count()) + " elements");
    c.compared += n;
    unsigned char const *pa = a[o].bytes.data(), *pb = b[o].bytes.data();
    if (n == 0 || std::memcmp(pa, pb, a[o].bytes.size()) == 0) continue;

    uint64_t different = 0, first = n, zeros = 0, nans = 0, largest = 0, at = 0;
    for (uint64_t i = 0; i < n; ++i, pa += k.size, pb += k.size) {
      if (std::memcmp(pa, pb, k.size) == 0) continue;
      if (different++ == 0) first = i;
      if (k.apart == nullptr) continue;
      uint64_t const d = k.apart(pa, pb);
      zeros += d == 0 && k.classify(pa) == number_class::zero;
      nans += d == 0 && k.classify(pa) == number_class::nan;
      if (d > largest) largest = d, at = i;
    }
    if (c.different == 0) {
      c.output = o;
      c.index = first;
      c.text = which + std::to_string(different) + " of " + std::to_string(n) + " elements (" + k.name + ") differ" +
               about(k, first, chunk, &a[o].bytes[first * k.size], &b[o].bytes[first * k.size]);
      if (zeros > 0) c.text += "\n  " + std::to_string(zeros) + " differ in the sign of a zero only";
      if (nans > 0) c.text += "\n  " + std::to_string(nans) + " differ in the bits of a NaN only";
      if (largest == ~uint64_t(0) || (k.size == 4 && largest == 0xffffffffu))
        c.text += "\n  a NaN stands against a number at element " + std::to_string(at);
      else if (different > 1 && largest > 0)
        c.text += "\n  largest distance: " + std::to_string(largest) + " units in the last place, at element " +
                  std::to_string(at);
    }
    c.different += different;
  }
  return c;
}

} // namespace detail

template <class R> outputs outputs_of(R const& r) {
  outputs out;
  detail::collect(out, r);
  return out;
}

} // namespace isobit::inline bits1::testing
