// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/config.hpp>
static_assert(sizeof(isobit::uint32_t) == 4);
