// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MXFP8 quantisation on a real GPU against the CPU; the codes for devices against the integer codecs and against the
// GPU's own conversion, over all floats.
#include "check.hpp"

#include <isobit/device/quantize.cuh>
#include <isobit/quantize.hpp>

#include <cuda_fp8.h>

namespace {

using isobit::bf16;
using isobit::e4m3;
using isobit::e5m2;
using isobit::e8m0;
using isobit::f16;
namespace mx = isobit::mx;
using floor_e4m3 = isobit::mxfp8<e4m3, mx::floor>;
using rceil_e4m3 = isobit::mxfp8<e4m3, mx::rceil>;
using rceil_e5m2 = isobit::mxfp8<e5m2, mx::rceil, mx::saturate>;

template <class T> std::vector<T> input(uint64_t n) {
  std::vector<T> x(n);
  for (uint64_t i = 0; i < n; ++i) {
    float v = gpu::hard_float(i);
    if (i % 1009 == 7) v = isobit::from_bits<float>(i % 2 ? 0x7f800000u : 0xffc00001u);
    if (i / 32 % 13 == 3) v = isobit::from_bits<float>(static_cast<uint32_t>(i * 977 % 0x00900000u)); // tiny blocks
    if constexpr (std::is_same_v<T, float>)
      x[i] = v;
    else
      x[i] = isobit::encode<T>(v);
  }
  return x;
}

template <class Recipe> struct output {
  std::vector<typename Recipe::element> codes;
  std::vector<e8m0> scales;
  std::vector<float> values;
};

template <class Recipe, class T> output<Recipe> on_host(std::vector<T> const& x, uint64_t rows, uint64_t cols) {
  output<Recipe> o;
  o.codes.resize(x.size());
  o.scales.resize(rows * isobit::blocks_per_row<Recipe>(cols));
  o.values.resize(x.size());
  isobit::quantize(isobit::host(), Recipe{}, x.data(), rows, cols, o.codes.data(), o.scales.data());
  isobit::dequantize(isobit::host(), Recipe{}, o.codes.data(), o.scales.data(), rows, cols, o.values.data());
  return o;
}

template <class Recipe, class T>
void compare(gpu::check& c, uint64_t rows, uint64_t cols, size_t offset, bool geometries) {
  auto const x = input<T>(rows * cols);
  auto const want = on_host<Recipe>(x, rows, cols);
  gpu::array<T> const in(x, offset);
  gpu::array<typename Recipe::element> const codes(x.size(), offset);
  gpu::array<e8m0> const scales(want.scales.size());
  gpu::array<float> const values(x.size(), offset);
  auto const expect = [&] {
    gpu::must(cudaDeviceSynchronize(), "quantize");
    c.expect(gpu::same_bits(codes.to_host(), want.codes), "codes", cols);
    c.expect(gpu::same_bits(scales.to_host(), want.scales), "scales", cols);
  };
  isobit::device::quantize(0, Recipe{}, static_cast<T const*>(in.data()), rows, cols, codes.data(), scales.data());
  expect();
  isobit::device::dequantize(0, Recipe{}, codes.data(), scales.data(), rows, cols, values.data());
  gpu::must(cudaDeviceSynchronize(), "dequantize");
  c.expect(gpu::same_bits(values.to_host(), want.values), "values", cols);
  if (!geometries) return;
  for (int block : {1, 3, 4, 31, 33, 128, 1000, 1024})
    for (int grid : {1, 7, 1000}) {
      gpu::must(cudaMemset(codes.data(), 0x5a, codes.size()), "cudaMemset");
      gpu::must(cudaMemset(scales.data(), 0x5a, scales.size()), "cudaMemset");
      isobit::device::quantize_kernel<<<grid, block>>>(
          Recipe{}, isobit::detail::to_nearest{}, static_cast<T const*>(in.data()), rows, cols,
          isobit::row_wise(codes.data(), scales.data(), scales.size(), isobit::ragged));
      expect();
    }
}

template <class Recipe, class T> void sweep(char const* name) {
  gpu::check c(name);
  bool const quick = gpu::quick();
  for (uint64_t cols : {1, 31, 32, 33, 64, 100, 1024, 4096})
    for (size_t offset : {0, 1, 4})
      compare<Recipe, T>(c, quick ? 3 : 37, cols, offset, !quick && (cols == 33 || cols == 1024) && offset == 0);
  if (!quick) compare<Recipe, T>(c, 3001, 5000, 0, false);
}

// Counts the floats whose code by the device's form is not that of the integer codec, or of the GPU's conversion.
template <class Element> __global__ void all_floats(unsigned long long* differ) {
  constexpr auto kind = std::is_same_v<Element, e4m3> ? __NV_E4M3 : __NV_E5M2;
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  unsigned long long here = 0;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < (uint64_t(1) << 32); i += step) {
    float const x = isobit::from_bits<float>(static_cast<uint32_t>(i));
    if ((static_cast<uint32_t>(i) & 0x7fffffffu) < 0x7f800000u) {
      e8m0 const one{127};
      auto const code = isobit::mx::recipe<Element, mx::floor>::code_of(x, one).bits;
      here += code != isobit::encode<Element, isobit::overflow::saturate>(x).bits;
      here += code != __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind);
    }
    int const byte = static_cast<int>(i >> 23 & 255) - 8 + static_cast<int>(i * 7 % 19);
    e8m0 const s{static_cast<uint8_t>(byte < 0 ? 0 : byte > 254 ? 254 : byte)};
    if (isobit::is_finite(x))
      here += isobit::mx::recipe<Element, mx::floor>::code_of(x, s).bits !=
              isobit::encode<Element, isobit::overflow::saturate>(x, 127 - s.bits).bits;
  }
  if (here != 0) atomicAdd(differ, here);
}

// The same for the two ways to a code that `ISOBIT_HARDWARE_CONVERSIONS` chooses between: isobit's arithmetic and, where
// the target has it, the GPU's instruction; over all floats, infinities and NaNs included.
template <class Element> __global__ void both_conversions(unsigned long long* differ, unsigned* compared) {
  if constexpr (isobit::detail::has_hardware_conversion<Element>) {
    *compared = 1;
    uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
    unsigned long long here = 0;
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < (uint64_t(1) << 32); i += step) {
      float const x = isobit::from_bits<float>(static_cast<uint32_t>(i));
      here +=
          isobit::detail::encode_by_hardware<Element>(x).bits != isobit::detail::encode_by_addition<Element>(x).bits;
    }
    if (here != 0) atomicAdd(differ, here);
  }
}
// And the scale of rceil_te from the GPU's conversion to a power of two.
__global__ void both_scales(unsigned long long* differ, unsigned* compared) {
#if defined(ISOBIT_HAS_NARROW_CONVERSIONS)
  *compared = 1;
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  unsigned long long here = 0;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < 0x7f800000u; i += step) {
    float const quotient = isobit::mul(isobit::from_bits<float>(static_cast<uint32_t>(i)), isobit::div(1.0f, 448.0f));
    here += isobit::detail::power_of_two_by_hardware(quotient) !=
            isobit::mxfp8<e4m3, mx::rceil_te>::scale_of(static_cast<uint32_t>(i)).bits;
  }
  if (here != 0) atomicAdd(differ, here);
#endif
}

void both_ways(char const* name, void (*kernel)(unsigned long long*, unsigned*)) {
  gpu::check c(name);
  gpu::array<unsigned long long> differ(1);
  gpu::array<unsigned> compared(1);
  differ.zero();
  compared.zero();
  kernel<<<132 * 16, 256>>>(differ.data(), compared.data());
  gpu::must(cudaDeviceSynchronize(), "conversions");
  if (compared.to_host()[0] == 0) std::printf("  %s: this target has no such instruction\n", name);
  c.expect(differ.to_host()[0] == 0, "floats that differ", differ.to_host()[0]);
}

// Copies in both directions, squares and back, against the host.
template <class Recipe, class Code> void copies(char const* name, Recipe recipe) {
  gpu::check c(name);
  using isobit::scale_layout::tiles_128x4;
  auto const row_wise = [](auto* codes, auto* scales, uint64_t n) {
    return isobit::row_wise<tiles_128x4>(codes, scales, n, isobit::ragged);
  };
  auto const transposed = [](auto* codes, auto* scales, uint64_t n) {
    return isobit::column_wise_transposed<tiles_128x4>(codes, scales, n, isobit::ragged);
  };
  using scale = typename Recipe::scale;
  for (uint64_t rows : {1, 64, 300})
    for (uint64_t cols : {33, 64, 1000}) {
      auto const x = input<float>(rows * cols);
      using row_copy = decltype(row_wise(static_cast<Code*>(nullptr), static_cast<scale*>(nullptr), 0));
      using column_copy = decltype(transposed(static_cast<Code*>(nullptr), static_cast<scale*>(nullptr), 0));
      uint64_t const na = isobit::scales_size<Recipe, row_copy::along, tiles_128x4>(rows, cols);
      uint64_t const nb = isobit::scales_size<Recipe, column_copy::along, tiles_128x4>(rows, cols);
      std::vector<Code> codes_a(row_copy::codes_size(rows, cols)), codes_b(column_copy::codes_size(rows, cols));
      std::vector<scale> scales_a(na), scales_b(nb);
      gpu::array<float> const in(x);
      gpu::array<Code> const device_a(codes_a.size()), device_b(codes_b.size());
      gpu::array<scale> const device_sa(na), device_sb(nb);
      auto const expect = [&] {
        gpu::must(cudaDeviceSynchronize(), "quantize");
        c.expect(gpu::same_bits(device_a.to_host(), codes_a), "row-wise codes", cols);
        c.expect(gpu::same_bits(device_b.to_host(), codes_b), "column-wise codes", cols);
        c.expect(gpu::same_bits(device_sa.to_host(), scales_a), "row-wise scales", cols);
        c.expect(gpu::same_bits(device_sb.to_host(), scales_b), "column-wise scales", cols);
      };
      auto const a = row_wise(codes_a.data(), scales_a.data(), na);
      auto const b = transposed(codes_b.data(), scales_b.data(), nb);
      auto const da = row_wise(device_a.data(), device_sa.data(), na);
      auto const db = transposed(device_b.data(), device_sb.data(), nb);
      float const* const dx = in.data();
      isobit::quantize(isobit::host(), recipe, x.data(), rows, cols, a, b);
      isobit::device::quantize(0, recipe, dx, rows, cols, da, db);
      expect();
      isobit::quantize_square(isobit::host(), recipe, x.data(), rows, cols, a, b);
      isobit::device::quantize_square(0, recipe, dx, rows, cols, da, db);
      expect();
      if constexpr (isobit::stochastic_recipe<Recipe>) {
        isobit::stochastic const rounding{11, 22};
        isobit::quantize(isobit::host(), recipe, rounding, x.data(), rows, cols, a, b);
        isobit::device::quantize(0, recipe, rounding, dx, rows, cols, da, db);
        expect();
      }
      std::vector<float> values(x.size());
      gpu::array<float> const out(x.size());
      isobit::dequantize(isobit::host(), recipe, b, rows, cols, values.data());
      isobit::device::dequantize(0, recipe, db, rows, cols, out.data());
      gpu::must(cudaDeviceSynchronize(), "dequantize");
      c.expect(gpu::same_bits(out.to_host(), values), "values", cols);
    }
}

template <class Element> void every_float(char const* name) {
  gpu::check c(name);
  gpu::array<unsigned long long> differ(1);
  differ.zero();
  all_floats<Element><<<132 * 16, 256>>>(differ.data());
  gpu::must(cudaDeviceSynchronize(), "all floats");
  c.expect(differ.to_host()[0] == 0, "floats that differ", differ.to_host()[0]);
}

template <class T> void bench(char const* name, uint64_t side) {
  uint64_t const n = side * side;
  gpu::array<T> x(n);
  x.zero();
  gpu::array<e4m3> codes(n);
  gpu::array<e8m0> scales(n / 32);
  gpu::array<float> values(n);
  uint64_t const bytes = n * sizeof(T) + n + n / 32;
  gpu::array<unsigned char> to(bytes / 2), from(bytes / 2); // read and written: the same bytes in all
  double const copy = gpu::microseconds(
      [&] { cudaMemcpyAsync(to.data(), from.data(), bytes / 2, cudaMemcpyDeviceToDevice, 0); }, 10, 7);
  double const time = gpu::microseconds(
      [&] {
        isobit::device::quantize(0, rceil_e4m3{}, static_cast<T const*>(x.data()), side, side, codes.data(),
                                 scales.data());
      },
      10, 7);
  std::printf("| %s %llux%llu | %.1f | %.1f | %.2f | %.0f |\n", name, static_cast<unsigned long long>(side),
              static_cast<unsigned long long>(side), copy, time, copy / time, static_cast<double>(bytes) / time / 1000);
  std::fflush(stdout);
}

} // namespace

void check_quantize() {
  sweep<floor_e4m3, float>("quantize MXFP8 e4m3 floor, float");
  sweep<rceil_e4m3, float>("quantize MXFP8 e4m3 rceil, float");
  sweep<rceil_e4m3, bf16>("quantize MXFP8 e4m3 rceil, bf16");
  sweep<floor_e4m3, f16>("quantize MXFP8 e4m3 floor, f16");
  sweep<rceil_e5m2, float>("quantize MXFP8 e5m2 rceil saturate, float");
  copies<rceil_e4m3, e4m3>("quantize MXFP8 both ways, tiles of scales", rceil_e4m3{});
  copies<isobit::nvfp4<isobit::nv::te>, isobit::e2m1x2>("quantize NVFP4 te both ways, packed",
                                                        isobit::nvfp4<isobit::nv::te>{3.0f});
  copies<isobit::nvfp4<isobit::nv::exact>, isobit::e2m1x2>("quantize NVFP4 exact both ways, packed",
                                                           isobit::nvfp4<isobit::nv::exact>{3.0f});
  if (gpu::quick()) return;
  {
    gpu::contention const busy;
    sweep<rceil_e4m3, float>("quantize beside another stream's kernels");
  }
  every_float<e4m3>("e4m3 codes of all floats: device form, integer codec, cvt");
  every_float<e5m2>("e5m2 codes of all floats: device form, integer codec, cvt");
  both_ways("e4m3: isobit's arithmetic and the instruction, all floats", both_conversions<e4m3>);
  both_ways("e5m2: isobit's arithmetic and the instruction, all floats", both_conversions<e5m2>);
  both_ways("e2m1: isobit's arithmetic and the instruction, all floats", both_conversions<isobit::e2m1>);
  both_ways("e8m0: rceil_te and the instruction, all magnitudes", both_scales);
}

// `launch(x)` beside a copy of as many bytes as it reads and writes.
template <class T, class Launch>
static void bench_launch(char const* name, uint64_t side, double written, Launch const& launch) {
  uint64_t const n = side * side, bytes = n * sizeof(T) + static_cast<uint64_t>(static_cast<double>(n) * written);
  gpu::array<T> x(n);
  x.zero();
  gpu::array<unsigned char> to(bytes / 2), from(bytes / 2);
  double const copy = gpu::microseconds(
      [&] { cudaMemcpyAsync(to.data(), from.data(), bytes / 2, cudaMemcpyDeviceToDevice, 0); }, 10, 7);
  T const* const in = x.data();
  double const time = gpu::microseconds([&] { launch(in); }, 10, 7);
  std::printf("| %s %llux%llu | %.1f | %.1f | %.2f | %.0f |\n", name, static_cast<unsigned long long>(side),
              static_cast<unsigned long long>(side), copy, time, copy / time, static_cast<double>(bytes) / time / 1000);
  std::fflush(stdout);
}

static void bench_copies(uint64_t side) {
  uint64_t const n = side * side;
  using te = isobit::nvfp4<isobit::nv::te>;
  te const recipe{3.0f};
  gpu::array<isobit::e2m1x2> a4(n / 2), b4(n / 2);
  gpu::array<e4m3> sa4(n / 16), sb4(n / 16), a8(n), b8(n);
  gpu::array<e8m0> sa8(n / 32), sb8(n / 32);
  using tiles = isobit::scale_layout::tiles_128x4;
  auto const rows4 = isobit::row_wise<tiles>(a4.data(), sa4.data(), n / 16);
  auto const columns4 = isobit::column_wise_transposed<tiles>(b4.data(), sb4.data(), n / 16);
  auto const rows8 = isobit::row_wise<tiles>(a8.data(), sa8.data(), n / 32);
  auto const columns8 = isobit::column_wise<tiles>(b8.data(), sb8.data(), n / 32);
  bench_launch<bf16>("NVFP4 te, bf16, packed", side, 0.5625,
                     [&](bf16 const* x) { isobit::device::quantize(0, recipe, x, side, side, rows4); });
  bench_launch<bf16>("NVFP4 te, bf16, both ways", side, 1.125,
                     [&](bf16 const* x) { isobit::device::quantize(0, recipe, x, side, side, rows4, columns4); });
  bench_launch<bf16>("NVFP4 te, bf16, stochastic", side, 0.5625, [&](bf16 const* x) {
    isobit::device::quantize(0, recipe, isobit::stochastic{1, 2}, x, side, side, rows4);
  });
  bench_launch<bf16>("MXFP8, bf16, both ways", side, 2.0625,
                     [&](bf16 const* x) { isobit::device::quantize(0, rceil_e4m3{}, x, side, side, rows8, columns8); });
  bench_launch<bf16>("MXFP8, bf16, column-wise", side, 1.03125,
                     [&](bf16 const* x) { isobit::device::quantize(0, rceil_e4m3{}, x, side, side, columns8); });
}

void bench_quantize() {
  std::printf("\n| quantize MXFP8 | copy of the same bytes us | isobit us | of copy | GB/s |\n|---|---|---|---|---|\n");
  for (uint64_t side : {1024, 4096, 8192, 16384}) {
    bench<float>("float", side);
    bench<bf16>("bf16", side);
    bench_copies(side);
  }
}
