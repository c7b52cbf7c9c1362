// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To PTX, with the one header (included twice) or with the tree: the text must be equal.
#if defined(ISOBIT_ONE)
#include ISOBIT_ONE
#include ISOBIT_ONE
#else
#include <isobit/reduce.hpp>
#endif
#include "kernel.cuh"
