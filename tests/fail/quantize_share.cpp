// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread with 16 registers does not hold a block of 32.
// expect: isobit: the members of the group must hold exactly one block of the recipe (32 elements for MX)
#include <isobit/quantize.hpp>

using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::floor>;
isobit::e8m0 block(float const (&values)[16], isobit::e4m3 (&codes)[16]) {
  return isobit::quantize_block(isobit::thread{}, recipe{}, values, codes);
}
