// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: compiles
#include <isobit/combine.hpp>
#include <isobit/scatter.hpp>
#include <isobit/segments.hpp>
#include <isobit/slots.hpp>

void sums(float const* x, unsigned const* offsets, float* out) {
  isobit::segmented_reduce(isobit::host(), x, 10, offsets, 3, out);
}
void scatter(void* w, int const* ids, float const* x, float* out) {
  isobit::scatter_reduce(isobit::host(), w, 100, ids, 10, x, 4, out, 3);
}
void combine(isobit::combine_map<int, int> const& map, float const* x, float* out) {
  isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<float>{x, 4}, 4, out, isobit::compensated<float>{});
}
isobit::combine_plan<32> plan;
float slots(isobit::private_slots<float> const& s) { return isobit::merge(s, 0, isobit::plain<float>{}); }
