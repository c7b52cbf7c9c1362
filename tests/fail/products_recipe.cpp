// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the recipe of a product is rounded_product, fused_product or exact_product
#include <isobit/algo/products.hpp>

float f(float const* x, float const* y) { return isobit::dot<isobit::thread>(isobit::thread(), 10, x, y); }
