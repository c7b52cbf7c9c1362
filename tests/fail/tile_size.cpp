// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a tile has 1, 2, 4, 8, 16 or 32 lanes
#include <isobit/group/tile.hpp>

isobit::tile<12> t;
