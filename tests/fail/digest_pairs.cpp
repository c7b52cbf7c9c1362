// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a load for a digest returns single elements
#include <isobit/fingerprint.hpp>

auto a(isobit::e2m1x2 const* p) {
  return isobit::digest_elements(isobit::host(), [=](std::uint64_t i) { return p[i]; }, {10});
}
