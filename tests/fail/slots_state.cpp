// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: the slots must hold the accumulator's states
#include <isobit/slots.hpp>

float slots(isobit::private_slots<float> const& s) { return isobit::merge(s, 0, isobit::compensated<float>{}); }
