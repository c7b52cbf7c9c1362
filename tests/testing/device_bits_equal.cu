// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bits_equal for device memory and noise: what they refuse before they launch anything (needs no GPU), and with a GPU
// what they report. Not yet run on a GPU.
#include <isobit/testing/bits_equal.cuh>
#include <isobit/testing/noise.cuh>
#include <isobit/testing/repeatable.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace testing = isobit::testing;

namespace {

int failures = 0;
void check(bool holds, char const* what) {
  if (!holds) std::printf("WRONG: %s\n", what);
  failures += holds ? 0 : 1;
}

template <class F> void refused(char const* word, F const& f) {
  try {
    static_cast<void>(f());
  } catch (isobit::invalid_argument const& e) {
    return check(std::strstr(e.what(), word) != nullptr, e.what());
  }
  check(false, word);
}

void on_a_gpu() {
  std::size_t const n = 100000;
  float *a = nullptr, *b = nullptr;
  void* workspace = nullptr;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&workspace, sizeof(testing::device_difference));
  cudaMemset(a, 0, n * 4);
  cudaMemset(b, 0, n * 4);
  auto const same = testing::bits_equal(nullptr, a, b, n, workspace);
  check(bool(same) && same.compared() == n, same.text().c_str());
  float const negative = -0.0f;
  cudaMemcpy(b + 70000, &negative, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b + 99999, &negative, 4, cudaMemcpyHostToDevice);
  auto const v = testing::bits_equal(nullptr, a, b, n, workspace);
  check(!v && v.index() == 70000 && v.different() == 2, v.text().c_str());
  check(v.text().find("zeros of different sign") != std::string::npos, v.text().c_str());
  testing::noise noise;
  auto const r = testing::repeatable([&](testing::trial const& t) {
    noise.start(t.index);
    return testing::bits_equal(nullptr, a, b, n, workspace).different();
  });
  check(bool(r), r.text().c_str());
  cudaFree(a);
  cudaFree(b);
  cudaFree(workspace);
  std::puts("on a GPU too");
}

} // namespace

int main() {
  float x[2] = {};
  testing::device_difference d;
  check(!testing::bits_equal(nullptr, x, x, 0, &d), "no elements: not passed");
  refused("workspace", [&] { return testing::bits_equal(nullptr, x, x, 2, nullptr); });
  refused("a must be", [&] { return testing::bits_equal(nullptr, static_cast<float*>(nullptr), x, 2, &d); });
  refused("b must be", [&] { return testing::bits_equal(nullptr, x, static_cast<float*>(nullptr), 2, &d); });
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) on_a_gpu();
  std::printf("%d wrong\n", failures);
  return failures;
}
