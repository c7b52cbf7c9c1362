// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A double would be rounded twice on its way to a code.
// expect: isobit: quantize_block needs a load that returns float or a narrower float
#include <isobit/quantize.hpp>

using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
isobit::e8m0 block(double const* x, isobit::e4m3* codes) {
  return isobit::quantize_block(
      isobit::thread{}, recipe{}, 32u, [=](unsigned i) { return x[i]; },
      [=](unsigned i, isobit::e4m3 code) { codes[i] = code; });
}
