// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of arith/ in kernels: no nvcc flag may change an instruction of them (tools/ptx_check --flags).
#include <isobit/arith/eft.hpp>

namespace {
template <class T> __device__ void operations(T const* x, T* y, int n) {
  T const a = x[0], b = x[1], c = x[2];
  y[0] = isobit::add(a, b);
  y[1] = isobit::sub(a, b);
  y[2] = isobit::mul(a, b);
  y[3] = isobit::fma(a, b, c);
  y[4] = isobit::div(a, b);
  y[5] = isobit::sqrt(a);
  y[6] = isobit::min(a, b);
  y[7] = isobit::max(a, b);
  y[8] = isobit::abs(a);
  y[9] = isobit::neg(a);
  y[10] = isobit::convert<T>(isobit::less(a, b) + 2 * isobit::less_equal(a, b) + 4 * isobit::equal(a, b) +
                             8 * isobit::total_less(a, b));
  y[11] = isobit::convert<T>(n);
  y[12] = isobit::convert<T>(static_cast<unsigned>(n));
  y[13] = isobit::convert<T>(static_cast<long long>(n) * n);
  y[14] = isobit::convert<T>(static_cast<unsigned long long>(n) << 40);
  y[15] = isobit::add(isobit::mul(a, b), c); // stays two instructions
  y[16] = isobit::canonical(a);
  y[17] = isobit::next_up(a);
  y[18] = isobit::add(a, T(0));
  y[19] = isobit::mul(isobit::div(T(1), b), a);
}
template <class T> __device__ void transforms(T const* x, T* y) {
  auto const s = isobit::two_sum(x[0], x[1]);
  auto const d = isobit::two_difference(x[0], x[1]);
  auto const f = isobit::fast_two_sum(x[0], x[1]);
  auto const p = isobit::two_product(x[0], x[1]);
  auto const q = isobit::two_product_split(x[0], x[1]);
  y[0] = s.value;
  y[1] = s.error;
  y[2] = d.error;
  y[3] = f.error;
  y[4] = p.value;
  y[5] = p.error;
  y[6] = q.error;
}
} // namespace

__global__ void operations_f32(float const* x, float* y, int n) { operations(x, y, n); }
__global__ void operations_f64(double const* x, double* y, int n) { operations(x, y, n); }
__global__ void transforms_f32(float const* x, float* y) { transforms(x, y); }
__global__ void transforms_f64(double const* x, double* y) { transforms(x, y); }
__global__ void conversions(float const* x, double* y, float* z) {
  y[0] = isobit::convert<double>(x[0]);
  z[0] = isobit::convert<float>(y[1]);
}
