// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Element types that a trace knows by name: their size, and how two elements differ.
#pragma once

#include <isobit/algo/dtype.hpp>
#include <isobit/bits/ordered.hpp>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace isobit::inline bits1::trace {

//! A type of elements that fill whole bytes, so that one can be looked at.
struct element_type {
  char const* name; //!< as isobit writes it
  dtype type;
  uint32_t bytes;
  std::string (*describe)(unsigned char const*); //!< "0x3f800000  1"
  //! Units in the last place between two numbers; nothing where that has no meaning (a NaN against a number, integers).
  std::optional<uint64_t> (*apart)(unsigned char const*, unsigned char const*);
};

namespace detail {

template <class T> T element_at(unsigned char const* p) {
  T x;
  std::memcpy(static_cast<void*>(&x), p, sizeof x);
  return x;
}

// A number's place among the numbers of its format, both zeros at 0; nothing for a NaN.
template <class T> std::optional<int64_t> place_of_number(T x) {
  if constexpr (stl::same_as<T, double> || stl::same_as<T, float>) {
    if (is_nan(x)) return {};
    auto const m = static_cast<int64_t>(magnitude_bits(x));
    return sign_bit(x) ? -m : m;
  } else if constexpr (stl::same_as<T, e8m0>) {
    if (is_nan(x)) return {};
    return x.bits;
  } else {
    if (is_nan(decode(x))) return {};
    int64_t const m = x.bits & T::format.magnitude();
    return (x.bits & T::format.sign()) != 0 ? -m : m;
  }
}
template <class T> std::optional<uint64_t> apart(unsigned char const* pa, unsigned char const* pb) {
  if constexpr (stl::is_integral_v<T>) {
    return {};
  } else {
    auto const a = place_of_number(element_at<T>(pa)), b = place_of_number(element_at<T>(pb));
    if (!a || !b) return {};
    return *a < *b ? static_cast<uint64_t>(*b) - static_cast<uint64_t>(*a)
                   : static_cast<uint64_t>(*a) - static_cast<uint64_t>(*b);
  }
}
template <class T> std::string describe_element(unsigned char const* p) {
  unsigned long long bits = 0;
  std::memcpy(&bits, p, sizeof(T));
  char text[80];
  int const digits = static_cast<int>(2 * sizeof(T));
  if constexpr (stl::is_integral_v<T>) {
    if constexpr (stl::is_signed_v<T>)
      std::snprintf(text, sizeof text, "0x%0*llx  %lld", digits, bits, static_cast<long long>(element_at<T>(p)));
    else
      std::snprintf(text, sizeof text, "0x%0*llx  %llu", digits, bits, bits);
  } else if constexpr (stl::same_as<T, double>) {
    std::snprintf(text, sizeof text, "0x%0*llx  %.17g", digits, bits, element_at<T>(p));
  } else {
    float value;
    if constexpr (stl::same_as<T, float>)
      value = element_at<T>(p);
    else
      value = decode(element_at<T>(p));
    std::snprintf(text, sizeof text, "0x%0*llx  %.9g", digits, bits, static_cast<double>(value));
  }
  return text;
}
template <class T> constexpr element_type element_of(char const* name, dtype type) {
  return {name, type, sizeof(T), &describe_element<T>, &apart<T>};
}

inline constexpr element_type element_types[] = {
    element_of<uint8_t>("bytes", dtype::bytes), element_of<uint8_t>("boolean", dtype::boolean),
    element_of<uint8_t>("u8", dtype::u8),       element_of<int8_t>("i8", dtype::i8),
    element_of<uint16_t>("u16", dtype::u16),    element_of<int16_t>("i16", dtype::i16),
    element_of<uint32_t>("u32", dtype::u32),    element_of<int32_t>("i32", dtype::i32),
    element_of<uint64_t>("u64", dtype::u64),    element_of<int64_t>("i64", dtype::i64),
    element_of<double>("f64", dtype::f64),      element_of<float>("f32", dtype::f32),
    element_of<f16>("f16", dtype::f16),         element_of<bf16>("bf16", dtype::bf16),
    element_of<e4m3>("e4m3", dtype::e4m3),      element_of<e5m2>("e5m2", dtype::e5m2),
    element_of<e8m0>("e8m0", dtype::e8m0),      element_of<e3m2>("e3m2", dtype::e3m2),
    element_of<e2m3>("e2m3", dtype::e2m3),
};

struct dtype_alias {
  std::string_view other, name;
};
// What PyTorch calls them.
inline constexpr dtype_alias dtype_aliases[] = {
    {"float64", "f64"},         {"double", "f64"},         {"float32", "f32"},
    {"float", "f32"},           {"float16", "f16"},        {"half", "f16"},
    {"bfloat16", "bf16"},       {"float8_e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"},
    {"float8_e8m0fnu", "e8m0"}, {"uint8", "u8"},           {"int8", "i8"},
    {"uint16", "u16"},          {"int16", "i16"},          {"uint32", "u32"},
    {"int32", "i32"},           {"uint64", "u64"},         {"int64", "i64"},
    {"bool", "boolean"},
};

} // namespace detail

//! The type that isobit or PyTorch calls `name` ("f32", "torch.bfloat16"); null for an unknown one.
inline element_type const* find_element_type(std::string_view name) {
  if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
  for (auto const& alias : detail::dtype_aliases)
    if (alias.other == name) name = alias.name;
  for (auto const& t : detail::element_types)
    if (t.name == name) return &t;
  return nullptr;
}

} // namespace isobit::inline bits1::trace
