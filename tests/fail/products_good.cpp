// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/algo/products.hpp>

float f(float const* x, isobit::bf16 const* y) { return isobit::dot<isobit::fused_product>(isobit::thread(), 10, x, y); }
isobit::extrema_result<float> g(float const* x) {
  return isobit::reduce(isobit::thread(), 10, isobit::with_index(x), isobit::extrema<float, isobit::nan_ignore>{});
}
