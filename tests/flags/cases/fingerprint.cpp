// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests of arrays, signalling NaNs among them: no flag may send an element through a register that changes it.
#include "../digest.hpp"

#include <isobit/fingerprint.hpp>

#include <vector>

using namespace isobit::test;

namespace {
template <class T> void fingerprint(char const* name) {
  using f = isobit::float_fields<T>;
  using bits = typename f::bits;
  std::vector<T> x;
  digest all;
  for (std::size_t i = 0; i < 1001; ++i) {
    auto const word = static_cast<bits>(i * 0x9e3779b97f4a7c15u);
    x.push_back(isobit::from_bits<T>(i % 7 == 0 ? static_cast<bits>(f::exponent | (word & (f::mantissa >> 1)) | 1) : word));
    if (i % 50 == 0) all.word(isobit::digest(isobit::host(), x.data(), x.size()));
  }
  all.print(name);
}
} // namespace

int main() {
  return run_case([] {
    fingerprint<float>("fingerprint float");
    fingerprint<double>("fingerprint double");
  });
}
