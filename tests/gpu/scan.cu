// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on a real GPU against the CPU: segmented launcher, geometries, misaligned and aliased arrays, several accumulators.
#include "check.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/device/scan.cuh>

namespace {

using isobit::compensated;
using isobit::plain;

std::vector<int64_t> offsets_of(std::vector<int64_t> const& lengths) {
  std::vector<int64_t> o = {0};
  for (auto l : lengths) o.push_back(o.back() + l);
  return o;
}

template <class Acc> void compare(gpu::check& c, std::vector<int64_t> const& offsets, Acc const& acc, bool geometries) {
  auto const n = static_cast<size_t>(offsets.back());
  uint64_t const segments = offsets.size() - 1;
  auto const x = gpu::hard_floats(n);
  std::vector<float> want(n);
  segmented_inclusive_scan(isobit::host(), x.data(), n, offsets.data(), segments, want.data(), acc);
  gpu::array<int64_t> const o(offsets);
  for (size_t offset : {0, 1}) {
    gpu::array<float> const in(x, offset), out(n, offset);
    isobit::device::segmented_inclusive_scan(0, static_cast<float const*>(in.data()), n,
                                             static_cast<int64_t const*>(o.data()), segments, out.data(), acc);
    gpu::must(cudaDeviceSynchronize(), "segmented scan");
    c.expect(gpu::same_bits(out.to_host(), want), "segments", segments);
    isobit::detail::results<float> const to{out.data()};
    isobit::contiguous<float> const from{in.data()};
    if (geometries)
      for (int block : {1, 31, 32, 33, 96, 100, 256, 1000, 1024})
        for (int grid : {1, 7, 1000}) {
          gpu::must(cudaMemset(out.data(), 0x5a, 4 * n), "cudaMemset");
          isobit::device::segmented_scan_by_block_kernel<1024>
              <<<grid, block>>>(from, static_cast<int64_t const*>(o.data()), segments, to, acc);
          gpu::must(cudaDeviceSynchronize(), "by block");
          c.expect(gpu::same_bits(out.to_host(), want), "by block", block);
          if (block < 32) continue;
          gpu::must(cudaMemset(out.data(), 0x5a, 4 * n), "cudaMemset");
          isobit::device::segmented_scan_by_tile_kernel<32>
              <<<grid, block>>>(from, static_cast<int64_t const*>(o.data()), segments, to, acc);
          gpu::must(cudaDeviceSynchronize(), "by tile");
          c.expect(gpu::same_bits(out.to_host(), want), "by tile", block);
        }
    // In place.
    isobit::device::segmented_inclusive_scan(0, static_cast<float const*>(in.data()), n,
                                             static_cast<int64_t const*>(o.data()), segments, in.data(), acc);
    gpu::must(cudaDeviceSynchronize(), "in place");
    c.expect(gpu::same_bits(in.to_host(), want), "in place", segments);
  }
}

__global__ void row_prefixes(float const* x, float* out, int cols) {
  __shared__ isobit::block<256>::storage<float> smem;
  auto block = isobit::block(smem);
  std::size_t const row = std::size_t(blockIdx.x) * cols;
  isobit::inclusive_scan(block, x + row, cols, out + row);
}

void sweep(char const* name) {
  gpu::check c(name);
  bool const quick = gpu::quick();
  std::vector<int64_t> const edges = {0, 1, 2, 31, 32, 33, 0, 0, 1023, 1024, 1025, 5000, 1, 1, 0};
  compare(c, offsets_of(edges), plain<float>{}, !quick);
  compare(c, offsets_of(edges), compensated<float>{}, !quick);
  compare(c, offsets_of(std::vector<int64_t>(2049, 1)), plain<float>{}, false);
  compare(c, offsets_of({quick ? 9999 : 1000003}), plain<float>{}, false);
  compare(c, offsets_of({quick ? 9999 : 300007}), compensated<float>{}, false);
  if (!quick) compare(c, offsets_of(std::vector<int64_t>(20000, 100)), plain<float>{}, false);
  auto const x = gpu::hard_floats(37 * 1001);
  gpu::array<float> const in(x), out(x.size());
  row_prefixes<<<37, 192>>>(in.data(), out.data(), 1001);
  auto const got = out.to_host();
  for (size_t r = 0; r < 37; ++r) {
    std::vector<float> want(1001);
    inclusive_scan(isobit::host(), x.data() + 1001 * r, 1001, want.data());
    c.expect(gpu::same_bits(std::vector<float>(got.begin() + 1001 * r, got.begin() + 1001 * (r + 1)), want), "row", r);
  }
}

} // namespace

void check_scan() {
  sweep("segmented scans: lengths, geometries, alignments, in place");
  if (gpu::quick()) return;
  gpu::contention const busy;
  sweep("segmented scans beside another stream's kernels");
}

void bench_scan() {
  std::printf(
      "\n| segmented scan of 2^26 floats, elements a segment | copy us | isobit us | of the copy | compensated us |\n"
      "|---|---|---|---|---|\n");
  uint64_t const n = uint64_t(1) << 26;
  gpu::array<float> x(n), y(n);
  x.zero();
  double const copy =
      gpu::microseconds([&] { cudaMemcpyAsync(y.data(), x.data(), 4 * n, cudaMemcpyDeviceToDevice, 0); }, 10, 7);
  for (int log2 : {6, 8, 10, 12, 14, 16}) {
    auto const segments = n >> log2;
    gpu::array<int64_t> const o(offsets_of(std::vector<int64_t>(segments, int64_t(1) << log2)));
    auto const time = [&](auto const& acc) {
      return gpu::microseconds(
          [&] {
            isobit::device::segmented_inclusive_scan(0, static_cast<float const*>(x.data()), n,
                                                     static_cast<int64_t const*>(o.data()), segments, y.data(), acc);
          },
          5, 5);
    };
    double const t = time(plain<float>{}), fine = time(compensated<float>{});
    std::printf("| 2^%d | %.1f | %.1f | %.2f | %.1f |\n", log2, copy, t, copy / t, fine);
    std::fflush(stdout);
  }
}
