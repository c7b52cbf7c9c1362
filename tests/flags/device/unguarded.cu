// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The control of tools/ptx_check: what kernels usually do. By default only missing .rn shows; with flags, the rest.
__global__ void contracted(float const* x, float* y) { y[0] = x[0] * x[1]; }
__global__ void flushed(float const* x, float* y) { y[0] = fabsf(x[0]) < x[1] ? __fadd_rn(x[0], x[1]) : 0; }
__global__ void approximated(float const* x, float* y) { y[0] = sqrtf(x[0] / x[1]); }
__global__ void fused(float const* x, float* y) { y[0] = x[0] * x[1] + x[2]; }
// The PTX is the same under every flag; ptxas fuses it, unless told not to.
__global__ void fused_by_ptxas(float const* x, float* y) {
  float p, s;
  asm("mul.f32 %0, %1, %2;" : "=f"(p) : "f"(x[0]), "f"(x[1]));
  asm("add.f32 %0, %1, %2;" : "=f"(s) : "f"(p), "f"(x[2]));
  y[0] = s;
}
