// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a combine plan holds 1 to 32 rows a token
#include <isobit/combine.hpp>

isobit::combine_plan<33> plan;
