// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few functions of the CUDA driver that run a kernel from PTX. The driver is looked for when the program runs: the
// same program works on a machine without one.
#pragma once
#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

class driver {
public:
  // Whether there is a driver with a device; nothing else may be called where there is none.
  bool here() {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    int devices = 0;
    return library_ != nullptr && get<decltype(&cuInit)>("cuInit")(0) == CUDA_SUCCESS &&
           get<decltype(&cuDeviceGetCount)>("cuDeviceGetCount")(&devices) == CUDA_SUCCESS && devices > 0;
  }

  // cuMemAlloc_v2 and the like: the names that cuda.h's macros give to the functions of today.
  template <class... Parameters, class... Arguments>
  void call(CUresult(CUDAAPI*)(Parameters...), char const* name, Arguments... arguments) {
    CUresult const result = get<CUresult(CUDAAPI*)(Parameters...)>(name)(static_cast<Parameters>(arguments)...);
    if (result != CUDA_SUCCESS) throw std::runtime_error(std::string(name) + ": error " + std::to_string(result));
  }

private:
  template <class Function> Function get(char const* name) {
    void* const f = dlsym(library_, name);
    if (f == nullptr) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
    return reinterpret_cast<Function>(f);
  }
  void* library_ = nullptr;
};

#define DRIVER_WORD(name) #name
#define DRIVER_NAME(function) DRIVER_WORD(function)
// DRIVER_CALL(d, cuMemAlloc, &p, n): the function of that name, whatever version cuda.h maps it to.
#define DRIVER_CALL(d, function, ...) \
  (d).call(static_cast<decltype(&function)>(nullptr), DRIVER_NAME(function), __VA_ARGS__)
