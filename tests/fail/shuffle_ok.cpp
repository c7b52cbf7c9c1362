// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/group/machine.hpp>

struct pair {
  float sum, error;
};
pair receive(pair const& mine) { return isobit::machine::shuffle(0xffffffffu, mine, 0); }
