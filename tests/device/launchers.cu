// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launchers name the bad argument and what it must be, before they launch anything: no GPU is needed to see that.
#include <isobit/device/ordered_sum.cuh>
#include <isobit/device/reduce.cuh>
#include <isobit/device/reduce_fragment.cuh>

#include <cstdio>
#include <cstring>

float simulated_sum(float const* x, unsigned n); // simulated.cpp
int segment_launchers();                         // segment_launchers.cu

namespace {

int failures = 0;

template <class F> void refused(char const* expected, F const& call) {
  try {
    call();
    std::printf("not refused: %s\n", expected);
  } catch (isobit::invalid_argument const& e) {
    if (std::strcmp(e.what(), expected) == 0) return;
    std::printf("expected: %s\n     got: %s\n", expected, e.what());
  } catch (isobit::launch_error const& e) {
    std::printf("launched instead of refused (%s): %s\n", expected, e.what());
  }
  ++failures;
}

void reduce() {
  alignas(16) static unsigned char memory[4096];
  auto* const x = reinterpret_cast<float*>(memory);
  float* const out = x;
  float* const nowhere = nullptr;
  float const* const none = nullptr;
  namespace device = isobit::device;
  refused("isobit::device::reduce: x must be non-null when n > 0",
          [&] { device::reduce(0, memory, sizeof memory, none, 10, out); });
  refused("isobit::device::reduce: x must be aligned to 4 bytes",
          [&] { device::reduce(0, memory, sizeof memory, reinterpret_cast<float const*>(memory + 1), 10, out); });
  refused("isobit::device::reduce: out must be non-null",
          [&] { device::reduce(0, memory, sizeof memory, x, 10, nowhere); });
  refused("isobit::device::reduce: workspace must be non-null", [&] { device::reduce(0, nullptr, 4096, x, 10, out); });
  refused("isobit::device::reduce: workspace must be aligned to 16 bytes",
          [&] { device::reduce(0, memory + 4, 4000, x, 10, out); });
  refused("isobit::device::reduce: workspace_bytes must be at least 20 bytes",
          [&] { device::reduce(0, memory, 19, x, 10, out); });
  refused("isobit::device::reduce: workspace_bytes must be at least 56 bytes",
          [&] { device::reduce(0, memory, 55, x, 9 * 8192 + 1, out); });

  // Past the checks, a machine without a GPU gets CUDA's own words; one with a GPU launches.
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return;
  cudaGetLastError();
  try {
    device::reduce(0, memory, sizeof memory, x, 10, out);
    std::printf("a launch without a GPU was not reported\n");
    ++failures;
  } catch (isobit::launch_error const& e) {
    if (std::strstr(e.what(), "isobit::device::reduce: CUDA error") == nullptr) ++failures, std::puts(e.what());
  }
}

void ranks() {
  alignas(16) static unsigned char memory[4096];
  auto* const x = reinterpret_cast<float*>(memory);
  namespace device = isobit::device;
  isobit::plain<float> const acc;
  isobit::contiguous<float> const load{x};
  isobit::fragment<float> out, *const nowhere = nullptr;
  refused("isobit::device::reduce_fragment: first must be at most last",
          [&] { device::reduce_fragment(0, memory, sizeof memory, 3, 2, load, &out, acc); });
  refused("isobit::device::reduce_fragment: out must be non-null",
          [&] { device::reduce_fragment(0, memory, sizeof memory, 2, 3, load, nowhere, acc); });
  refused("isobit::device::reduce_fragment: workspace_bytes must be at least 536 bytes",
          [&] { device::reduce_fragment(0, memory, 535, 2, 3, load, &out, acc); });
  refused("isobit::device::reduce_fragment: workspace must be aligned to 16 bytes",
          [&] { device::reduce_fragment(0, memory + 8, 4000, 2, 3, load, &out, acc); });
  isobit::peers<float, 2> from{{x, nullptr}};
  refused("isobit::device::ordered_sum: from must be non-null when n > 0", [&] { device::ordered_sum(0, from, 5, x); });
  refused("isobit::device::ordered_sum: out must be non-null when n > 0",
          [&] { device::ordered_sum(0, from, 5, static_cast<float*>(nullptr)); });
  from.array[1] = reinterpret_cast<float const*>(memory + 2);
  refused("isobit::device::ordered_sum: from must be aligned to 4 bytes", [&] { device::ordered_sum(0, from, 5, x); });
}

} // namespace

// One program holds nvcc's and the simulator's form of a kernel, and they are not mixed up.
void both_forms() {
  float const x[] = {1, 2, 3, 4, 5};
  if (simulated_sum(x, 5) != 15) ++failures, std::puts("the simulator's kernel was replaced by nvcc's");
}

int main() {
  reduce();
  ranks();
  both_forms();
  failures += segment_launchers();
  std::printf(failures == 0 ? "launchers refuse what they must\n" : "%d failures\n", failures);
  return failures != 0;
}
