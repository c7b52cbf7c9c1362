// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests on a real GPU against the CPU: launchers, geometries, alignments, and a kernel that fingerprints what it writes.
#include "check.hpp"

#include <isobit/arith/op.hpp>
#include <isobit/device/digest.cuh>
#include <isobit/fingerprint.hpp>

#include <array>

namespace {

using isobit::digest_sum;

std::vector<unsigned char> pattern(size_t n) {
  std::vector<unsigned char> b(n);
  for (size_t i = 0; i < n; ++i) b[i] = static_cast<unsigned char>((i * 0x9e3779b97f4a7c15ull) >> 56 ^ i >> 9);
  return b;
}

__global__ void write_and_digest(float const* x, float* y, uint64_t units, digest_sum* total) {
  __shared__ isobit::block_storage<256, digest_sum> memory;
  auto const b = isobit::block(memory);
  isobit::digest_accumulator acc;
  for (uint64_t u = b.block_rank() * b.size() + b.thread_rank(); u < units;
       u += isobit::machine::grid_blocks() * b.size()) {
    auto const w = isobit::detail::read16(x + 4 * u);
    float v[4];
    for (int j = 0; j < 4; ++j) y[4 * u + j] = v[j] = isobit::mul(2.f, __uint_as_float(w.w[j]));
    acc.add(v, u);
  }
  auto const s = sum_over(b, acc.sum());
  if (b.thread_rank() == 0) isobit::device::atomic_add(total, s);
}
template <int P> __global__ void by_tile(void const* data, uint64_t bytes, uint64_t* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = digest(isobit::tile<P>{}, data, bytes);
}
__global__ void by_thread(void const* data, uint64_t bytes, uint64_t* out) {
  *out = digest(isobit::thread{}, data, bytes);
}

void launchers() {
  gpu::check c("digests: launchers, sizes, alignments");
  auto const data = pattern(gpu::quick() ? 70000 : 5000011);
  for (size_t offset : {0u, 1u, 4u, 8u}) {
    gpu::array<unsigned char> const in(data, offset);
    for (uint64_t n : {uint64_t(0), uint64_t(1), uint64_t(16), uint64_t(2047), uint64_t(2049), uint64_t(65552),
                       uint64_t(data.size())}) {
      auto const want = digest_range(isobit::host(), data.data(), n);
      gpu::array<digest_sum> sum(1);
      isobit::device::digest_range(0, in.data(), n, sum.data());
      c.expect(gpu::same_bits(sum.to_host()[0], want), "sum", n);
      isobit::device::digest_range(0, in.data(), n, sum.data(), 77);
      c.expect(gpu::same_bits(sum.to_host()[0], digest_range(isobit::host(), data.data(), n, 77)), "part", n);
      for (uint64_t chunk : {16u, 2048u, 65536u}) {
        if (n / chunk > 100000) continue;
        std::vector<digest_sum> wanted(isobit::digest_chunks(n, chunk));
        chunk_sums(isobit::host(), data.data(), n, chunk, wanted.data());
        gpu::array<digest_sum> const out(wanted.size());
        isobit::device::chunk_sums(0, in.data(), n, chunk, out.data());
        c.expect(gpu::same_bits(out.to_host(), wanted), "chunks", n);
      }
    }
  }
}

void geometries() {
  gpu::check c("digests: geometries, tiles, a thread, values as they are written");
  auto const data = pattern(gpu::quick() ? 9007 : 1000003);
  gpu::array<unsigned char> const in(data);
  auto const want = digest_range(isobit::host(), data.data(), data.size());
  auto const digest_of = finish_digest(want, data.size());
  for (int block : {1, 2, 31, 32, 33, 96, 100, 255, 256})
    for (int grid : {1, 3, 132, 1000}) {
      gpu::array<digest_sum> sum(1);
      sum.zero();
      isobit::device::digest_range_kernel<><<<grid, block>>>(in.data(), data.size(), 0, sum.data());
      c.expect(gpu::same_bits(sum.to_host()[0], want), "geometry", block);
    }
  gpu::array<uint64_t> out(64);
  by_tile<32><<<1, 64>>>(in.data(), data.size(), out.data());
  for (uint64_t d : out.to_host()) c.expect(d == digest_of, "tile of 32");
  by_tile<4><<<1, 64>>>(in.data(), data.size(), out.data());
  for (uint64_t d : out.to_host()) c.expect(d == digest_of, "tile of 4");
  by_thread<<<1, 1>>>(in.data(), 5001, out.data());
  c.expect(out.to_host()[0] == digest(isobit::host(), data.data(), 5001), "thread");

  auto const x = gpu::hard_floats(gpu::quick() ? 4000 : 400000);
  gpu::array<float> const from(x), to(x.size());
  for (int block : {64, 100, 256}) {
    gpu::array<digest_sum> sum(1);
    sum.zero();
    write_and_digest<<<40, block>>>(from.data(), to.data(), x.size() / 4, sum.data());
    auto const written = to.to_host();
    c.expect(gpu::same_bits(sum.to_host()[0], digest_range(isobit::host(), written.data(), 4 * written.size())),
             "written");
  }
}

void forms() {
  gpu::check c("digests: 128 bits, by value, views, packed codes, torch_hash");
  using isobit::digest128;
  using isobit::digest128_sum;
  auto const data = pattern(gpu::quick() ? 60000 : 4000000);
  gpu::array<unsigned char> const in(data);
  gpu::array<digest128_sum> wide(1);
  for (uint64_t n : {uint64_t(0), uint64_t(17), uint64_t(data.size() - 3)}) {
    isobit::device::digest_range(0, in.data(), n, wide.data());
    auto const want = isobit::digest_range<digest128>(isobit::host(), data.data(), n);
    c.expect(gpu::same_bits(wide.to_host()[0], want), "128", n);
  }
  // The lower part of the data as a matrix read column by column, on both sides.
  uint64_t const rows = 100, cols = data.size() / 1000;
  using form = isobit::by_value<digest128>;
  isobit::tensor_view<isobit::bf16, 2> view{reinterpret_cast<isobit::bf16 const*>(data.data()), {rows, cols}, {1, 100}};
  auto const want = isobit::digest_elements_sum<form>(isobit::host(), view, view.count());
  view.data = reinterpret_cast<isobit::bf16 const*>(in.data());
  isobit::device::digest_elements<form>(0, view, view.count(), wide.data());
  c.expect(gpu::same_bits(wide.to_host()[0], want), "view by value");
  isobit::tensor_view<isobit::e2m1x2, 1> codes{reinterpret_cast<isobit::e2m1x2 const*>(data.data()), {10007}, {1}, 1};
  auto const code_sum = isobit::digest_elements_sum(isobit::host(), codes, codes.count());
  codes.data = reinterpret_cast<isobit::e2m1x2 const*>(in.data());
  gpu::array<digest_sum> sum(1);
  isobit::device::digest_elements(0, codes, codes.count(), sum.data());
  c.expect(gpu::same_bits(sum.to_host()[0], code_sum), "packed codes");

  auto const* const x = reinterpret_cast<float const*>(data.data());
  auto const load = isobit::stored(reinterpret_cast<float const*>(in.data()));
  uint64_t const n = data.size() / 4;
  for (auto const& [outer, reduced, inner] : {std::array<uint64_t, 3>{1, n, 1}, {n / 100, 100, 1}, {10, n / 500, 50}}) {
    uint64_t const extents[] = {outer, reduced, inner};
    std::vector<uint64_t> hashes(outer * inner);
    torch_hash(isobit::host(), x, extents, 3, 2, hashes.data());
    gpu::array<uint64_t> out(hashes.size());
    isobit::device::torch_hash(0, load, outer, reduced, inner, out.data());
    c.expect(gpu::same_bits(out.to_host(), hashes), "torch_hash", outer);
  }
}

} // namespace

void check_digest() {
  launchers();
  forms();
  if (gpu::quick()) return geometries();
  gpu::contention const busy;
  geometries();
}

void bench_digest() {
  std::printf("\n| digest, bytes | copy that moves the same bytes us | digest us | GB/s | of the copy "
              "|\n|---|---|---|---|---|\n");
  for (uint64_t n = uint64_t(1) << 20; n <= uint64_t(1) << 30; n <<= 2) {
    gpu::array<unsigned char> data(n);
    data.zero();
    gpu::array<digest_sum> sum(1);
    gpu::array<unsigned char> to(n / 2);
    double const copy =
        gpu::microseconds([&] { cudaMemcpyAsync(to.data(), data.data(), n / 2, cudaMemcpyDeviceToDevice, 0); }, 10, 7);
    double const time = gpu::microseconds([&] { isobit::device::digest_range(0, data.data(), n, sum.data()); }, 10, 7);
    std::printf("| 2^%d | %.1f | %.1f | %.0f | %.2f |\n", 63 - __builtin_clzll(n), copy, time,
                static_cast<double>(n) / time / 1000, copy / time);
    std::fflush(stdout);
  }
}
