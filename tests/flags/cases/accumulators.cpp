// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Double-word sums, moments, extrema and products by the host. They guard their environment themselves.
#include "../digest.hpp"

#include <isobit/accum/double_float.hpp>
#include <isobit/accum/extrema.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/algo/products.hpp>

using namespace isobit::test;

namespace {
template <class T> struct folds {
  digest double_float, moments, extrema, rounded, fused;
  void arrays(T const* x, T const* y, int n) {
    double_float.value(isobit::reduce(isobit::host(), x, n, isobit::double_float<T>{}));
    auto const m = isobit::reduce(isobit::host(), x, n, isobit::ranged_moments<T>{});
    moments.word(m.count);
    T const parts[] = {m.mean, m.mean_rest, m.variance, m.sample_variance, m.min, m.max};
    for (T const v : parts) moments.value(v);
    auto const add = [&](auto const& e) {
      extrema.word(e.argmin);
      extrema.word(e.argmax);
      extrema.word(e.argabsmax());
      T const values[] = {e.min, e.max, e.absmax()}; // nvcc's host pass cannot loop over a braced list in a template
      for (T const v : values) extrema.value(v);
    };
    add(isobit::reduce(isobit::host(), n, isobit::with_index(x), isobit::extrema<T>{}));
    add(isobit::reduce(isobit::host(), n, isobit::with_index(x), isobit::extrema<T, isobit::nan_ignore>{}));
    rounded.value(isobit::dot(isobit::host(), n, x, y));
    rounded.value(isobit::norm2(isobit::host(), n, x));
    fused.value(isobit::dot<isobit::fused_product>(isobit::host(), n, x, y));
    fused.value(isobit::sum_of_squares<isobit::fused_product>(isobit::host(), n, x));
    fused.value(isobit::norm2<isobit::fused_product>(isobit::host(), n, x));
  }
};

template <class T> void case_of(char const* const (&names)[5]) {
  source random;
  folds<T> f;
  static T x[2002], y[2002];
  for (int n : {0, 1, 2, 3, 7, 16, 31, 100, 255, 1000, 2000})
    for (int kind = 0; kind < 4; ++kind) {
      for (int i = 0; i < 2002; ++i) {
        x[i] = kind == 0 ? random.between<T>(-8, 8) : kind == 1 ? random.between<T>(-60, 60) : random.any<T>();
        y[i] = random.between<T>(-9, 9);
        if (kind == 2 && !isobit::is_finite(x[i])) x[i] = T(1);
        if (kind == 3) x[i] = isobit::from_bits<T>(isobit::to_bits(x[i]) & ~isobit::float_fields<T>::exponent); // subnormal
      }
      f.arrays(x + n % 2, y, n);
      if (n > 0 && kind == 2) {
        isobit::float_bits<T> volatile const special[] = {
            isobit::float_fields<T>::sign, isobit::float_fields<T>::exponent, isobit::float_fields<T>::quiet_nan,
            isobit::float_fields<T>::exponent - 1};
        for (auto const& bits : special) {
          x[n / 2] = isobit::from_bits<T>(bits);
          f.arrays(x, y, n);
        }
        isobit::float_bits<T> volatile const minus_zero = isobit::float_fields<T>::sign;
        for (int i = 0; i < n; ++i) x[i] = isobit::from_bits<T>(minus_zero);
        f.arrays(x, y, n);
      }
    }
  digest const* all[] = {&f.double_float, &f.moments, &f.extrema, &f.rounded, &f.fused};
  for (int i = 0; i < 5; ++i) all[i]->print(names[i]);
}
} // namespace

int main() {
  case_of<float>({"f32.double_float", "f32.moments", "f32.extrema", "f32.rounded_product", "f32.fused_product"});
  case_of<double>({"f64.double_float", "f64.moments", "f64.extrema", "f64.rounded_product", "f64.fused_product"});
}
