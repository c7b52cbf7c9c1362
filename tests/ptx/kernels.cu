// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's kernels as nvcc compiles them, for the checks of PTX text, of registers and spills, and for the
// interpreter.
#include <isobit/accum/compensated.hpp>
#include <isobit/device/reduce_kernel.hpp>

using isobit::bf16, isobit::compensated, isobit::contiguous, isobit::lanes, isobit::plain, isobit::tree;

namespace isobit::inline bits1::device {
#define REDUCE(order, element, accumulator)                                                                            \
  template __global__ void reduce_kernel<order, contiguous<element>, accumulator>(contiguous<element>, uint64_t,       \
                                                                                  accumulator::result*, void*, accumulator)
REDUCE(tree, float, plain<float>);
REDUCE(tree, double, plain<double>);
REDUCE(tree, bf16, plain<float>);
REDUCE(tree, float, compensated<float>);
REDUCE(lanes<16>, double, plain<double>);
REDUCE(lanes<128>, double, plain<double>);
REDUCE(lanes<256>, double, plain<double>);
REDUCE(lanes<1024>, double, plain<double>);
} // namespace isobit::inline bits1::device
