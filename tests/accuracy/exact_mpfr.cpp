// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `exact` against MPFR: 10^5 vectors, random and adversarial, subnormal numbers and the edges of overflow included.
// MPFR adds in a precision that holds every sum, and rounds once. Prints counts; returns 0 when all agree.
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/reduce.hpp>

#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

namespace {

using isobit::exact;
using isobit::exact_dot;

constexpr mpfr_prec_t precision = 4400; // all bits of a sum of products of doubles

class wide {
public:
  wide() {
    mpfr_init2(value_, precision);
    mpfr_init2(product_, precision);
    mpfr_set_zero(value_, 1);
  }
  ~wide() {
    mpfr_clear(value_);
    mpfr_clear(product_);
  }
  wide(wide const&) = delete;
  void clear() { mpfr_set_zero(value_, 1); }
  void add(double x) { inexact_ |= mpfr_add_d(value_, value_, x, MPFR_RNDN) != 0; }
  void add_product(double a, double b) {
    mpfr_set_d(product_, a, MPFR_RNDN);
    inexact_ |= mpfr_mul_d(product_, product_, b, MPFR_RNDN) != 0;
    inexact_ |= mpfr_add(value_, value_, product_, MPFR_RNDN) != 0;
  }
  // Rounded once: mpfr_get_* round to the format's precision, subnormal numbers included.
  float rounded(float) const { return mpfr_get_flt(value_, MPFR_RNDN); }
  double rounded(double) const { return mpfr_get_d(value_, MPFR_RNDN); }
  bool inexact() const { return inexact_; }

private:
  mpfr_t value_, product_;
  bool inexact_ = false;
};

// Bits of numbers of many kinds; all finite.
template <class T> class generator {
public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  std::vector<T> operator()(int kind) {
    using f = isobit::float_fields<T>;
    std::size_t const n = random_() % 9 + (kind % 3 == 0 ? random_() % 40 : 1);
    std::vector<T> x(n);
    auto const spread = static_cast<int>(random_() % 60);
    auto const centre = static_cast<int>(random_() % ((1u << f::exponent_bits) - 1));
    for (T& v : x) {
      switch (kind) {
      case 0:
        v = make(static_cast<int>(random_() % ((1u << f::exponent_bits) - 1)));
        break; // every exponent
      case 1:
        v = make(centre + static_cast<int>(random_() % (spread + 1u)));
        break; // neighbours
      case 2:
        v = make(static_cast<int>(random_() % 3));
        break; // subnormal and just above
      case 3:
        v = make((1 << f::exponent_bits) - 2 - static_cast<int>(random_() % 3));
        break; // near overflow
      case 4:
        v = make(centre, random_() % 4);
        break; // few bits: ties
      default:
        v = make(centre + static_cast<int>(random_() % (2 * f::mantissa_bits)), random_() % 2);
      }
    }
    if (kind == 4 || kind == 5) { // a tie, or just beside one
      x.push_back(make(centre + f::mantissa_bits + 1, random_() % 8));
      if (random_() % 2) x.push_back(make(static_cast<int>(random_() % 2)));
    }
    if (kind == 6) // total cancellation but for something small
      for (std::size_t i = 0, m = x.size(); i < m; ++i) x.push_back(-x[i]);
    if (kind == 6 && random_() % 4) x.push_back(make(static_cast<int>(random_() % (centre + 1u))));
    if (kind == 7) { // the largest number and half a unit of its last place
      T const largest = std::numeric_limits<T>::max();
      x = {largest, make((1 << f::exponent_bits) - 2 - f::mantissa_bits - 1, 0)};
      if (random_() % 2) x.push_back(make(static_cast<int>(random_() % 20)));
      if (random_() % 4 == 0) x.push_back(-largest);
      if (random_() % 4 == 0) x.push_back(largest);
    }
    return x;
  }

private:
  T make(int exponent, std::uint64_t mantissa) {
    using f = isobit::float_fields<T>;
    using bits = typename f::bits;
    int const top = (1 << f::exponent_bits) - 2;
    exponent = exponent > top ? top : exponent;
    return isobit::from_bits<T>(static_cast<bits>(((random_() & 1) != 0 ? f::sign : 0) |
                                                  (static_cast<bits>(exponent) << f::mantissa_bits) |
                                                  (static_cast<bits>(mantissa) & f::mantissa)));
  }
  T make(int exponent) { return make(exponent, random_()); }

  std::mt19937_64 random_;
};

template <class T> bool same(T a, T b) {
  return isobit::is_zero(a) && isobit::is_zero(b) ? true : isobit::to_bits(a) == isobit::to_bits(b);
}

struct count {
  long vectors = 0, wrong = 0, subnormal = 0, infinite = 0, compensated_differs = 0;
  void print(char const* name) const {
    std::printf("%-18s %6ld vectors, %ld wrong (%ld subnormal results, %ld infinite; compensated differs %ld times)\n",
                name, vectors, wrong, subnormal, infinite, compensated_differs);
  }
};

template <class T> count sums(long vectors) {
  generator<T> next(sizeof(T));
  wide reference;
  count c;
  exact<T> const acc;
  for (; c.vectors < vectors; ++c.vectors) {
    auto const x = next(static_cast<int>(c.vectors % 8));
    reference.clear();
    typename exact<T>::state s{};
    for (T v : x) {
      reference.add(static_cast<double>(v));
      acc.deposit(s, v);
    }
    T const expected = reference.rounded(T{}), got = acc.finish(s);
    c.wrong += !same(got, expected);
    c.subnormal += isobit::is_subnormal(expected);
    c.infinite += isobit::is_inf(expected);
    c.compensated_differs +=
        !same(isobit::reduce(isobit::host(), x.data(), x.size(), isobit::compensated<T>{}), expected);
    // The other precision: one rounding as well.
    using other = std::conditional_t<sizeof(T) == 4, double, float>;
    c.wrong += !same(exact<T, other>{}.finish(s), reference.rounded(other{}));
  }
  if (reference.inexact()) ++c.wrong;
  return c;
}

template <class T> count products(long vectors) {
  generator<T> next(sizeof(T) + 100);
  wide reference;
  count c;
  exact_dot<T> const acc;
  for (; c.vectors < vectors; ++c.vectors) {
    auto const x = next(static_cast<int>(c.vectors % 8)), y = next(static_cast<int>(c.vectors / 8 % 8));
    reference.clear();
    typename exact_dot<T>::state s{};
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      reference.add_product(static_cast<double>(x[i]), static_cast<double>(y[i]));
      acc.deposit(s, x[i], y[i]);
    }
    T const expected = reference.rounded(T{}), got = acc.finish(s);
    c.wrong += !same(got, expected);
    c.subnormal += isobit::is_subnormal(expected);
    c.infinite += isobit::is_inf(expected);
  }
  if (reference.inexact()) ++c.wrong;
  return c;
}

} // namespace

int main() {
  auto const f = sums<float>(60000), d = sums<double>(60000), pf = products<float>(20000), pd = products<double>(20000);
  f.print("exact<float>");
  d.print("exact<double>");
  pf.print("exact_dot<float>");
  pd.print("exact_dot<double>");
  bool ok = true;
  for (auto const& c : {f, d, pf, pd}) ok = ok && c.wrong == 0 && c.subnormal > 0 && c.infinite > 0;
  // Control: an accumulator that rounds on the way must be caught by the same vectors.
  ok = ok && f.compensated_differs > 0 && d.compensated_differs > 0;
  std::puts(ok ? "MPFR agrees" : "FAILED");
  return ok ? 0 : 1;
}
