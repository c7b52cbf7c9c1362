# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Lets CMake 3.25.0 and 3.25.1 ask nvcc for C++20: these two versions do not know nvcc's option (3.25.2 does). Include
# after enable_language(CUDA). It patches CMake's own variables, so it is used by isobit's build only, never by consumers,
# and does nothing where CMake knows the option.
if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
