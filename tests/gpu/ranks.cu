// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of sums over ranks on a real GPU against the CPU: fragments of ranges, and elementwise sums of several arrays.
#include "check.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/device/ordered_sum.cuh>
#include <isobit/device/reduce_fragment.cuh>
#include <isobit/ranks.hpp>

namespace {

using isobit::compensated;
using isobit::fragment;
using isobit::plain;

// A fragment without a mutable byte behind what it uses: unused nodes are value-initialised.
template <class Acc> void fragments(Acc const& acc, std::vector<float> const& x) {
  using part = fragment<typename Acc::state>;
  gpu::check c("fragments of ranges");
  gpu::array<float> const in(x);
  gpu::array<part> out(1);
  auto const bytes = isobit::device::reduce_fragment_workspace_bytes<Acc>(x.size());
  gpu::array<unsigned char> workspace(bytes);
  workspace.zero();
  isobit::contiguous<float> const on_host{x.data()}, on_device{in.data()};
  uint64_t const n = x.size();
  struct range {
    uint64_t first, last;
  };
  for (range const r : {range{0, 0}, {3, 13}, {0, 8192}, {8191, 8193}, {1, n}, {n / 3, n}, {0, n}}) {
    isobit::device::reduce_fragment(0, workspace.data(), bytes, r.first, r.last, on_device, out.data(), acc);
    gpu::must(cudaDeviceSynchronize(), "reduce_fragment");
    part const want = isobit::reduce_fragment(isobit::host(), r.first, r.last, on_host, acc);
    c.expect(gpu::same_bits(out.to_host()[0], want), "range ending at", r.last);
  }
}

template <class Order, class T, int W> void elementwise() {
  gpu::check c("elementwise sums over " + std::to_string(W) + " arrays");
  for (size_t n : {1, 7, 4096, 100'003})
    for (size_t offset : {0, 1}) {
      std::vector<std::vector<T>> x(W, std::vector<T>(n));
      std::vector<gpu::array<T>*> arrays;
      isobit::peers<T, W> from{};
      for (int r = 0; r < W; ++r) {
        for (size_t i = 0; i < n; ++i) x[r][i] = isobit::encode_element<T>(gpu::hard_float(i * W + r));
        arrays.push_back(new gpu::array<T>(x[r], offset));
        from.array[r] = arrays.back()->data();
      }
      std::vector<T> want(n);
      isobit::ordered_sum<Order>(
          W, [&](uint64_t r) { return static_cast<T const*>(x[r].data()); }, n, want.data());
      gpu::array<T> out(n, offset);
      isobit::device::ordered_sum<Order>(0, from, n, out.data());
      gpu::must(cudaDeviceSynchronize(), "ordered_sum");
      c.expect(gpu::same_bits(out.to_host(), want), "elements", n);
      isobit::device::ordered_sum<Order>(0, from, n, arrays[W / 2]->data());
      gpu::must(cudaDeviceSynchronize(), "ordered_sum in place");
      c.expect(gpu::same_bits(arrays[W / 2]->to_host(), want), "in place", n);
      for (auto* a : arrays) delete a;
    }
}

} // namespace

void check_ranks() {
  auto const x = gpu::hard_floats(gpu::quick() ? 50'000 : 5'000'003);
  fragments(plain<float>{}, x);
  fragments(compensated<float>{}, x);
  elementwise<isobit::tree, float, 8>();
  elementwise<isobit::tree, isobit::bf16, 6>();
  elementwise<isobit::sequential, float, 5>();
}
