// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA's narrow types as elements, and as what a quantiser writes; CUDA's own conversions read the codes. Where its
// headers are.
#if defined(ISOBIT_TEST_CUDA_TYPES)
#include <doctest/doctest.h>

#include <isobit/interop/cuda_types.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using isobit::host;
using isobit::testing::bits_equal;

// Every code, in an order that mixes them; sums in float.
template <class Cuda> void check_sum() {
  using twin = typename isobit::cuda_twin<Cuda>::type;
  std::size_t const n = 1001;
  std::vector<twin> y(n);
  std::vector<Cuda> x(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = isobit::encode<twin>(std::sin(static_cast<float>(i)) * 5);
  std::memcpy(static_cast<void*>(x.data()), y.data(), n * sizeof(twin));
  CHECK(bits_equal(isobit::reduce(host(), x.data(), n), isobit::reduce(host(), y.data(), n)));
  std::memset(static_cast<void*>(x.data()), 0, sizeof(Cuda));
  y[0] = isobit::encode<twin>(2.0f);
  CHECK_FALSE(bits_equal(isobit::reduce(host(), x.data(), n), isobit::reduce(host(), y.data(), n))); // control
}

} // namespace

TEST_CASE("CUDA's types are summed as isobit's") {
  check_sum<__half>();
  check_sum<__nv_bfloat16>();
  check_sum<__nv_fp8_e4m3>();
  check_sum<__nv_fp8_e5m2>();
#if defined(ISOBIT_HAS_CUDA_FP4)
  check_sum<__nv_fp6_e3m2>();
  check_sum<__nv_fp6_e2m3>();
  check_sum<__nv_fp4_e2m1>();
#endif
}

TEST_CASE("quantising arrays of __half and __nv_bfloat16") {
  using mxfp8 = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  auto const check = [](auto const& x, auto const& y) { // the same bits as CUDA's type and as isobit's
    std::vector<isobit::e4m3> codes(x.size()), expected(x.size());
    std::vector<isobit::e8m0> scales(x.size() / 32), expected_scales(x.size() / 32);
    isobit::quantize(host(), mxfp8{}, x.data(), 1, x.size(), codes.data(), scales.data());
    isobit::quantize(host(), mxfp8{}, y.data(), 1, x.size(), expected.data(), expected_scales.data());
    CHECK(codes == expected);
    CHECK(scales == expected_scales);
  };
  std::vector<__half> half;
  std::vector<__nv_bfloat16> brain;
  std::vector<isobit::f16> half_twin;
  std::vector<isobit::bf16> brain_twin;
  for (int i = 0; i < 256; ++i) {
    float const v = std::sin(static_cast<float>(i * i)) * 3;
    half.push_back(__half(v)), brain.push_back(__nv_bfloat16(v));
    half_twin.push_back(isobit::encode<isobit::f16>(v)), brain_twin.push_back(isobit::encode<isobit::bf16>(v));
  }
  check(half, half_twin);
  check(brain, brain_twin);
}

#if defined(ISOBIT_HAS_CUDA_FP4)
TEST_CASE("quantising to CUDA's codes and scales") {
  std::size_t const rows = 3, cols = 64, n = rows * cols;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<float>(i * i)) * 3;

  using mxfp8 = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  std::vector<__nv_fp8_e4m3> codes(n);
  std::vector<__nv_fp8_e8m0> scales(n / 32);
  std::vector<float> back(n);
  isobit::quantize(host(), mxfp8{}, x.data(), rows, cols, isobit::twin(codes.data()), isobit::twin(scales.data()));
  auto const* const read_codes = codes.data();
  auto const* const read_scales = scales.data();
  isobit::dequantize(host(), mxfp8{}, isobit::twin(read_codes), isobit::twin(read_scales), rows, cols, back.data());
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(bits_equal(back[i], float(codes[i]) * float(scales[i / 32])));
    CHECK(std::fabs(back[i] - x[i]) <= 0.125f);
  }

  using nvfp4 = isobit::nvfp4<isobit::nv::te>;
  std::vector<__nv_fp4x2_e2m1> pairs(n / 2);
  std::vector<__nv_fp8_e4m3> block_scales(n / 16);
  nvfp4 const recipe{isobit::from_bits<float>(isobit::amax<nvfp4>(host(), x.data(), n))};
  isobit::quantize(host(), recipe, x.data(), rows, cols, isobit::twin(pairs.data()), isobit::twin(block_scales.data()));
  isobit::dequantize(host(), recipe, isobit::twin(pairs.data()), isobit::twin(block_scales.data()), rows, cols,
                     back.data());
  for (std::size_t i = 0; i < n; ++i) {
    float2 const pair = static_cast<float2>(pairs[i / 2]);
    float const code = i % 2 == 0 ? pair.x : pair.y;
    CHECK(std::fabs(code * float(block_scales[i / 16]) * recipe.tensor_amax / 2688 - back[i]) <= 1e-5f);
  }
}
#endif
#endif
