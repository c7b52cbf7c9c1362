// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// isobit's own kernels under a sanitizer: it must find nothing.
#include <isobit/device/digest_kernel.hpp>
#include <isobit/device/quantize_kernel.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/device/scan_kernel.hpp>
#include <isobit/simt/launch.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  using isobit::contiguous;
  using isobit::plain;
  using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  using result = isobit::detail::results<float>;
  namespace device = isobit::device;
  std::uint64_t const n = 20001;
  std::vector<float> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  std::vector<std::uint64_t> workspace(isobit::grid_workspace<float>::bytes(n) / 8 + 3, 0);
  std::vector<std::int64_t> const offsets{0, 3, 3, 40, 1000, 1033, 2000};
  std::vector<isobit::e4m3> codes(64 * 64);
  std::vector<isobit::e8m0> scales(64 * 2);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    isobit::simt::config const c{.grid = {3}, .block = {48}, .seed = seed, .resident = 2};
    float out = 0;
    isobit::simt::launch(c, device::reduce_kernel<isobit::tree, contiguous<float>, plain<float>>,
                         contiguous<float>{x.data()}, n, &out, static_cast<void*>(workspace.data()), plain<float>{});
    isobit::simt::launch(
        c, device::segmented_scan_by_block_kernel<64, contiguous<float>, std::int64_t, result, plain<float>>,
        contiguous<float>{x.data()}, offsets.data(), std::uint64_t(6), result{y.data()}, plain<float>{});
    auto const copy = isobit::row_wise(codes.data(), scales.data(), scales.size());
    using nearest = isobit::detail::to_nearest;
    isobit::simt::launch(c, device::quantize_kernel<recipe, nearest, float, decltype(copy)>, recipe{}, nearest{},
                         static_cast<float const*>(x.data()), std::uint64_t(64), std::uint64_t(64), copy);
    isobit::digest_sum sum;
    isobit::simt::launch(c, device::digest_range_kernel<>, reinterpret_cast<unsigned char const*>(x.data()),
                         std::uint64_t(n * 4), std::uint64_t(0), &sum);
  }
  std::puts("done");
}
