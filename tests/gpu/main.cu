// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpu_check: reference-vs-device equality and speed on the GPU of this machine. Prints Markdown; exits 1 on any
// difference, 3 where there is no GPU. tools/gpu_check builds and runs it.
#include "check.hpp"

#include <isobit/version.hpp>

#include <ctime>

namespace {

__global__ void spin(float* x, int n, int rounds) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = static_cast<float>(i);
  for (int r = 0; r < rounds; ++r) v = v * 1.0001f + 0.5f;
  if (i < n) x[i] = v;
}

} // namespace

namespace gpu {

contention::contention() {
  constexpr int n = 1 << 16;
  must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  must(cudaMalloc(&scratch_, n * sizeof(float)), "cudaMalloc");
  for (int i = 0; i < 400; ++i) spin<<<37 + i % 61, 256, 0, stream_>>>(scratch_, n, 2000 + 97 * (i % 13));
}

contention::~contention() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
  cudaFree(scratch_);
}

} // namespace gpu

int main(int argc, char** argv) {
  std::string const argument = argc > 1 ? argv[1] : "";
  gpu::quick() = argument == "--quick";
  bool const bench = argument.empty();
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::fprintf(stderr, "gpu_check: no CUDA GPU was found (cudaGetDeviceCount); nothing was checked\n");
    return 3;
  }
  cudaDeviceProp p{};
  gpu::must(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  std::time_t const now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::printf("# %s, %s\n\nsm_%d%d, %d SMs; CUDA %d.%d; isobit %d.%d.%d, bits version %d. Made by `tools/gpu_check`.\n\n",
              p.name, date, p.major, p.minor, p.multiProcessorCount, runtime / 1000, runtime % 1000 / 10,
              ISOBIT_VERSION_MAJOR, ISOBIT_VERSION_MINOR, ISOBIT_VERSION_PATCH, isobit::bits_version);
  std::printf("| check | comparisons | result |\n|---|---|---|\n");
  check_order();
  check_reduce();
  check_quantize();
  check_scan();
  check_digest();
  check_exact();
  check_ranks();
  check_segments();
  if (bench) bench_reduce();
  if (bench) bench_quantize();
  if (bench) bench_scan();
  if (bench) bench_digest();
  if (bench) bench_exact();
  std::printf("\n%s\n", gpu::check::failures() == 0 ? "Every check: same bits." : "SOME CHECKS FAILED.");
  return gpu::check::failures() == 0 ? 0 : 1;
}
