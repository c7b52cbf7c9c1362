// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Contention for a GPU under test: side streams that keep some of its processors busy, another pattern each trial.
#pragma once

#include <isobit/device/launch.cuh>
#include <isobit/testing/philox.hpp>

#include <vector>

namespace isobit::inline bits1::testing {

//! Reads and writes `words` of scratch memory for `rounds` rounds.
template <int = 0> ISOBIT_KERNEL void noise_kernel(uint32_t* scratch, uint64_t words, uint32_t rounds) {
  uint64_t const step = uint64_t(gridDim.x) * blockDim.x;
  for (uint32_t r = 0; r < rounds; ++r)
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step)
      scratch[i] = scratch[i] * 1664525u + r;
}

//! Side streams of both priorities. `start(trial)` launches a random number of kernels of random sizes into them and
//! returns at once; launch the code under test into a stream of its own after it. The destructor waits for the noise.
//! Throws `launch_error` when CUDA refuses. Not yet run on a GPU.
//!
//!     isobit::testing::noise noise;
//!     CHECK(isobit::testing::repeatable([&](auto const& trial) { noise.start(trial.index); ... }));
class noise {
public:
  explicit noise(int streams = 4, size_t scratch_bytes = size_t(16) << 20) : words_(scratch_bytes / 4) {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    check(cudaMalloc(&scratch_, words_ * 4 * static_cast<size_t>(streams)));
    for (int s = 0; s < streams; ++s) {
      cudaStream_t stream = nullptr;
      check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, s % 2 == 0 ? least : greatest));
      streams_.push_back(stream);
    }
  }
  noise(noise const&) = delete;
  noise& operator=(noise const&) = delete;
  ~noise() {
    for (cudaStream_t s : streams_) {
      cudaStreamSynchronize(s);
      cudaStreamDestroy(s);
    }
    cudaFree(scratch_);
  }

  void start(uint64_t seed) {
    philox_stream r(seed, 0x6e6f6973u);
    for (size_t s = 0; s < streams_.size(); ++s)
      for (uint64_t kernels = r.below(4); kernels > 0; --kernels) {
        auto const blocks = static_cast<unsigned>(1 + r.below(256));
        auto const rounds = static_cast<uint32_t>(1 + r.below(8));
        noise_kernel<><<<blocks, 256, 0, streams_[s]>>>(scratch_ + s * words_, words_, rounds);
        device::check_launch("testing::noise");
      }
  }

private:
  static void check(cudaError_t e) {
    if (e != cudaSuccess) throw launch_error("testing::noise", static_cast<int>(e), cudaGetErrorString(e));
  }
  std::vector<cudaStream_t> streams_;
  uint32_t* scratch_ = nullptr;
  uint64_t words_;
};

} // namespace isobit::inline bits1::testing
