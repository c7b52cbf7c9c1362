// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the order of a reduction is tree, lanes<L> or sequential
#include <isobit/reduce.hpp>

float sum(float const* x) { return isobit::reduce<float>(isobit::thread(), 10, [=](int i) { return x[i]; }); }
