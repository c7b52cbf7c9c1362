// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: codes and scales are given as isobit::matrix(data, rows, columns[, map])
#include <isobit/fingerprint.hpp>

auto a(isobit::e4m3 const* p, isobit::e8m0 const* s) {
  return isobit::digest_quantized(isobit::host(), isobit::stored(p), isobit::stored(s));
}
