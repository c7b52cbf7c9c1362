// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the NaN policy of extrema is nan_propagate or nan_ignore
#include <isobit/accum/extrema.hpp>

isobit::extrema<float, int> e;
