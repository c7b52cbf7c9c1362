// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host quantisation to MXFP8 and back. It guards its environment itself.
#include "../digest.hpp"

#include <isobit/format/e4m3.hpp>
#include <isobit/format/e5m2.hpp>
#include <isobit/quantize.hpp>

using namespace isobit::test;

namespace {
template <class Recipe> void case_of(char const* name) {
  source random;
  digest d;
  constexpr int rows = 40, columns = 300; // ragged last blocks
  static float x[rows * columns], back[rows * columns];
  static typename Recipe::element codes[rows * columns];
  static typename Recipe::scale scales[rows * 10];
  for (int i = 0; i < rows * columns; ++i) {
    int const row = i / columns;
    x[i] = row % 4 == 0 ? random.any<float>() : random.between<float>(-12 * (row % 4), 9);
    if (row % 8 == 7) x[i] = isobit::from_bits<float>(isobit::to_bits(x[i]) & 0x807fffffu); // subnormal rows
  }
  isobit::quantize(isobit::host(), Recipe{}, x, rows, columns, codes, scales);
  isobit::dequantize(isobit::host(), Recipe{}, codes, scales, rows, columns, back);
  for (auto const& c : codes) d.word(isobit::bit_cast<isobit::uint8_t>(c));
  for (auto const& s : scales) d.word(isobit::bit_cast<isobit::uint8_t>(s));
  for (float const b : back) d.value(b);
  d.print(name);
}
} // namespace

int main() {
  case_of<isobit::mxfp8<isobit::e4m3, isobit::mx::floor>>("mxfp8.e4m3.floor");
  case_of<isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>>("mxfp8.e4m3.rceil");
  case_of<isobit::mxfp8<isobit::e5m2, isobit::mx::rceil, isobit::mx::saturate>>("mxfp8.e5m2.rceil.saturate");
}
