// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What every launcher does after `<<<>>>`.
#pragma once

#include <isobit/device/error.hpp>

#include <cuda_runtime_api.h>

namespace isobit::inline bits1::device {

//! Throws `launch_error`, naming `function`, when the launch before it was refused. Does not synchronise.
inline void check_launch(char const* function) {
  cudaError_t const e = cudaPeekAtLastError();
  if (e != cudaSuccess) throw launch_error(function, static_cast<int>(e), cudaGetErrorString(e));
}

} // namespace isobit::inline bits1::device
