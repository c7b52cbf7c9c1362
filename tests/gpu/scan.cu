// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on a real GPU against the CPU: launchers of whole arrays and of segments, geometries, misaligned and aliased
// arrays, several accumulators; times beside cub::DeviceScan.
#include "check.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/device/scan.cuh>

#include <cub/device/device_scan.cuh>

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

// A workspace of bytes that mean nothing.
struct scratch {
  gpu::array<unsigned char> memory;
  explicit scratch(uint64_t bytes) : memory(bytes + 1) {}
  void* data() const { return memory.data(); }
  uint64_t size() const { return memory.size(); }
};

template <class Acc> void compare_whole(gpu::check& c, size_t n, Acc const& acc) {
  auto const x = gpu::hard_floats(n);
  std::vector<float> inclusive(n), exclusive(n);
  inclusive_scan(isobit::host(), x.data(), n, inclusive.data(), acc);
  exclusive_scan(isobit::host(), x.data(), n, exclusive.data(), acc, 0.5f);
  scratch const w(isobit::device::scan_workspace_bytes<Acc>(n));
  for (size_t offset : {0, 1}) {
    gpu::array<float> const in(x, offset), out(n, offset);
    for (int again = 0; again < 3; ++again) {
      isobit::device::inclusive_scan(0, w.data(), w.size(), static_cast<float const*>(in.data()), n, out.data(), acc);
      gpu::must(cudaDeviceSynchronize(), "inclusive scan");
      c.expect(gpu::same_bits(out.to_host(), inclusive), "inclusive", n);
    }
    isobit::device::exclusive_scan(0, w.data(), w.size(), static_cast<float const*>(in.data()), n, in.data(), acc, 0.5f);
    gpu::must(cudaDeviceSynchronize(), "exclusive scan");
    c.expect(gpu::same_bits(in.to_host(), exclusive), "exclusive, in place", n);
  }
  // The one-pass kernel at other geometries, of few blocks and of many.
  using state = typename Acc::state;
  using form = isobit::detail::scan_form<false>;
  gpu::array<float> const in(x), out(n);
  for (unsigned block : {32u, 96u, 256u, 1024u})
    for (unsigned grid : {1u, 7u, 1000u}) {
      if (n > 200000 && grid == 1) continue;
      scratch const any(isobit::scan_workspace<state>::bytes(n, block));
      gpu::must(cudaMemset(any.data(), 0, isobit::scan_workspace<state>::zero_bytes(n, block)), "cudaMemset");
      isobit::device::scan_kernel<1024><<<grid, block>>>(form{}, isobit::contiguous<float>{in.data()}, uint64_t(n),
                                                         isobit::detail::results<float>{out.data()}, any.data(), acc);
      gpu::must(cudaDeviceSynchronize(), "one pass");
      c.expect(gpu::same_bits(out.to_host(), inclusive), "one pass", block);
    }
}

void whole_arrays(char const* name) {
  gpu::check c(name);
  for (size_t n : {1, 33, 4095, 4096, 4097, 100000}) compare_whole(c, n, plain<float>{});
  compare_whole(c, 30001, compensated<float>{});
  if (gpu::quick()) return;
  for (size_t n : {size_t(1) << 20, (size_t(1) << 20) + 1, size_t(5000001)}) compare_whole(c, n, plain<float>{});
  compare_whole(c, 3000000, compensated<float>{});
}

// Long segments among short ones, by offsets and by flags.
void mixed_segments() {
  gpu::check c("segmented scans with a workspace: long segments among short ones, offsets and flags");
  std::vector<int64_t> const lengths = {1, 5000, 2, 2048, 2049, 4096, 4097, 33, gpu::quick() ? 20000 : 3000000, 1, 77};
  auto const offsets = offsets_of(lengths);
  auto const n = static_cast<size_t>(offsets.back());
  auto const x = gpu::hard_floats(n);
  std::vector<float> want(n);
  segmented_inclusive_scan(isobit::host(), x.data(), n, offsets.data(), lengths.size(), want.data());
  std::vector<unsigned char> flags(n);
  for (size_t s = 0; s < lengths.size(); ++s) flags[static_cast<size_t>(offsets[s])] = 1;
  gpu::array<float> const in(x), out(n);
  gpu::array<int64_t> const o(offsets);
  gpu::array<unsigned char> const f(flags);
  float const* const from = in.data();
  scratch const w(isobit::device::heads_scan_workspace_bytes<plain<float>>(n));
  for (int again = 0; again < 5; ++again) {
    isobit::device::segmented_inclusive_scan(0, w.data(), w.size(), from, n, static_cast<int64_t const*>(o.data()),
                                             lengths.size(), out.data());
    gpu::must(cudaDeviceSynchronize(), "offsets");
    c.expect(gpu::same_bits(out.to_host(), want), "offsets", n);
    isobit::device::segmented_inclusive_scan(0, w.data(), w.size(), from, n, isobit::head_flags(f.data()), out.data());
    gpu::must(cudaDeviceSynchronize(), "flags");
    c.expect(gpu::same_bits(out.to_host(), want), "flags", n);
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
  whole_arrays("scans of whole arrays: two passes, one pass, geometries, alignments, in place");
  mixed_segments();
  sweep("segmented scans: lengths, geometries, alignments, in place");
  if (gpu::quick()) return;
  gpu::contention const busy;
  whole_arrays("scans of whole arrays beside another stream's kernels");
  sweep("segmented scans beside another stream's kernels");
}

namespace {
// Inclusive scans of floats, isobit beside CUB's (which gives other bits from run to run) and a copy.
void bench_whole_arrays() {
  std::printf("\n| scan of floats, n | copy us | cub::DeviceScan us | isobit us | of CUB | compensated us |\n"
              "|---|---|---|---|---|---|\n");
  for (int log2 : {16, 18, 20, 22, 24, 26, 28}) {
    uint64_t const n = uint64_t(1) << log2;
    gpu::array<float> x(n), y(n);
    x.zero();
    size_t cub_bytes = 0;
    auto const items = static_cast<int64_t>(n);
    cub::DeviceScan::InclusiveSum(nullptr, cub_bytes, x.data(), y.data(), items);
    scratch const theirs(cub_bytes), w(isobit::device::scan_workspace_bytes<compensated<float>>(n));
    int const batch = log2 < 24 ? 20 : 5;
    float const* const from = x.data();
    double const copy =
        gpu::microseconds([&] { cudaMemcpyAsync(y.data(), x.data(), 4 * n, cudaMemcpyDeviceToDevice, 0); }, batch);
    double const cub_time = gpu::microseconds(
        [&] { cub::DeviceScan::InclusiveSum(theirs.data(), cub_bytes, x.data(), y.data(), items); }, batch);
    auto const time = [&](auto const& acc) {
      return gpu::microseconds(
          [&] { isobit::device::inclusive_scan(0, w.data(), w.size(), from, n, y.data(), acc); }, batch);
    };
    double const t = time(plain<float>{}), fine = time(compensated<float>{});
    std::printf("| 2^%d | %.1f | %.1f | %.1f | %.2f | %.1f |\n", log2, copy, cub_time, t, cub_time / t, fine);
    std::fflush(stdout);
  }
}
} // namespace

void bench_scan() {
  bench_whole_arrays();
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
