// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: reduce needs a load: something to call with an index
#include <isobit/reduce.hpp>

float sum(float x) { return isobit::reduce(isobit::thread(), 10, x); }
