// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a kernel that uses isobit while the program runs, for a block width chosen while it runs, and compares the
// result with the host's bit for bit. Without a GPU it ends after the compilation.
//
//   nvrtc [INCLUDE_FOLDER ...]     isobit's include/ and the toolkit's include/cccl, if not where this was built
#include "compile.hpp"
#include "driver.hpp"
#include "kernel.hpp"

#include <cstdio>

static int run_on_gpu(driver& d, jit::compiled const& kernel) {
  int const rows = 100, columns = 3333, width = 96;
  std::vector<float> x(std::size_t(rows) * columns), out(rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i % 1009 + 1);

  CUdevice device{};
  CUcontext context{};
  CUmodule module{};
  CUfunction function{};
  DRIVER_CALL(d, cuDeviceGet, &device, 0);
  DRIVER_CALL(d, cuDevicePrimaryCtxRetain, &context, device);
  DRIVER_CALL(d, cuCtxSetCurrent, context);
  DRIVER_CALL(d, cuModuleLoadData, &module, kernel.ptx.c_str());
  DRIVER_CALL(d, cuModuleGetFunction, &function, module, kernel.name.c_str());

  CUdeviceptr in{}, norms{};
  DRIVER_CALL(d, cuMemAlloc, &in, x.size() * sizeof(float));
  DRIVER_CALL(d, cuMemAlloc, &norms, out.size() * sizeof(float));
  DRIVER_CALL(d, cuMemcpyHtoD, in, x.data(), x.size() * sizeof(float));
  int n = columns;
  void* arguments[] = {&in, &norms, &n};
  DRIVER_CALL(d, cuLaunchKernel, function, rows, 1, 1, width, 1, 1, 0, nullptr, arguments, nullptr);
  DRIVER_CALL(d, cuMemcpyDtoH, out.data(), norms, out.size() * sizeof(float));
  DRIVER_CALL(d, cuMemFree, in);
  DRIVER_CALL(d, cuMemFree, norms);

  auto const expected = row_norms_on_host(x, columns);
  int wrong = 0;
  for (std::size_t r = 0; r < out.size(); ++r) wrong += isobit::to_bits(out[r]) != isobit::to_bits(expected[r]);
  std::printf("GPU: %d of %d rows differ from the host's\n", wrong, rows);
  return wrong;
}

int main(int count, char** words) {
  // PTX of compute_75 runs on sm_75 and everything newer; fast math changes nothing in isobit.
  std::vector<std::string> options{"--std=c++20", "--gpu-architecture=compute_75", "--use_fast_math"};
  if (count == 1) options.insert(options.end(), {"-I" ISOBIT_INCLUDE, "-I" CUDA_INCLUDE "/cccl"});
  for (int i = 1; i < count; ++i) options.push_back(std::string("-I") + words[i]);
  try {
    auto const kernel = jit::compile(row_norms_text, "row_norms<256>", options);
    std::printf("%s: %zu bytes of PTX\n", kernel.name.c_str(), kernel.ptx.size());
    driver d;
    if (d.here()) return run_on_gpu(d, kernel);
    std::printf("no GPU: not run\n");
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
