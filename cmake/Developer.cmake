# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The developer's build: warnings, sanitizers, device code where nvcc is found, tests, examples, benchmarks.
# What the folders tests/, examples/ and bench/ may use:
#   isobit_warnings   INTERFACE target: warnings for our own code (errors with ISOBIT_WERROR)
#   isobit_dev        INTERFACE target: isobit_warnings, -O2 with assertions in the default build, sanitizers
#   ISOBIT_CUDA       true where nvcc was found and is wanted; then the language CUDA is enabled for C++20

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

option(ISOBIT_WERROR "Treat warnings in isobit's own code as errors" OFF)
set(ISOBIT_SANITIZE "" CACHE STRING "Value for -fsanitize= in the developer's targets: address,undefined or thread")

add_library(isobit_warnings INTERFACE)
target_compile_options(
  isobit_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic>
                            $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ISOBIT_WERROR}>>:-Werror>)
add_library(isobit_dev INTERFACE)
target_link_libraries(isobit_dev INTERFACE isobit_warnings)
target_compile_options(isobit_dev INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O2;-UNDEBUG>)
if(ISOBIT_SANITIZE)
  target_compile_options(isobit_dev INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ISOBIT_SANITIZE};-g;-O1>)
  target_link_options(isobit_dev INTERFACE -fsanitize=${ISOBIT_SANITIZE})
endif()

# Never `native`: that is a configure error on a machine without a GPU.
set(ISOBIT_CUDA OFF)
if(ISOBIT_ENABLE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to build for")
    endif()
    enable_language(CUDA)
    include(cmake/CudaCxx20.cmake)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    find_package(CUDAToolkit REQUIRED)
    set(ISOBIT_CUDA ON)
  endif()
endif()
if(ISOBIT_CUDA)
  message(STATUS "isobit: nvcc ${CMAKE_CUDA_COMPILER_VERSION}: device code is built for sm_${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "isobit: no nvcc: host and simulated device only")
endif()

if(ISOBIT_BUILD_TESTS)
  enable_testing()
  add_subdirectory(tests)
endif()
if(ISOBIT_BUILD_EXAMPLES AND EXISTS "${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt")
  add_subdirectory(examples)
endif()
if(ISOBIT_BUILD_BENCH AND EXISTS "${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt")
  find_package(benchmark CONFIG QUIET)
  if(benchmark_FOUND)
    add_subdirectory(bench)
  else()
    message(STATUS "isobit: no Google Benchmark: bench/ is not built")
  endif()
endif()
