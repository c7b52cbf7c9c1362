// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// isobit's quantisers with C names, for bench/quantize_peers. MXFP8 e4m3, scale rule `floor`, row-wise.
#include <isobit/quantize.hpp>

#include <cstdint>

namespace {
isobit::mxfp8<isobit::e4m3, isobit::mx::floor> const recipe;
}

extern "C" void mxfp8_of_float(float const* x, std::uint64_t rows, std::uint64_t cols, std::uint8_t* codes,
                               std::uint8_t* scales) {
  quantize(isobit::host(), recipe, x, rows, cols, reinterpret_cast<isobit::e4m3*>(codes),
           reinterpret_cast<isobit::e8m0*>(scales));
}
extern "C" void mxfp8_of_bf16(std::uint16_t const* x, std::uint64_t rows, std::uint64_t cols, std::uint8_t* codes,
                              std::uint8_t* scales) {
  quantize(isobit::host(), recipe, reinterpret_cast<isobit::bf16 const*>(x), rows, cols,
           reinterpret_cast<isobit::e4m3*>(codes), reinterpret_cast<isobit::e8m0*>(scales));
}
