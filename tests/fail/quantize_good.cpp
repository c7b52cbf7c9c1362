// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/quantize.hpp>

using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
isobit::e8m0 block(isobit::bf16 const* x, isobit::e4m3* codes) {
  return isobit::quantize_block(
      isobit::thread{}, recipe{}, 32u, [=](unsigned i) { return x[i]; },
      [=](unsigned i, isobit::e4m3 code) { codes[i] = code; });
}
