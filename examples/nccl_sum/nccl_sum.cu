// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over all GPUs of this machine with NCCL, whose bits do not depend on how many there are: every GPU folds its part
// of the numbers to a fragment, the fragments are gathered by ncclAllGather, and each is merged to the same result.
// Replaces ncclAllReduce(..., ncclSum, ...), whose order follows the ring or tree that NCCL chooses.
//
//   nccl_sum [GPUs]        not yet run on a GPU; the test compiles and links it
#include <isobit/device/reduce_fragment.cuh>
#include <isobit/fingerprint.hpp>
#include <isobit/ranks.hpp>

#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using fragment = isobit::fragment<float>;

static void check(cudaError_t e) {
  if (e != cudaSuccess) std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e)), std::exit(1);
}
static void check(ncclResult_t e) {
  if (e != ncclSuccess) std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(e)), std::exit(1);
}

// Number i of the data, made on the device where it is needed.
struct numbers {
  ISOBIT_HD float operator()(isobit::uint64_t i) const {
    isobit::uint64_t const z = (i + 1) * 0x9e3779b97f4a7c15u;
    return isobit::from_bits<float>(static_cast<isobit::uint32_t>(z >> 40 & 0x807fff) << 8 |
                                    static_cast<isobit::uint32_t>(110 + z % 40) << 23);
  }
};

struct gpu {
  cudaStream_t stream;
  fragment *mine, *all;
  void* workspace;
};

int main(int argc, char** argv) {
  isobit::uint64_t const n = 100'000'003;
  isobit::plain<float> const acc;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("nccl_sum: there is no GPU here");
    return 77;
  }
  if (argc > 1 && std::atoi(argv[1]) >= 1 && std::atoi(argv[1]) < count) count = std::atoi(argv[1]);
  auto const ranks = static_cast<isobit::uint64_t>(count);
  std::vector<ncclComm_t> comms(ranks);
  check(ncclCommInitAll(comms.data(), count, nullptr));

  auto const bytes = isobit::device::reduce_fragment_workspace_bytes<isobit::plain<float>>(n / ranks + 1);
  std::vector<gpu> gpus(ranks);
  for (isobit::uint64_t r = 0; r < ranks; ++r) {
    gpu& g = gpus[r];
    check(cudaSetDevice(static_cast<int>(r)));
    check(cudaStreamCreate(&g.stream));
    check(cudaMalloc(&g.mine, sizeof(fragment)));
    check(cudaMalloc(&g.all, ranks * sizeof(fragment)));
    check(cudaMalloc(&g.workspace, bytes));
    check(cudaMemsetAsync(g.workspace, 0, 16, g.stream));
    auto const range = isobit::rank_range(n, r, ranks);
    isobit::device::reduce_fragment(g.stream, g.workspace, bytes, range.first, range.last, numbers{}, g.mine, acc);
  }
  check(ncclGroupStart());
  for (isobit::uint64_t r = 0; r < ranks; ++r)
    check(ncclAllGather(gpus[r].mine, gpus[r].all, sizeof(fragment), ncclUint8, comms[r], gpus[r].stream));
  check(ncclGroupEnd());

  int different = 0;
  float first = 0;
  for (isobit::uint64_t r = 0; r < ranks; ++r) {
    std::vector<fragment> parts(ranks);
    check(cudaSetDevice(static_cast<int>(r)));
    check(cudaMemcpyAsync(parts.data(), gpus[r].all, ranks * sizeof(fragment), cudaMemcpyDeviceToHost, gpus[r].stream));
    check(cudaStreamSynchronize(gpus[r].stream));
    fragment whole;
    for (fragment const& part : parts) whole = merge(acc, whole, part);
    float const sum = isobit::finish_fragment(whole, acc);
    if (r == 0) first = sum;
    different += isobit::to_bits(sum) != isobit::to_bits(first);
  }
  float const alone = isobit::reduce(isobit::host(), n, numbers{}, acc);
  different += isobit::to_bits(first) != isobit::to_bits(alone);
  auto const digest = static_cast<unsigned long long>(isobit::digest(isobit::host(), &first, {1}));
  std::printf("sum %.9g, digest %016llx, the CPU's bits on every one of %d GPUs: %s\n", first, digest, count,
              different == 0 ? "yes" : "NO");

  for (isobit::uint64_t r = 0; r < ranks; ++r) {
    cudaSetDevice(static_cast<int>(r));
    cudaFree(gpus[r].mine), cudaFree(gpus[r].all), cudaFree(gpus[r].workspace);
    cudaStreamDestroy(gpus[r].stream);
    ncclCommDestroy(comms[r]);
  }
  return different == 0 ? 0 : 1;
}
