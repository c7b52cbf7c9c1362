# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The target isobit::simt, for isobit's own build and for its installed package alike (component `simt`): the headers,
# threads, and Boost.Context where it is found. Without Boost.Context, isobit/simt uses ucontext, which is slower.
if(TARGET isobit::simt)
  return()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)
find_package(Boost CONFIG QUIET COMPONENTS context)

# In a source build isobit_target_scope is GLOBAL: the project that includes isobit must see the target. In a package it
# is empty: each folder that calls find_package has its own, as with any package.
add_library(isobit::simt INTERFACE IMPORTED ${isobit_target_scope})
target_link_libraries(isobit::simt INTERFACE isobit::isobit)
if(TARGET Threads::Threads)
  target_link_libraries(isobit::simt INTERFACE Threads::Threads)
endif()
if(TARGET Boost::context)
  target_link_libraries(isobit::simt INTERFACE Boost::context)
  target_compile_definitions(isobit::simt INTERFACE ISOBIT_SIMT_BOOST_CONTEXT)
endif()
