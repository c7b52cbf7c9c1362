// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host code of docs/migration.md, and its kernels on the simulator, compared with what the page says of them.
#include <isobit/fingerprint.hpp>
#include <isobit/scan.hpp>
#include <isobit/scatter.hpp>
#include <isobit/segments.hpp>
#include <isobit/simt/cuda.hpp>

#include "migration_kernels.cuh"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace {

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  isobit::uint64_t state = 1;
  for (float& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<float>(static_cast<int>(state >> 40) - (1 << 23)) * 0x1p-20f;
  }
  return x;
}

// Kahan's loop, as it is found in many programs.
float kahan(float const* x, std::size_t n) {
  float sum = 0, lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    float y = x[i] - lost;
    float t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  return sum;
}

float compensated(float const* x, std::size_t n) {
  return isobit::reduce(isobit::host(), x, n, isobit::compensated<float>{});
}

bool same(float a, float b) { return isobit::to_bits(a) == isobit::to_bits(b); }

} // namespace

TEST_CASE("docs: sums on a host") {
  auto const x = numbers(10007);
  std::size_t const n = x.size();
  float before = std::reduce(x.begin(), x.end());
  float after = isobit::reduce(isobit::host(), x.data(), n);
  CHECK(std::fabs(before - after) < 1.0f);
  float loop = std::accumulate(x.begin() + 1, x.end(), x[0]);
  CHECK(same(isobit::reduce<isobit::sequential>(isobit::host(), x.data(), n), loop));
  double exact = 0;
  for (float v : x) exact += v;
  CHECK(std::fabs(kahan(x.data(), n) - exact) <= 2e-7 * std::fabs(exact));
  CHECK(same(compensated(x.data(), n), static_cast<float>(exact)));
}

TEST_CASE("docs: hashes") {
  auto const x = numbers(12 * 35);
  std::size_t const n = x.size(), rows = 12, columns = 35;
  std::uint64_t hash = isobit::torch_hash(isobit::host(), x.data(), n);
  std::uint64_t digest = isobit::digest(isobit::host(), x.data(), {rows, columns});
  auto y = x;
  std::swap(y[3], y[4]);
  CHECK(isobit::torch_hash(isobit::host(), y.data(), n) == hash);
  CHECK(isobit::digest(isobit::host(), y.data(), {rows, columns}) != digest);
}

TEST_CASE("docs: index-add on a host") {
  auto const x = numbers(64 * 5);
  std::vector<int> ids(64);
  for (int i = 0; i < 64; ++i) ids[std::size_t(i)] = i * 7 % 8;
  std::size_t const n = 64, columns = 5, rows = 8;
  std::vector<float> out(rows * columns);
  std::vector<std::uint64_t> workspace(isobit::scatter_host_workspace_bytes(n, rows) / 8);
  isobit::scatter_reduce(isobit::host(), workspace.data(), workspace.size() * 8, ids.data(), n, x.data(), columns,
                         out.data(), rows);
  float first = isobit::reduce(isobit::host(), 8, [&](int i) { return x[std::size_t(8 * i) * columns]; });
  CHECK(same(out[0], first));
}

TEST_CASE("docs: kernels on the simulator") {
  auto const x = numbers(4096);
  using isobit::host, isobit::reduce, isobit::simt::launch;
  std::vector<float> out(16);

  launch(16, 256, block_sums, x.data(), out.data());
  for (std::size_t b = 0; b < 16; ++b) CHECK(same(out[b], reduce(host(), x.data() + 256 * b, 256)));

  launch(16, 32, row_sums, x.data(), out.data(), 200);
  for (std::size_t r = 0; r < 16; ++r) CHECK(same(out[r], reduce(host(), x.data() + 200 * r, 200)));
  std::vector<float> by_hand(16);
  launch(16, 32, row_sums_by_hand, x.data(), by_hand.data(), 200);
  std::size_t differ = 0;
  for (std::size_t r = 0; r < 16; ++r) differ += !same(out[r], by_hand[r]);
  CHECK(differ > 0); // other brackets, other bits

  float const squares = reduce(host(), 4096, [&](int i) { return isobit::mul(x[std::size_t(i)], x[std::size_t(i)]); });
  std::vector<std::uint64_t> workspace(isobit::grid_workspace<float>::bytes(4096) / 8 + 1);
  for (unsigned width : {33u, 256u}) {
    float sum = 0;
    launch(5, width, total, x.data(), 4096, &sum, static_cast<void*>(workspace.data()));
    CHECK(same(sum, squares));
  }
  float by_atomics = 0;
  launch(16, 256, total_by_atomics, x.data(), 4096, &by_atomics);
  CHECK(std::fabs(by_atomics - squares) < 1e-4f * squares);

  isobit::exact_cell<exact_sum::grid> cell{};
  launch(16, 256, total_in_any_order, x.data(), 4096, &cell);
  CHECK(same(exact_sum{}.finish(isobit::read(cell)), reduce(host(), x.data(), 4096, exact_sum{})));

  // Parts of 64 elements are nodes of the tree over all.
  std::vector<float> slots(8 * 8), c(8), atomic_c(8);
  std::vector<unsigned> arrivals(8);
  auto const space = isobit::private_slots<float>::at(slots.data(), 8, 8);
  launch(isobit::extent3{8, 8, 1}, 1, split_k, x.data(), c.data(), space, arrivals.data());
  launch(isobit::extent3{8, 8, 1}, 1, split_k_by_atomics, x.data(), atomic_c.data());
  for (std::size_t t = 0; t < 8; ++t) {
    CHECK(same(c[t], reduce(host(), x.data() + 512 * t, 512)));
    CHECK(std::fabs(c[t] - atomic_c[t]) < 1e-3f);
  }
}
