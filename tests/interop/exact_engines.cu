// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact states as values of Thrust and CUB. Thrust runs here on the host; CUB's device reduction is compiled, and runs
// if there is a GPU. Prints one line and returns 0 when all agree.
#include <cub/device/device_reduce.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

#include <isobit/device/exact_atomic.hpp>
#include <isobit/interop/exact_functors.hpp>
#include <isobit/reduce.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using isobit::exact;

template <class A>
__global__ void deposits(typename A::input const* x, int n, isobit::exact_cell<typename A::grid>* total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomic_deposit(A{}, total, x[i]);
}

template <class A> int check(char const* name) {
  using state = typename A::state;
  using input = typename A::input;
  std::vector<input> x(5000);
  isobit::uint64_t z = 7;
  for (input& v : x) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    v = isobit::from_bits<input>(static_cast<isobit::float_bits<input>>(sizeof(input) == 4 ? z >> 32 : z));
    if (!isobit::is_finite(v)) v = 1;
  }
  A const acc;
  state expected{};
  for (auto v = x.rbegin(); v != x.rend(); ++v) acc.deposit(expected, *v);
  auto const result = isobit::reduce(isobit::host(), x.data(), x.size(), acc);
  int bad = isobit::to_bits(acc.finish(expected)) != isobit::to_bits(result);

  auto const first = thrust::make_transform_iterator(x.begin(), isobit::lifted<A>{});
  state const a = thrust::reduce(thrust::host, first, first + 5000, state{}, isobit::merged<A>{});
  state const t =
      thrust::transform_reduce(thrust::host, x.begin(), x.end(), isobit::lifted<A>{}, state{}, isobit::merged<A>{});
  state const b = thrust::reduce(thrust::host, first, first + 5000, state{}); // operator+
  bad += std::memcmp(&a, &expected, sizeof a) != 0;
  bad += std::memcmp(&t, &expected, sizeof t) != 0;
  bad += std::memcmp(&b, &expected, sizeof b) != 0;
  std::vector<input> changed = x;
  changed[17] = isobit::mul(changed[17], input(0.5));
  auto const other = thrust::make_transform_iterator(changed.begin(), isobit::lifted<A>{});
  state const c = thrust::reduce(thrust::host, other, other + 5000, state{});
  bad += std::memcmp(&c, &expected, sizeof c) == 0; // control: a changed element is seen

  // Compiled for devices; run where there is one.
  int devices = 0;
  bool const gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  input* on_device = nullptr;
  state* out = nullptr;
  isobit::exact_cell<typename A::grid>* cell = nullptr;
  void* temporary = nullptr;
  std::size_t bytes = 0;
  if (gpu) {
    cudaMalloc(&on_device, x.size() * sizeof(input));
    cudaMalloc(&out, sizeof(state));
    cudaMalloc(&cell, sizeof *cell);
    cudaMemset(cell, 0, sizeof *cell);
    cudaMemcpy(on_device, x.data(), x.size() * sizeof(input), cudaMemcpyHostToDevice);
    auto const lifted = thrust::make_transform_iterator(static_cast<input const*>(on_device), isobit::lifted<A>{});
    cub::DeviceReduce::Reduce(nullptr, bytes, lifted, out, 5000, isobit::merged<A>{}, state{});
    cudaMalloc(&temporary, bytes);
    cub::DeviceReduce::Reduce(temporary, bytes, lifted, out, 5000, isobit::merged<A>{}, state{});
    deposits<A><<<7, 96>>>(on_device, 5000, cell);
    state s{};
    isobit::exact_cell<typename A::grid> sum{};
    cudaMemcpy(&s, out, sizeof s, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, cell, sizeof sum, cudaMemcpyDeviceToHost);
    state const deposited = read(sum);
    bad += std::memcmp(&s, &expected, sizeof s) != 0;
    bad += std::memcmp(&deposited, &expected, sizeof deposited) != 0;
  }
  std::printf("%s: thrust on the host%s: %s\n", name, gpu ? ", cub and atomics on the GPU" : "",
              bad == 0 ? "same bytes" : "DIFFERENT");
  return bad;
}

} // namespace

int main() { return check<exact<float>>("exact<float>") + check<exact<double>>("exact<double>"); }
