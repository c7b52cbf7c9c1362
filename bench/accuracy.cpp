// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of sums, dot products and variances, in units in the last place, against the condition number. Prints tab-
// separated lines: kind, type, log2 of the condition, method, median and largest error of the trials.
// bench/accuracy writes docs/accuracy.md from them.
#include <isobit/accum/exact.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/exact_product.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/adversarial.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using isobit::host;
// 113 bits: reference of the variances, and error differences
#if defined(__SIZEOF_FLOAT128__)
using quad = __float128;
#else
using quad = long double; // on aarch64
#endif

constexpr int trials = 41;
constexpr std::size_t count = 4096;

template <class T> double ulps(T result, quad exact) {
  int e = 0;
  std::frexp(static_cast<double>(exact), &e);
  double const ulp = std::ldexp(1.0, e - std::numeric_limits<T>::digits);
  quad const off = quad(result) - exact;
  return static_cast<double>(off < 0 ? -off : off) / ulp;
}

template <class T> T kahan(std::vector<T> const& x) {
  T s = 0, c = 0;
  for (T v : x) {
    T const y = v - c, t = s + y;
    c = (t - s) - y;
    s = t;
  }
  return s;
}

struct tally {
  std::map<std::string, std::vector<double>> errors;
  void add(std::string const& method, double e) { errors[method].push_back(e); }
  void print(char const* kind, char const* type, int log2_condition) {
    for (auto& [method, e] : errors) {
      std::sort(e.begin(), e.end());
      std::printf("%s\t%s\t%d\t%s\t%.6g\t%.6g\n", kind, type, log2_condition, method.c_str(), e[e.size() / 2], e.back());
    }
  }
};

// Pairs that cancel exactly, in any order, and one number: the exact sum. Exponents spread over the whole significand, so
// that partial sums need more bits than any two words of `T` have.
template <class T> std::vector<T> ill_conditioned(std::uint64_t seed, int log2_condition, quad& exact) {
  constexpr int digits = std::numeric_limits<T>::digits;
  isobit::testing::wide_exponents<T> const number{seed, -digits, 0};
  std::vector<T> x(count, T(0));
  double magnitude = 0;
  isobit::testing::permutation const place{seed, count};
  for (std::size_t k = 0; k + 1 < count / 2; ++k) {
    T const v = number(k);
    x[place(2 * k)] = v;
    x[place(2 * k + 1)] = -v;
    magnitude += 2 * std::fabs(static_cast<double>(v));
  }
  T const rest = std::ldexp(T(1) + std::fabs(number(count)) / 2, static_cast<int>(std::log2(magnitude)) - log2_condition);
  x[place(count - 1)] = rest;
  exact = rest;
  return x;
}

template <class T> void sums(char const* type, int last) {
  for (int c = 0; c <= last; c += last / 16) {
    tally t;
    for (int i = 0; i < trials; ++i) {
      quad exact = 0;
      auto x = ill_conditioned<T>(std::uint64_t(i + 1), c, exact);
      if (c == 0) { // nothing cancels
        exact = 0;
        for (T& v : x) {
          v = std::fabs(v);
          exact += v;
        }
      }
      auto const n = x.size();
      t.add("loop", ulps(std::accumulate(x.begin(), x.end(), T(0)), exact));
      t.add("std::reduce", ulps(std::reduce(x.begin(), x.end(), T(0)), exact));
      t.add("Kahan", ulps(kahan(x), exact));
      if (sizeof(T) == 4) t.add("loop in double", ulps(static_cast<T>(std::accumulate(x.begin(), x.end(), 0.0)), exact));
      t.add("plain", ulps(isobit::reduce(host(), x.data(), n), exact));
      t.add("compensated", ulps(isobit::reduce(host(), x.data(), n, isobit::compensated<T>{}), exact));
      t.add("double_float", ulps(isobit::reduce(host(), x.data(), n, isobit::double_float<T>{}), exact));
      t.add("exact", ulps(isobit::reduce(host(), x.data(), n, isobit::exact<T>{}), exact));
    }
    t.print("sum", type, c);
  }
}

// x_i y_i: the ill-conditioned sum with its elements split into factors of half the bits, and scaled.
template <class T> void dots(char const* type, int last) {
  for (int c = last / 16; c <= last; c += last / 16) {
    tally t;
    for (int i = 0; i < trials; ++i) {
      quad exact = 0;
      // Products that differ from their negatives in the rounding: (a b) and -(a' b') with a b = a' b' exactly.
      auto const p = ill_conditioned<T>(std::uint64_t(i + 1), c, exact);
      std::vector<T> x(2 * p.size()), y(x.size());
      isobit::testing::wide_exponents<T> const number{std::uint64_t(i + 7), -3, 3};
      for (std::size_t k = 0; k < p.size(); ++k) {
        // a b - a b at distant places, beside p * 1: exact sum unchanged, every product rounds.
        T const a = number(2 * k), b = number(2 * k + 1);
        x[k] = k % 4 < 2 ? a : p[k];
        y[k] = k % 4 < 2 ? b : T(1);
        x[p.size() + k] = k % 4 < 2 ? p[k] : a;
        y[p.size() + k] = k % 4 < 2 ? T(1) : b;
        if (k % 2 == 1) { // the partner of the one before, negative, with the power of two moved
          std::size_t const at = k % 4 < 2 ? k : p.size() + k, before = at - 1;
          x[at] = -x[before] * 4;
          y[at] = y[before] / 4;
        }
      }
      auto const n = x.size();
      t.add("loop", ulps(std::inner_product(x.begin(), x.end(), y.begin(), T(0)), exact));
      if (sizeof(T) == 4) {
        double s = 0;
        for (std::size_t k = 0; k < n; ++k) s += double(x[k]) * double(y[k]);
        t.add("loop in double", ulps(static_cast<T>(s), exact));
      }
      t.add("rounded_product", ulps(isobit::dot(host(), n, x.data(), y.data()), exact));
      t.add("fused_product", ulps(isobit::dot<isobit::fused_product>(host(), n, x.data(), y.data()), exact));
      t.add("exact_product", ulps(isobit::dot<isobit::exact_product>(host(), n, x.data(), y.data()), exact));
    }
    t.print("dot", type, c);
  }
}

// Variance of numbers near 2^c with a spread of about 1: the condition is mean / standard deviation.
template <class T> void variances(char const* type) {
  int const digits = std::numeric_limits<T>::digits;
  for (int c = 0; c <= digits - 6; c += 3) {
    tally t;
    for (int i = 0; i < trials; ++i) {
      std::vector<T> x(count);
      quad mean = 0, squares = 0;
      for (std::size_t k = 0; k < count; ++k) {
        std::uint64_t const w = isobit::testing::philox_word(std::uint64_t(i + 1), 0x766172u, k);
        x[k] = T(std::ldexp(1.0, c) + 4 * (double(w >> 11) * 0x1p-53 - 0.5));
        mean += x[k];
      }
      mean /= count;
      for (T v : x) squares += (quad(v) - mean) * (quad(v) - mean);
      quad const exact = squares / count;
      T s = 0, q = 0, m = 0, m2 = 0, k = 0;
      for (T v : x) {
        s += v;
        q += v * v;
        k += 1;
        T const d = v - m;
        m += d / k;
        m2 += d * (v - m);
      }
      t.add("mean of squares", ulps(q / T(count) - (s / T(count)) * (s / T(count)), exact));
      t.add("Welford", ulps(m2 / T(count), exact));
      T two = 0;
      for (T v : x) two += (v - s / T(count)) * (v - s / T(count));
      t.add("two passes", ulps(two / T(count), exact));
      t.add("moments", ulps(isobit::reduce(host(), x.data(), x.size(), isobit::moments<T>{}).variance, exact));
    }
    t.print("variance", type, c);
  }
}

} // namespace

int main() {
  sums<float>("float", 96);
  sums<double>("double", 192);
  dots<float>("float", 96);
  dots<double>("double", 192);
  variances<float>("float");
  variances<double>("double");
}
