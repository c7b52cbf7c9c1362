// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recipes of MXFP4, MXFP6 and NVFP4 there and back, stochastic rounding, and the Hadamard transform.
#include "../digest.hpp"

#include <isobit/quantize.hpp>

using namespace isobit::test;
using isobit::e2m1x2;

namespace {
constexpr int rows = 24, columns = 75; // ragged last blocks, odd rows
float x[rows * columns], back[rows * columns];
constexpr int packed = rows * 38;

void fill() {
  source random;
  for (int i = 0; i < rows * columns; ++i) {
    int const row = i / columns;
    x[i] = row % 4 == 0 ? random.any<float>() : random.between<float>(-12 * (row % 4), 9);
    if (row % 8 == 7) x[i] = isobit::from_bits<float>(isobit::to_bits(x[i]) & 0x807fffffu); // subnormal rows
  }
}

template <class Recipe, class Code, class Rounding> void case_of(char const* name, Recipe recipe, Rounding rounding) {
  digest d;
  static Code codes[rows * columns];
  static typename Recipe::scale scales[rows * 5];
  int const n = isobit::stl::same_as<Code, e2m1x2> ? packed : rows * columns;
  int const blocks = rows * static_cast<int>(isobit::blocks_per_row<Recipe>(columns));
  if constexpr (isobit::stl::same_as<Rounding, int>)
    isobit::quantize(isobit::host(), recipe, x, rows, columns, codes, scales);
  else
    isobit::quantize(isobit::host(), recipe, rounding, x, rows, columns, codes, scales);
  isobit::dequantize(isobit::host(), recipe, static_cast<Code const*>(codes), scales, rows, columns, back);
  for (int i = 0; i < n; ++i) d.word(codes[i].bits);
  for (int i = 0; i < blocks; ++i) d.word(scales[i].bits);
  for (float const b : back) d.value(b);
  d.print(name);
}
} // namespace

int main() {
  using namespace isobit;
  fill();
  case_of<mxfp4<mx::even>, e2m1x2>("mxfp4.even", {}, 0);
  case_of<mxfp4<mx::rceil_te, mx::te_nan_ignored>, e2m1x2>("mxfp4.rceil_te", {}, 0);
  case_of<mxfp6<e3m2, mx::ceil>, e3m2>("mxfp6.e3m2.ceil", {}, 0);
  case_of<mxfp6<e2m3, mx::floor, mx::saturate>, e2m3>("mxfp6.e2m3.floor.saturate", {}, 0);
  case_of<mxfp8<e4m3, mx::rceil_te, mx::te_nan_ignored>, e4m3>("mxfp8.e4m3.rceil_te", {}, 0);
  case_of<nvfp4<nv::te>, e2m1x2>("nvfp4.te", nvfp4<nv::te>{500.0f}, 0);
  case_of<nvfp4<nv::te>, e2m1x2>("nvfp4.te.tiny", nvfp4<nv::te>{from_bits<float>(0x00571cbf)}, 0);
  case_of<nvfp4<nv::exact>, e2m1x2>("nvfp4.exact", nvfp4<nv::exact>{500.0f}, 0);
  case_of<nvfp4<nv::exact_scale>, e2m1>("nvfp4.exact_scale", nvfp4<nv::exact_scale>{0.37f}, 0);
  case_of<mxfp4<mx::floor>, e2m1x2>("mxfp4.floor.stochastic", {}, stochastic{1, 2});
  case_of<mxfp8<e5m2, mx::rceil>, e5m2>("mxfp8.e5m2.stochastic", {}, stochastic{1, 2});
  case_of<nvfp4<nv::te>, e2m1x2>("nvfp4.te.stochastic", nvfp4<nv::te>{500.0f}, stochastic{3, 4});
  return run_case([] {
    digest d;
    for (int i = 0; i + 16 <= rows * columns; i += 16) {
      float row[16];
      for (int j = 0; j < 16; ++j) row[j] = x[i + j];
      hadamard16(row);
      for (float v : row) d.value(v);
      hadamard16_as<bf16>(row);
      for (float v : row) d.value(v);
    }
    d.print("hadamard16");
  });
}
