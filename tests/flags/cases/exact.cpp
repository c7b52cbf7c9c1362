// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact sums and dot products by the host: integers, so that there is nothing for a flag to change.
#include "../digest.hpp"

#include <isobit/accum/exact.hpp>
#include <isobit/algo/exact_product.hpp>
#include <isobit/reduce.hpp>

using namespace isobit::test;

namespace {

template <class T> void case_of(char const* sums, char const* products) {
  source random;
  digest s, p;
  static T x[9001], y[9001]; // long enough for the bins
  for (int n : {0, 1, 2, 7, 255, 2000, 9000})
    for (int kind = 0; kind < 4; ++kind) {
      for (int i = 0; i < n; ++i) {
        x[i] = kind == 0 ? random.between<T>(-8, 8) : kind == 1 ? random.between<T>(-60, 60) : random.any<T>();
        y[i] = random.between<T>(-9, 9);
        if (kind == 2 && !isobit::is_finite(x[i])) x[i] = T(1);
        if (kind == 3) x[i] = isobit::from_bits<T>(isobit::to_bits(x[i]) & ~isobit::float_fields<T>::exponent); // subnormal
      }
      auto const fold = [&] {
        using other = isobit::stl::conditional_t<sizeof(T) == 4, double, float>;
        s.value(isobit::reduce(isobit::host(), x, n, isobit::exact<T>{}));
        s.value(isobit::reduce(isobit::host(), x, n, isobit::exact<T, other>{}));
        p.value(isobit::dot<isobit::exact_product>(isobit::host(), n, x, y));
        typename isobit::exact<T>::state t{};
        for (int i = n; i-- > 0;) isobit::exact<T>{}.deposit(t, x[i]);
        for (auto w : canonical(t).word) s.word(w);
        s.word(canonical(t).flags);
      };
      fold();
      if (n == 0 || kind != 2) continue;
      isobit::float_bits<T> volatile const special[] = {isobit::float_fields<T>::sign, isobit::float_fields<T>::exponent,
                                                        isobit::float_fields<T>::quiet_nan, isobit::float_fields<T>::exponent - 1};
      for (auto const& bits : special) {
        x[n / 2] = isobit::from_bits<T>(bits);
        fold();
      }
    }
  s.print(sums);
  p.print(products);
}

} // namespace

int main() {
  return run_case([] {
    case_of<float>("exact.float", "exact_product.float");
    case_of<double>("exact.double", "exact_product.double");
  });
}
