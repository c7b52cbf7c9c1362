// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of CUDA's own narrow types have the digests of isobit's types with the same bits. Where CUDA's headers are.
#if defined(ISOBIT_TEST_CUDA_TYPES)
#include <doctest/doctest.h>
#include <isobit/fingerprint.hpp>
#include <isobit/interop/cuda_types.hpp>

#include <cstring>
#include <vector>

namespace {

template <class Cuda> void check(std::uint64_t count) {
  using twin = typename isobit::cuda_twin<Cuda>::type;
  static_assert(sizeof(Cuda) == sizeof(twin));
  std::size_t const objects = (count + isobit::elements_in<Cuda> - 1) / isobit::elements_in<Cuda>;
  std::vector<unsigned char> raw(objects * sizeof(Cuda));
  for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<unsigned char>(i * 89 + 7);
  std::vector<Cuda> x(objects);
  std::vector<twin> y(objects);
  std::memcpy(static_cast<void*>(x.data()), raw.data(), raw.size());
  std::memcpy(static_cast<void*>(y.data()), raw.data(), raw.size());
  using isobit::host;
  CHECK(isobit::dtype_of<Cuda> == isobit::dtype_of<twin>);
  CHECK(isobit::digest(host(), x.data(), {count}) == isobit::digest(host(), y.data(), {count}));
  using form = isobit::by_value<isobit::digest128>;
  CHECK(isobit::digest<form>(host(), x.data(), {count}) == isobit::digest<form>(host(), y.data(), {count}));
  if constexpr (isobit::torch_hashable<Cuda>)
    CHECK(isobit::torch_hash(host(), x.data(), count) == isobit::torch_hash(host(), y.data(), count));
  // Control: another bit, another digest.
  reinterpret_cast<unsigned char*>(x.data())[0] ^= 1;
  CHECK(isobit::digest(host(), x.data(), {count}) != isobit::digest(host(), y.data(), {count}));
}

} // namespace

TEST_CASE("CUDA's types are fingerprinted as they are") {
  check<__half>(1001);
  check<__nv_bfloat16>(1001);
  check<__nv_fp8_e4m3>(1001);
  check<__nv_fp8_e5m2>(1001);
#if defined(ISOBIT_HAS_CUDA_FP4)
  check<__nv_fp8_e8m0>(1001);
  check<__nv_fp6_e3m2>(1001);
  check<__nv_fp6_e2m3>(1001);
  check<__nv_fp4_e2m1>(1001);
  check<__nv_fp4x2_e2m1>(1001);
#endif
}
#endif
