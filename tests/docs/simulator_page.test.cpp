// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ of docs/simulator.md, line for line, and of docs/traces.md (check_snippets.py compares).
#include <isobit/order/order_id.hpp>
#include <isobit/simt/cuda.hpp> // under nvcc this header is empty
#include <isobit/trace.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace {

std::vector<float> const x(4 * 200, 0.1f);
std::vector<float> out(4);
std::vector<float> const wanted = [] {
  std::vector<float> sums(4);
  for (std::size_t r = 0; r < 4; ++r) {
    float lane[128] = {}, warp[4];
    for (std::size_t i = 0; i < 200; ++i) lane[i % 128] += x[r * 200 + i];
    for (std::size_t w = 0; w < 4; ++w) {
      for (std::size_t d = 16; d > 0; d /= 2)
        for (std::size_t i = 0; i < d; ++i) lane[32 * w + i] += lane[32 * w + i + d];
      warp[w] = lane[32 * w];
    }
    sums[r] = ((warp[0] + warp[1]) + warp[2]) + warp[3];
  }
  return sums;
}();
int const rows = 4, cols = 200;

bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

__global__ void row_sums(float const* x, float* out, int cols) {
  __shared__ float warps[32];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += warps[w];
    out[blockIdx.x] = sum;
  }
}

namespace simt = isobit::simt;

TEST_CASE("one result under 100 schedules") {
  for (int k = 0; k < 100; ++k) {
    simt::launch(simt::vary({.grid = {rows}, .block = {128}}, k), row_sums, x.data(), out.data(), cols);
    CHECK(same_bits(out, wanted));
  }
}

TEST_CASE("docs: a trace") {
  auto const before = std::filesystem::current_path();
  auto const folder = std::filesystem::temp_directory_path() / "isobit_docs_trace";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  uint32_t const rank = 0;
  std::uint64_t const iteration = 1, batch = 2, inner = 3, outer = 4;
  uint32_t const microbatch = 0;
  float const x[6] = {}, y[8] = {};
  namespace trace = isobit::trace;

  trace::recorder rec({.folder = "run1", .rank = rank});
  rec.begin(iteration, microbatch);

  rec.add("op", "linear", "layers.0")                                      // kind, name, scope
      .order(isobit::order_id<isobit::tree>().name)
      .input(trace::tensor_of("x", x, {batch, inner}))
      .output(trace::tensor_of("y", y, {batch, outer}), {.chunk_bytes = 1 << 20, .keep = true});

  rec.close();                                                             // the last events are written

  CHECK(trace::read("run1").size() == 1);
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

} // namespace
