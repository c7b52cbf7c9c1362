// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact sum once more, as slowly and plainly as possible: one counter for each binary place, schoolbook rounding.
#pragma once

#include <isobit/bits/cast.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace exact_reference {

// Adds sign * m * 2^e into counters; place[i] counts units of 2^(i - 2200).
inline void deposit(std::vector<long>& place, double x) {
  if (x == 0) return;
  int e = 0;
  auto m = static_cast<long>(std::ldexp(std::frexp(std::fabs(x), &e), 53));
  e -= 53;
  for (int i = 0; i < 53; ++i)
    if ((m >> i & 1) != 0) place[static_cast<std::size_t>(i + e + 2200)] += std::signbit(x) ? -1 : 1;
}

// The nearest T to the value of the counters, ties to even; +0 for zero.
template <class T> T round(std::vector<long> place) {
  auto const normalise = [&] {
    for (std::size_t i = 0; i + 1 < place.size(); ++i) {
      long const bit = ((place[i] % 2) + 2) % 2;
      place[i + 1] += (place[i] - bit) / 2;
      place[i] = bit;
    }
  };
  normalise();
  bool const negative = place.back() < 0;
  if (negative) {
    for (long& p : place) p = -p;
    normalise();
  }
  int top = static_cast<int>(place.size()) - 1;
  while (top >= 0 && place[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0;
  int const lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits; // of the smallest number
  int last = top - 2200 - std::numeric_limits<T>::digits + 1;
  if (last < lowest) last = lowest;
  double kept = 0; // below 2^54
  for (int i = top; i >= last + 2200; --i) kept = 2 * kept + static_cast<double>(place[static_cast<std::size_t>(i)]);
  bool const half = place[static_cast<std::size_t>(last + 2199)] != 0;
  bool below = false;
  for (int i = 0; i < last + 2199; ++i) below = below || place[static_cast<std::size_t>(i)] != 0;
  if (half && (below || std::fmod(kept, 2) == 1)) kept += 1;
  double const value = std::ldexp(kept, last); // exact, or infinite
  T const rounded = std::fabs(value) > static_cast<double>(std::numeric_limits<T>::max())
                        ? std::numeric_limits<T>::infinity()
                        : static_cast<T>(value);
  return negative ? -rounded : rounded;
}

template <class T> T sum(std::vector<T> const& x) {
  std::vector<long> place(4500);
  for (T v : x) deposit(place, static_cast<double>(v));
  return round<T>(place);
}

} // namespace exact_reference
