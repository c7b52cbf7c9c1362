// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error bounds of `double_float` and of `fused_product` against MPFR, on random and adversarial vectors: with u the
// unit roundoff and h = ceil(log2 n), |result - sum| <= u |sum| + 4 h u^2 sum |x|. Nothing more is needed where the result
// is subnormal: sums are exact there. MPFR adds in a precision that holds every sum. Prints the largest share of the bound
// that was used; returns 0 when no vector is above its bound and the control, the plain sum, is.
#include <isobit/accum/double_float.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/algo/products.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/adversarial.hpp>

#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr mpfr_prec_t precision = 4400; // every sum of products of doubles

struct number {
  mpfr_t value;
  number() { mpfr_init2(value, precision), mpfr_set_zero(value, 1); }
  ~number() { mpfr_clear(value); }
  number(number const&) = delete;
};

// What the terms of a sum add up to, and their magnitudes.
class exact_sum {
public:
  void clear() { mpfr_set_zero(sum_.value, 1), mpfr_set_zero(magnitudes_.value, 1), lost_ = false; }
  void add(double a, double b = 1) {
    mpfr_set_d(term_.value, a, MPFR_RNDN);
    note(mpfr_mul_d(term_.value, term_.value, b, MPFR_RNDN));
    note(mpfr_add(sum_.value, sum_.value, term_.value, MPFR_RNDN));
    mpfr_abs(term_.value, term_.value, MPFR_RNDN);
    note(mpfr_add(magnitudes_.value, magnitudes_.value, term_.value, MPFR_RNDN));
  }
  bool lost() const { return lost_; } // a bit of the sum did not fit: the test would be wrong

  // |result - sum| over the bound u |sum| + factor u^2 sum |term|.
  double share_of_bound(double result, double u, double factor) {
    mpfr_abs(bound_.value, sum_.value, MPFR_RNDN);
    mpfr_mul_d(bound_.value, bound_.value, u, MPFR_RNDN);
    mpfr_mul_d(term_.value, magnitudes_.value, factor * u, MPFR_RNDN);
    mpfr_mul_d(term_.value, term_.value, u, MPFR_RNDN);
    mpfr_add(bound_.value, bound_.value, term_.value, MPFR_RNDN);
    mpfr_sub_d(term_.value, sum_.value, result, MPFR_RNDN);
    mpfr_abs(term_.value, term_.value, MPFR_RNDN);
    if (mpfr_zero_p(term_.value)) return 0;
    mpfr_div(term_.value, term_.value, bound_.value, MPFR_RNDN);
    return mpfr_get_d(term_.value, MPFR_RNDN);
  }

private:
  void note(int inexact) { lost_ = lost_ || inexact != 0; }
  number sum_, magnitudes_, term_, bound_;
  bool lost_ = false;
};

template <class T> T make(std::mt19937_64& random, int exponent) {
  using f = isobit::float_fields<T>;
  using bits = typename f::bits;
  int const top = (1 << f::exponent_bits) - 2;
  exponent = exponent < 0 ? 0 : exponent > top ? top : exponent;
  return isobit::from_bits<T>(static_cast<bits>(((random() & 1) != 0 ? f::sign : 0) |
                                                (static_cast<bits>(exponent) << f::mantissa_bits) |
                                                (static_cast<bits>(random()) & f::mantissa)));
}

enum kind { every_exponent, neighbours, few_bits, subnormal, near_overflow, cancelling, alternating, ill_conditioned, kinds };

// Vectors that make a pairwise double-word sum err; all finite.
template <class T> std::vector<T> vector_of(int kind, std::mt19937_64& random) {
  using f = isobit::float_fields<T>;
  int const top = (1 << f::exponent_bits) - 2, digits = f::mantissa_bits + 1;
  std::size_t n = 1 + random() % 200;
  int const centre = digits * 2 + static_cast<int>(random() % static_cast<unsigned>(top - 4 * digits));
  std::vector<T> x(n);
  if (kind == ill_conditioned) {
    isobit::testing::cancellation<T> const load{random(), n, static_cast<int>(random() % (sizeof(T) == 4 ? 100 : 400))};
    for (std::size_t i = 0; i < n; ++i) x[i] = load(i);
    return x;
  }
  for (T& v : x) switch (kind) {
    case every_exponent: v = make<T>(random, static_cast<int>(random() % static_cast<unsigned>(top))); break;
    case subnormal: v = make<T>(random, static_cast<int>(random() % 3)); break;
    case near_overflow: v = make<T>(random, top - static_cast<int>(random() % 4)); break;
    case few_bits: // sums of powers of two and their neighbours: rounding at a tie, or just beside it
      v = make<T>(random, centre + static_cast<int>(random() % static_cast<unsigned>(2 * digits)));
      v = isobit::from_bits<T>(static_cast<typename f::bits>((isobit::to_bits(v) & ~f::mantissa) | random() % 3));
      break;
    default: v = make<T>(random, centre + static_cast<int>(random() % static_cast<unsigned>(2 * digits)));
  }
  if (kind == cancelling) // what is left lies below both words of the largest nodes
    for (std::size_t i = 0; i < n; ++i)
      x.insert(x.begin() + static_cast<std::ptrdiff_t>(random() % (x.size() + 1)), isobit::neg(x[random() % x.size()]));
  if (kind == alternating) // neighbours cancel but for their low bits
    for (std::size_t i = 1; i < n; i += 2)
      x[i] = isobit::from_bits<T>(isobit::to_bits(isobit::neg(x[i - 1])) ^ static_cast<typename f::bits>(random() % 8));
  return x;
}

struct outcome {
  long vectors = 0, above = 0, plain_above = 0, lost = 0;
  double worst = 0;
  bool print(char const* name, bool needs_control) const {
    std::printf("%-24s %6ld vectors, %ld above the bound, at most %.3f of it; plain above it %ld times\n", name, vectors,
                above, worst, plain_above);
    return above == 0 && lost == 0 && vectors > 0 && worst > 0.2 && (!needs_control || plain_above > vectors / 10);
  }
};

template <class T> constexpr double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;

double depth(std::size_t n) { return n < 2 ? 1 : std::ceil(std::log2(static_cast<double>(n))); }

template <class T> outcome sums(long vectors) {
  std::mt19937_64 random(sizeof(T));
  exact_sum reference;
  outcome o;
  for (; o.vectors < vectors; ++o.vectors) {
    auto const x = vector_of<T>(static_cast<int>(o.vectors % kinds), random);
    reference.clear();
    for (T v : x) reference.add(static_cast<double>(v));
    T const sum = isobit::reduce(isobit::host(), x.data(), x.size(), isobit::double_float<T>{});
    if (!isobit::is_finite(sum)) { // right only where the sum rounds to it, which a bound does not tell: `exact_mpfr` does
      isobit::exact<T> const acc;
      auto const correct = isobit::reduce(isobit::host(), x.data(), x.size(), acc);
      o.above += isobit::to_bits(correct) != isobit::to_bits(sum);
      continue;
    }
    double const share = reference.share_of_bound(static_cast<double>(sum), unit<T>, 4 * depth(x.size()));
    o.worst = std::fmax(o.worst, share);
    o.above += !(share <= 1);
    T const plain = isobit::reduce(isobit::host(), x.data(), x.size());
    o.plain_above += isobit::is_finite(plain) &&
                     reference.share_of_bound(static_cast<double>(plain), unit<T>, 4 * depth(x.size())) > 1;
    o.lost += reference.lost();
  }
  return o;
}

// Products whose errors are not below the smallest subnormal number, which is `fused_product`'s precondition.
template <class T> outcome products(long vectors) {
  using f = isobit::float_fields<T>;
  std::mt19937_64 random(sizeof(T) + 100);
  exact_sum reference;
  outcome o;
  for (; o.vectors < vectors; ++o.vectors) {
    std::size_t const n = 1 + random() % 300;
    std::vector<T> x, y;
    int const least = f::bias - f::bias / 4, spread = f::bias / 2;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(make<T>(random, least + static_cast<int>(random() % static_cast<unsigned>(spread))));
      y.push_back(make<T>(random, least + static_cast<int>(random() % static_cast<unsigned>(spread))));
    }
    if (o.vectors % 2 == 0) // pairs of products that cancel but for their rounding
      for (std::size_t i = 1; i < n; i += 2) {
        x[i] = isobit::neg(isobit::next_up(x[i - 1]));
        y[i] = y[i - 1];
      }
    reference.clear();
    for (std::size_t i = 0; i < n; ++i) reference.add(static_cast<double>(x[i]), static_cast<double>(y[i]));
    T const sum = isobit::dot<isobit::fused_product>(isobit::host(), n, x.data(), y.data());
    double const share = reference.share_of_bound(static_cast<double>(sum), unit<T>, 4 * depth(n));
    o.worst = std::fmax(o.worst, share);
    o.above += !(share <= 1);
    T const plain = isobit::dot(isobit::host(), n, x.data(), y.data());
    o.plain_above += reference.share_of_bound(static_cast<double>(plain), unit<T>, 4 * depth(n)) > 1;
    o.lost += reference.lost();
  }
  return o;
}

} // namespace

int main() {
  bool ok = sums<float>(12000).print("double_float<float>", true);
  ok = sums<double>(8000).print("double_float<double>", true) && ok;
  ok = products<float>(4000).print("fused_product, float", true) && ok;
  ok = products<double>(3000).print("fused_product, double", true) && ok;
  std::puts(ok ? "within the bounds" : "FAILED");
  return ok ? 0 : 1;
}
