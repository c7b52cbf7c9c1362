// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions on a real GPU against the CPU.
#include "check.hpp"

#include <isobit/device/reduce.cuh>

#include <cub/device/device_reduce.cuh>

#include "../golden/p4016.hpp"

namespace {

using isobit::block, isobit::block_storage, isobit::compensated, isobit::contiguous, isobit::e4m3, isobit::bf16, isobit::f16;
using isobit::element_value, isobit::host, isobit::lanes, isobit::plain, isobit::tile, isobit::to_bits, isobit::tree;
namespace device = isobit::device;

// Every thread of every block stores what it received.
template <class Order, class Load, class Acc>
__global__ void block_kernel(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  __shared__ block_storage<1024, typename Acc::state> memory;
  auto const b = block(memory);
  out[b.block_rank() * b.size() + b.thread_rank()] = isobit::reduce<Order>(b, n, load, acc);
}

template <int P> __global__ void tile_kernel(contiguous<float> load, uint64_t n, float* out) {
  out[isobit::machine::thread_rank()] = isobit::reduce(tile<P>{}, n, load);
}

template <class Order, class T, class Acc = plain<element_value<T>>>
typename Acc::result on_gpu(T const* x, uint64_t n, gpu::array<unsigned char> const& workspace, cudaStream_t stream = 0) {
  gpu::array<typename Acc::result> out(1);
  device::reduce<Order>(stream, workspace.data(), workspace.size(), x, n, out.data(), Acc{});
  gpu::must(cudaStreamSynchronize(stream), "device::reduce");
  return out.to_host()[0];
}

constexpr uint64_t sizes[] = {0,    1,    2,    3,    5,     31,    32,    33,     127,    128,     129,     1000,
                              1023, 1024, 1025, 8191, 8192,  8193,  40000, 65537,  262144, 262145,  1000000, 4194303};
constexpr uint64_t largest = 4194303;

// A few sizes around the boundaries of lanes, rows, nodes and partials: what compute-sanitizer sees.
void small() {
  gpu::check c("reduce f32, small sizes");
  gpu::array<unsigned char> workspace(device::reduce_workspace_bytes<plain<float>>(40000));
  workspace.zero();
  auto const x = gpu::hard_floats(40000);
  gpu::array<float> const d(x, 1);
  for (uint64_t n : {0, 1, 33, 1000, 8193, 40000})
    c.expect(gpu::same_bits(on_gpu<tree>(d.data(), n, workspace), isobit::reduce(host{}, x.data(), n)), "plain", n);
}

void device_wide() {
  gpu::array<unsigned char> workspace(device::reduce_workspace_bytes<compensated<double>>(largest));
  workspace.zero();
  host const cpu;
  auto const x = gpu::hard_floats(largest);
  {
    gpu::check c("reduce f32, plain and compensated, every alignment, n to 4194303");
    for (size_t offset = 0; offset < 4; ++offset) {
      gpu::array<float> const d(x, offset);
      for (uint64_t n : sizes) {
        c.expect(gpu::same_bits(on_gpu<tree>(d.data(), n, workspace), isobit::reduce(cpu, x.data(), n)), "plain", n);
        c.expect(gpu::same_bits(on_gpu<tree, float, compensated<float>>(d.data(), n, workspace),
                                isobit::reduce(cpu, x.data(), n, compensated<float>{})),
                 "compensated", n);
      }
    }
  }
  {
    gpu::check c("reduce f64, i32, bf16, f16, e4m3");
    std::vector<double> const f64(x.begin(), x.end());
    std::vector<int> i32(x.size());
    std::vector<bf16> b16(x.size());
    std::vector<f16> h16(x.size());
    std::vector<e4m3> f8(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      uint32_t const bits = to_bits(x[i]);
      i32[i] = static_cast<int>(bits);
      b16[i].bits = static_cast<uint16_t>(bits >> 16);
      h16[i].bits = static_cast<uint16_t>(bits & 0xbbffu); // finite
      f8[i].bits = static_cast<uint8_t>((bits & 0x7fu) == 0x7fu ? 0 : bits);
    }
    auto const each = [&](auto const& values, char const* what) {
      using T = std::remove_cvref_t<decltype(values[0])>;
      gpu::array<T> const d(values, 1);
      for (uint64_t n : sizes)
        c.expect(gpu::same_bits(on_gpu<tree>(d.data(), n, workspace), isobit::reduce(cpu, values.data(), n)), what, n);
    };
    each(f64, "f64");
    each(i32, "i32");
    each(b16, "bf16");
    each(h16, "f16");
    each(f8, "e4m3");
  }
  {
    gpu::check c("P4016R0's golden sums on the GPU: tree and lanes<16, 128, 256, 1024>");
    std::vector<double> data(golden::p4016::count);
    golden::p4016::generator next;
    for (double& v : data) v = next();
    gpu::array<double> const d(data);
    auto const expect = [&]<class Order>(Order, uint64_t lanes) {
      for (auto const& row : golden::p4016::lanes_sums)
        if (row.lanes == lanes)
          c.expect(to_bits(on_gpu<Order>(d.data(), data.size(), workspace)) == row.bits, "lanes", lanes);
    };
    expect(tree{}, 1);
    expect(lanes<16>{}, 16);
    expect(lanes<128>{}, 128);
    expect(lanes<256>{}, 256);
    expect(lanes<1024>{}, 1024);
  }
  {
    gpu::check c("reduce f32: 300 launches beside a busy stream, and from a CUDA graph");
    gpu::array<float> const d(x);
    float const expected = isobit::reduce(cpu, x.data(), largest);
    cudaStream_t stream;
    gpu::must(cudaStreamCreate(&stream), "stream");
    {
      gpu::contention const busy;
      for (int i = 0; i < 300; ++i) c.expect(gpu::same_bits(on_gpu<tree>(d.data(), largest, workspace, stream), expected));
    }
    gpu::array<float> out(1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    gpu::must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    device::reduce(stream, workspace.data(), workspace.size(), d.data(), largest, out.data());
    gpu::must(cudaStreamEndCapture(stream, &graph), "capture");
    gpu::must(cudaGraphInstantiate(&exec, graph, 0), "graph");
    for (int i = 0; i < 5; ++i) {
      gpu::must(cudaGraphLaunch(exec, stream), "graph");
      gpu::must(cudaStreamSynchronize(stream), "graph");
      c.expect(gpu::same_bits(out.to_host()[0], expected), "graph");
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
  {
    gpu::check c("reduce over generated elements, n = 2^32 + 5");
    constexpr uint64_t n = (uint64_t(1) << 32) + 5;
    gpu::array<uint64_t> out(1);
    gpu::array<unsigned char> w(device::reduce_workspace_bytes<plain<uint64_t>>(n));
    w.zero();
    device::reduce(0, w.data(), w.size(), n, [] __host__ __device__(uint64_t i) { return i; }, out.data(), plain<uint64_t>{});
    gpu::must(cudaDeviceSynchronize(), "reduce");
    c.expect(out.to_host()[0] == (n - 1) / 2 * n, "sum of indices", n); // n is odd
  }
}

void geometries() {
  gpu::check c("block and tile reduce: every thread, widths 1 to 1024");
  host const cpu;
  auto const x = gpu::hard_floats(20000);
  gpu::array<float> const d(x);
  for (unsigned width : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 96u, 100u, 255u, 256u, 500u, 512u, 1000u, 1024u})
    for (uint64_t n : {0, 1, 33, 128, 1000, 1024, 4097, 20000}) {
      float const expected = isobit::reduce(cpu, x.data(), n);
      gpu::array<float> out(3 * width);
      block_kernel<tree><<<3, width>>>(contiguous<float>{d.data()}, n, out.data(), plain<float>{});
      for (float v : out.to_host()) c.expect(gpu::same_bits(v, expected), "block", n);
    }
  auto const tiles = [&]<int P>(tile<P>) {
    for (uint64_t n : {1, 33, 1000, 4097}) {
      gpu::array<float> out(64);
      tile_kernel<P><<<1, 64>>>(contiguous<float>{d.data()}, n, out.data());
      for (float v : out.to_host()) c.expect(gpu::same_bits(v, isobit::reduce(cpu, x.data(), n)), "tile", n);
    }
  };
  tiles(tile<1>{});
  tiles(tile<4>{});
  tiles(tile<8>{});
  tiles(tile<32>{});
  for (unsigned blocks : {1u, 2u, 7u, 100u, 3000u}) {
    gpu::array<unsigned char> w(device::reduce_workspace_bytes<plain<float>>(x.size()));
    w.zero();
    gpu::array<float> out(1);
    device::reduce_kernel<tree>
        <<<blocks, 96>>>(contiguous<float>{d.data()}, uint64_t{x.size()}, out.data(), static_cast<void*>(w.data()), plain<float>{});
    c.expect(gpu::same_bits(out.to_host()[0], isobit::reduce(cpu, x.data(), x.size())), "grid", blocks);
  }
}

// Reads every byte with the widest loads and does next to nothing: the limit for anything that reads its input once.
__global__ void read_kernel(uint4 const* x, uint64_t n, uint32_t* out) {
  uint32_t seen = 0;
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    uint4 const v = x[i];
    seen |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (seen == 0x12345678u) *out = seen;
}

} // namespace

void check_reduce() {
  small();
  if (gpu::quick()) return;
  device_wide();
  geometries();
}

void bench_reduce() {
  std::printf("\n| f32 elements | read us | isobit us | compensated us | CUB sum us | of read | CUB / isobit |\n"
              "|---|---|---|---|---|---|---|\n");
  for (int log2 = 16; log2 <= 28; log2 += 2) {
    uint64_t const n = uint64_t(1) << log2;
    gpu::array<float> d(n);
    d.zero();
    gpu::array<float> out(1);
    gpu::array<uint32_t> sink(1);
    gpu::array<unsigned char> w(device::reduce_workspace_bytes<compensated<float>>(n));
    w.zero();
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, d.data(), out.data(), n);
    gpu::array<unsigned char> cub_memory(bytes);
    double const read = gpu::microseconds(
        [&] { read_kernel<<<132 * 8, 512>>>(reinterpret_cast<uint4 const*>(d.data()), n / 4, sink.data()); });
    double const plain_time = gpu::microseconds([&] { device::reduce(0, w.data(), w.size(), d.data(), n, out.data()); });
    double const compensated_time = gpu::microseconds(
        [&] { device::reduce(0, w.data(), w.size(), d.data(), n, out.data(), compensated<float>{}); });
    double const cub_time =
        gpu::microseconds([&] { cub::DeviceReduce::Sum(cub_memory.data(), bytes, d.data(), out.data(), n); });
    std::printf("| 2^%d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", log2, read, plain_time, compensated_time, cub_time,
                read / plain_time, cub_time / plain_time);
    std::fflush(stdout);
  }
}
