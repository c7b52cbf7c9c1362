// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels in CUDA's own words, as a user has them in a .cu file.
#include <isobit/simt/cuda.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace simt = isobit::simt;

namespace {

__constant__ float scale = 2.0f;

__device__ __forceinline__ float square(float x) { return __fmul_rn(x, x); }

__global__ void __launch_bounds__(256) row_sums(float const* __restrict__ x, float* __restrict__ out, int cols) {
  __shared__ float warps[32];
  float const* row = x + std::size_t(blockIdx.x) * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += square(row[i]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % warpSize == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += warps[w];
    out[blockIdx.x] = scale * sum;
  }
}

__global__ void naive_sum(float const* x, float* total) { atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]); }

__global__ void shuffles(int* out, int width) {
  int const t = threadIdx.x;
  out[t] = __shfl_sync(0xffffffffu, t, 3, width);
  out[32 + t] = __shfl_up_sync(0xffffffffu, t, 2, width);
  out[64 + t] = __shfl_down_sync(0xffffffffu, t, 2, width);
  out[96 + t] = __shfl_xor_sync(0xffffffffu, t, 5, width);
}

__global__ void votes(unsigned* out) {
  unsigned const b = __ballot_sync(~0u, threadIdx.x % 3 == 0);
  int const any = __any_sync(~0u, threadIdx.x == 7), none = __any_sync(~0u, 0);
  int const every = __all_sync(~0u, 1), not_every = __all_sync(~0u, threadIdx.x != 9);
  if (threadIdx.x == 0) out[0] = b, out[1] = any != 0 && none == 0 && every != 0 && not_every == 0;
  __syncwarp();
}

__global__ void lanes_and_threads(int* ok) {
  int const t = static_cast<int>(threadIdx.x), lane = t % 32;
  bool right = true;
  right = right && __syncthreads_count(t % 4 == 1) == 24;
  right = right && __syncthreads_or(t == 95) != 0 && __syncthreads_or(0) == 0;
  right = right && __syncthreads_and(1) != 0 && __syncthreads_and(t != 40) == 0;
  unsigned const odd_or_even = lane % 2 ? 0xaaaaaaaau : 0x55555555u;
  right = right && __reduce_add_sync(odd_or_even, lane) == (lane % 2 ? 256 : 240);
  right = right && __reduce_add_sync(0xffffffffu, 0x7fffffff) == -32; // wraps
  right =
      right && __reduce_min_sync(0xffffffffu, -lane) == -31 && __reduce_max_sync(0xffffffffu, unsigned(lane)) == 31u;
  right = right && __reduce_and_sync(0xffffffffu, ~unsigned(lane)) == 0xffffffe0u;
  right = right && __reduce_or_sync(0xffffffffu, 1u << lane) == ~0u && __reduce_xor_sync(0xffffffffu, lane) == 0;
  right = right && __match_any_sync(0xffffffffu, lane / 8) == 0xffu << (lane / 8 * 8);
  ok[t] = right;
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* w, double* d, float* f) {
  int const t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&i[0], -1);
  atomicMax(&i[1], t);
  atomicMin(&i[2], -t);
  atomicInc(&u[0], 6);
  atomicDec(&u[1], 6);
  atomicOr(&u[2], 1u << (t % 32));
  atomicAnd(&u[3], ~(1u << (t % 32)));
  atomicXor(&u[4], 1u << (t % 32));
  atomicSub(&u[5], 2);
  atomicAdd(&w[0], 1ull << 33);
  atomicMax(&w[1], static_cast<unsigned long long>(t) << 40);
  atomicAdd(d, 0.5);
  atomicExch(f, 4.5f);
  for (unsigned old = u[6], seen; (seen = atomicCAS(&u[6], old, old + 3)) != old;) old = seen;
}

__global__ void tile_transpose(int const* in, int* out) {
  __shared__ int tile[8][9];
  unsigned const x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * gridDim.x * 8 + x];
  __syncthreads();
  out[(blockIdx.x * 8 + threadIdx.y) * gridDim.y * 8 + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

} // namespace

TEST_CASE("a literal CUDA kernel runs and gives one result") {
  std::vector<float> x(5 * 300);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) * 0.03f;
  std::set<std::vector<float>> results;
  for (isobit::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> out(5);
    simt::launch({.grid = dim3(5), .block = dim3(128), .seed = seed}, row_sums, x.data(), out.data(), 300);
    results.insert(out);
  }
  REQUIRE(results.size() == 1);
  double expected = 0;
  for (int i = 0; i < 300; ++i) expected += 2.0 * x[i] * x[i];
  CHECK((*results.begin())[0] == doctest::Approx(expected));
}

TEST_CASE("control: atomicAdd on floats adds in order of arrival") {
  std::vector<float> x(512);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  std::set<float> results;
  for (isobit::uint64_t seed = 0; seed < 30; ++seed) {
    float total = 0;
    simt::launch({.grid = {4}, .block = {128}, .seed = seed}, naive_sum, x.data(), &total);
    results.insert(total);
  }
  CHECK(results.size() > 5);
}

TEST_CASE("shuffles by segment") {
  for (int width : {32, 16, 8, 2, 1}) {
    std::vector<int> out(128);
    simt::launch(1, 32, shuffles, out.data(), width);
    for (int t = 0; t < 32; ++t) {
      int const first = t / width * width;
      CHECK(out[t] == first + 3 % width);
      CHECK(out[32 + t] == (t - 2 >= first ? t - 2 : t));
      CHECK(out[64 + t] == (t + 2 < first + width ? t + 2 : t));
      CHECK(out[96 + t] == ((t ^ 5) < first + width ? (t ^ 5) : t));
    }
  }
  std::vector<int> out(128);
  CHECK_THROWS_AS(simt::launch(1, 32, shuffles, out.data(), 3), isobit::invalid_argument);
}

TEST_CASE("votes") {
  unsigned out[2] = {};
  simt::launch(1, 32, votes, out);
  CHECK(out[0] == 0x49249249u);
  CHECK(out[1] == 1);
}

TEST_CASE("counting barriers and operations over lanes") {
  for (int k = 0; k < 6; ++k) {
    std::vector<int> ok(96);
    simt::launch(simt::vary({.block = {96}}, k), lanes_and_threads, ok.data());
    CHECK(ok == std::vector<int>(96, 1));
  }
}

TEST_CASE("atomics") {
  for (isobit::uint64_t seed = 0; seed < 10; ++seed) {
    int i[3] = {0, -5, 5};
    unsigned u[7] = {0, 0, 0, ~0u, 0, 200, 0};
    unsigned long long w[2] = {};
    double d = 0;
    float f = 0;
    simt::launch({.grid = {2}, .block = {40}, .seed = seed}, atomics, i, u, w, &d, &f);
    CHECK(i[0] == -80);
    CHECK(i[1] == 79);
    CHECK(i[2] == -79);
    CHECK(u[0] == 80 % 7);
    CHECK(u[1] == (7 - 80 % 7) % 7);
    CHECK(u[2] == ~0u);
    CHECK(u[3] == 0);
    CHECK(u[4] == 0x0000ffffu); // 80 flips: bits 0..15 three times, the others twice
    CHECK(u[5] == 40);
    CHECK(w[0] == 80ull << 33);
    CHECK(w[1] == 79ull << 40);
    CHECK(d == 40);
    CHECK(f == 4.5f);
    CHECK(u[6] == 240);
  }
}

TEST_CASE("two-dimensional blocks and tiles in shared memory") {
  std::vector<int> in(16 * 24), out(16 * 24);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
  simt::launch(dim3(3, 2), dim3(8, 8), tile_transpose, in.data(), out.data());
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 24; ++x) CHECK(out[x * 16 + y] == in[y * 24 + x]);
}

TEST_CASE("reports name the user's line for each of CUDA's words") {
  auto const line_of = [](auto const& kernel) {
    try {
      simt::launch({.block = {32}, .order = simt::schedule::in_order}, kernel);
    } catch (simt::kernel_error const& e) {
      CHECK(std::string(e.where().file) == __FILE__);
      return e.where().line;
    }
    return 0;
  };
  // clang-format off
  int const line = __LINE__;
  CHECK(line_of([] { if (threadIdx.x != 31) __syncthreads(); }) == line + 1);
  CHECK(line_of([] { if (threadIdx.x != 31) __syncwarp(); }) == line + 2);
  CHECK(line_of([] { if (threadIdx.x != 31) __shfl_sync(~0u, 1, 0); }) == line + 3);
  CHECK(line_of([] { if (threadIdx.x != 31) __shfl_up_sync(~0u, 1, 1); }) == line + 4);
  CHECK(line_of([] { if (threadIdx.x != 31) __shfl_down_sync(~0u, 1, 1); }) == line + 5);
  CHECK(line_of([] { if (threadIdx.x != 31) __shfl_xor_sync(~0u, 1, 1); }) == line + 6);
  CHECK(line_of([] { if (threadIdx.x != 31) __ballot_sync(~0u, 1); }) == line + 7);
  CHECK(line_of([] { if (threadIdx.x != 31) __any_sync(~0u, 1); }) == line + 8);
  CHECK(line_of([] { if (threadIdx.x != 31) __all_sync(~0u, 1); }) == line + 9);
  // clang-format on
}
