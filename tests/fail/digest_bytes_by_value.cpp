// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: untyped bytes have no values: digest elements, or use digest64
#include <isobit/fingerprint.hpp>

auto a(void const* p) { return isobit::digest<isobit::by_value<isobit::digest64>>(isobit::host(), p, 10); }
