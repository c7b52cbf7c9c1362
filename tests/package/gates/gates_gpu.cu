// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rms_norm.cuh"
#include "rms_norm_host.hpp"

#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/bits_equal.cuh>
#include <isobit/testing/noise.cuh>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <thrust/device_vector.h>

#include <iostream>
#include <stdexcept>

namespace testing = isobit::testing;

int main() {
  int const rows = 500, columns = 3333;
  auto const x = testing::elements(testing::wide_exponents<float>{1}, rows * columns);
  thrust::device_vector<float> const in(x);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

  auto const run = [&](unsigned block, unsigned char poison, thrust::device_vector<float>& out) {
    cudaMemsetAsync(out.data().get(), poison, x.size() * sizeof(float), stream);
    rms_norm<<<rows, block, 0, stream>>>(in.data().get(), out.data().get(), columns);
    if (cudaStreamSynchronize(stream) != cudaSuccess)
      throw std::runtime_error(cudaGetErrorString(cudaGetLastError()));
  };
  auto const results = [&](unsigned block, unsigned char poison) {
    thrust::device_vector<float> out(x.size());
    run(block, poison, out);
    std::vector<float> y(x.size());
    cudaMemcpy(y.data(), out.data().get(), y.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return y;
  };

  int failures = 0;
  auto const gate = [&](testing::verdict const& v) {
    std::cout << v << "\n";
    failures += v ? 0 : 1;
  };
  testing::noise noise;
  gate(testing::repeatable([&](testing::trial const& t) {
    noise.start(t.index);
    return results(96, t.poison);
  }));
  gate(testing::device_same_as_host([&](testing::geometry const& g) { return results(g.block, 0xff); },
                                    [&] { return rms_norm_host(x, columns); }, {.grids = {1}}));

  thrust::device_vector<float> one(x.size()), other(x.size());
  thrust::device_vector<testing::device_difference> workspace(1);
  run(32, 0xff, one);
  run(256, 0x00, other);
  gate(testing::bits_equal(stream, one.data().get(), other.data().get(), x.size(), workspace.data().get()));
  return failures;
}
