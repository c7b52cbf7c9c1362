// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value that is not trivially copyable cannot travel between lanes.
// expect: isobit: only trivially copyable values can be exchanged between lanes
#include <isobit/group/machine.hpp>

struct owner {
  owner() = default;
  owner(owner const&) {}
};
owner receive(owner const& mine) { return isobit::machine::shuffle(0xffffffffu, mine, 0); }
