# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The target isobit::cuda, for isobit's own build and for its installed package alike (component `cuda`): the headers
# and the CUDA runtime of an installed toolkit. Nothing of CCCL: nvcc finds its own, and isobit needs none on the host.
if(TARGET isobit::cuda)
  return()
endif()

if(NOT TARGET CUDA::cudart)
  find_package(CUDAToolkit QUIET)
endif()
if(TARGET CUDA::cudart)
  add_library(isobit::cuda INTERFACE IMPORTED ${isobit_target_scope})
  target_link_libraries(isobit::cuda INTERFACE isobit::isobit CUDA::cudart)
endif()
