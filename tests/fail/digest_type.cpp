// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: this element type has no dtype: digest its bytes, or specialise dtype_of
#include <isobit/fingerprint.hpp>

struct pair_of_floats {
  float x, y;
};
auto a(pair_of_floats const* p) { return isobit::digest(isobit::host(), p, {10}); }
