// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/interop/cooperative_groups.hpp>
#include <isobit/interop/views.hpp>

#include "../interop/md_double.hpp"

float x[8];
interop_test::md<float, 2> const matrix{x, {2, 4}, {{4, 1}}};
auto row = isobit::row_of(matrix, 0);
auto column = isobit::column_of(matrix, 0);

struct warp {
  static constexpr unsigned num_threads() { return 32; }
  unsigned thread_rank() const;
  unsigned meta_group_rank() const;
  int shfl_xor(int, unsigned) const;
};
auto group = isobit::group_of(warp{});
