// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: isobit: a tile of more than a warp is not a group
#include <isobit/interop/cooperative_groups.hpp>

struct two_warps {
  static constexpr unsigned num_threads() { return 64; }
  unsigned thread_rank() const;
  unsigned meta_group_rank() const;
  int shfl_xor(int, unsigned) const;
};
auto group = isobit::group_of(two_warps{});
