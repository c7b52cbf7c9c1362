// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host scans, whole and segmented. They guard their environment themselves.
#include "../digest.hpp"

#include <isobit/scan.hpp>

using namespace isobit::test;

namespace {
template <class T> void case_of(char const* whole_name, char const* segmented_name) {
  source random;
  digest whole, segmented;
  static T x[3000], y[3000];
  for (int n : {0, 1, 5, 32, 33, 100, 1000, 2999}) {
    for (T& e : x) {
      e = n % 2 != 0 ? random.between<T>(-8, 8) : random.any<T>();
      if (!isobit::is_finite(e)) e = isobit::from_bits<T>(isobit::to_bits(e) & isobit::float_fields<T>::mantissa);
    }
    isobit::inclusive_scan(isobit::host(), x, n, y);
    for (int i = 0; i < n; ++i) whole.value(y[i]);
    int const offsets[] = {0, n / 7, n / 7, n / 2, n};
    isobit::segmented_inclusive_scan(isobit::host(), x, n, offsets, 4, y);
    for (int i = 0; i < n; ++i) segmented.value(y[i]);
  }
  whole.print(whole_name);
  segmented.print(segmented_name);
}
} // namespace

int main() {
  case_of<float>("f32.scan", "f32.scan.segmented");
  case_of<double>("f64.scan", "f64.scan.segmented");
}
