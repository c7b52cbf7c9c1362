// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! How the elements of compared results are shown: name, bits, value, class, distance.
#pragma once

#include <isobit/bits/ordered.hpp>
#include <isobit/format/element.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace isobit::inline bits1::testing {

enum class number_class { zero, subnormal, normal, infinity, nan, other };

//! A type of elements, described at run time.
struct element_kind {
  std::string name;
  size_t size;
  std::string (*describe)(void const*);        //!< "0x80000000  -0  zero"
  number_class (*classify)(void const*);       //!< `other` for what is not a floating-point number
  uint64_t (*apart)(void const*, void const*); //!< units in the last place; null for other types
};

namespace detail {

template <class... Values> std::string formatted(char const* format, Values... values) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}
inline std::string formatted(char const* text) { return text; }

inline char const* name_of(number_class c) {
  constexpr char const* names[] = {"zero", "subnormal", "normal", "infinity", "NaN", ""};
  return names[static_cast<int>(c)];
}

template <class T> T read(void const* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <class T> number_class class_of_number(T x) {
  if constexpr (ieee_float<T>) {
    return is_nan(x)         ? number_class::nan
           : is_inf(x)       ? number_class::infinity
           : is_zero(x)      ? number_class::zero
           : is_subnormal(x) ? number_class::subnormal
                             : number_class::normal;
  } else if constexpr (small_float<T>) {
    number_class const c = class_of_number(decode(x));
    bool const below = (x.bits & T::format.magnitude()) >> T::format.mantissa_bits == 0;
    return c == number_class::normal && below ? number_class::subnormal : c;
  } else {
    return number_class::other;
  }
}

template <class T> number_class classify(void const* p) { return class_of_number(read<T>(p)); }

template <class T> uint64_t apart(void const* pa, void const* pb) {
  T const a = read<T>(pa), b = read<T>(pb);
  if constexpr (ieee_float<T>) {
    return ulp_distance(a, b);
  } else if constexpr (small_float<T>) {
    bool const a_nan = is_nan(a), b_nan = is_nan(b);
    if (a_nan || b_nan) return a_nan && b_nan ? 0 : ~uint64_t(0);
    auto const place = [](T x) {
      int64_t const m = x.bits & T::format.magnitude();
      return (x.bits & T::format.sign()) != 0 ? -m : m;
    };
    int64_t const d = place(a) - place(b);
    return static_cast<uint64_t>(d < 0 ? -d : d);
  } else {
    return 0;
  }
}

template <class T> std::string describe(void const* p) {
  T const x = read<T>(p);
  if constexpr (stl::same_as<T, float>) {
    return formatted("0x%08x  %.9g  %s", to_bits(x), static_cast<double>(x), name_of(class_of_number(x)));
  } else if constexpr (stl::same_as<T, double>) {
    return formatted("0x%016llx  %.17g  %s", static_cast<unsigned long long>(to_bits(x)), x,
                     name_of(class_of_number(x)));
  } else if constexpr (small_float<T>) {
    return formatted("0x%0*x  %.9g  %s", static_cast<int>(2 * sizeof x), static_cast<unsigned>(x.bits),
                     static_cast<double>(decode(x)), name_of(class_of_number(x)));
  } else if constexpr (stl::is_integral_v<T>) {
    auto const u = static_cast<unsigned long long>(x) & (~0ull >> (64 - 8 * sizeof x));
    if constexpr (stl::is_signed_v<T>)
      return formatted("0x%0*llx  %lld", static_cast<int>(2 * sizeof x), u, static_cast<long long>(x));
    else
      return formatted("0x%0*llx  %llu", static_cast<int>(2 * sizeof x), u, u);
  } else {
    std::string out = "bytes";
    auto const* const bytes = static_cast<unsigned char const*>(p);
    for (size_t i = 0; i < sizeof(T) && i < 48; ++i) out += formatted(" %02x", static_cast<unsigned>(bytes[i]));
    return sizeof(T) > 48 ? out + " ..." : out;
  }
}

template <class T> std::string type_name() {
  if constexpr (stl::same_as<T, float>)
    return "float";
  else if constexpr (stl::same_as<T, double>)
    return "double";
  else if constexpr (small_float<T>)
    return T::format.mantissa_bits == 10  ? "f16"
           : T::format.exponent_bits == 8 ? "bf16"
                                          : formatted("e%dm%d", T::format.exponent_bits, T::format.mantissa_bits);
  else if constexpr (stl::is_integral_v<T>)
    return formatted("%s%d", stl::is_signed_v<T> ? "int" : "uint", static_cast<int>(8 * sizeof(T)));
  else
    return formatted("%d-byte value", static_cast<int>(sizeof(T)));
}

} // namespace detail

//! The description of `T`. All bytes of an element count, padding too: give compared types none.
template <class T> element_kind kind_of() {
  static_assert(__is_trivially_copyable(T), "isobit: only trivially copyable elements can be compared by their bits");
  constexpr bool number = ieee_float<T> || small_float<T>;
  return {detail::type_name<T>(), sizeof(T), &detail::describe<T>, &detail::classify<T>,
          number ? &detail::apart<T> : nullptr};
}

} // namespace isobit::inline bits1::testing
