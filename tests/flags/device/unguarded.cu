// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control of tools/ptx_check: what kernels usually do. By default only missing .rn shows; with flags, the rest.
__global__ void contracted(float const* x, float* y) { y[0] = x[0] * x[1]; }
__global__ void flushed(float const* x, float* y) { y[0] = fabsf(x[0]) < x[1] ? __fadd_rn(x[0], x[1]) : 0; }
__global__ void approximated(float const* x, float* y) { y[0] = sqrtf(x[0] / x[1]); }
__global__ void fused(float const* x, float* y) { y[0] = x[0] * x[1] + x[2]; }
