// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the recipe of a product is rounded_product or fused_product
#include <isobit/algo/products.hpp>

float f(float const* x, float const* y) { return isobit::dot<isobit::tree>(isobit::thread(), 10, x, y); }
