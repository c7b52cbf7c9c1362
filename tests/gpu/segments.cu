// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments, scatter, combine and slots on a real GPU against the CPU: launchers, repeated, with the GPU busy beside.
#include "check.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/device/combine.cuh>
#include <isobit/device/scatter_sort.cuh>
#include <isobit/device/segmented_reduce.cuh>
#include <isobit/slots.hpp>

namespace {

using isobit::plain;
namespace device = isobit::device;

std::vector<unsigned> offsets_of(size_t segments, size_t longest) {
  std::vector<unsigned> o = {0};
  for (size_t s = 0; s < segments; ++s) o.push_back(o.back() + static_cast<unsigned>(s * 7919 % (longest + 1)));
  return o;
}

template <class Acc> void segments(gpu::check& c, std::vector<unsigned> const& offsets, Acc const& acc) {
  uint64_t const n = offsets.back(), count = offsets.size() - 1;
  auto const x = gpu::hard_floats(n);
  std::vector<float> want(count);
  isobit::segmented_reduce(isobit::host(), x.data(), n, offsets.data(), count, want.data(), acc);
  gpu::array<unsigned> const o(offsets);
  gpu::array<float> const in(x, 1), out(count);
  gpu::array<unsigned char> work(device::segmented_reduce_workspace_bytes<Acc>(n, count));
  gpu::array<isobit::index_report> const report(1);
  work.zero(); // once
  for (int again = 0; again < 3; ++again) {
    device::segmented_reduce(0, work.data(), work.size(), static_cast<float const*>(in.data()), n,
                             static_cast<unsigned const*>(o.data()), count, out.data(), acc,
                             again == 1 ? report.data() : nullptr);
    gpu::must(cudaDeviceSynchronize(), "segmented reduce");
    c.expect(gpu::same_bits(out.to_host(), want), "segments", count);
  }
  c.expect(report.to_host()[0].count == 0, "report", count);
}

template <class Method> void scatter(gpu::check& c, uint64_t n, uint64_t rows, uint64_t columns) {
  std::vector<int> ids(n);
  for (uint64_t i = 0; i < n; ++i) ids[i] = static_cast<int>(i * 2654435761u % (rows + 1)) - 1;
  auto const x = gpu::hard_floats(n * columns);
  std::vector<float> want(rows * columns, 0.5f);
  std::vector<uint64_t> host_work(isobit::scatter_host_workspace_bytes(n, rows) / 8);
  isobit::scatter_reduce(isobit::host(), host_work.data(), host_work.size() * 8, ids.data(), n, x.data(), columns,
                         want.data(), rows);
  gpu::array<int> const id(ids);
  gpu::array<float> const in(x), out(std::vector<float>(rows * columns, 0.5f));
  gpu::array<unsigned char> const work(device::scatter_workspace_bytes<plain<float>, Method>(n, columns, rows));
  for (int again = 0; again < 3; ++again) {
    device::scatter_reduce<isobit::scatter_mode::replace, Method>(
        0, work.data(), work.size(), static_cast<int const*>(id.data()), n, static_cast<float const*>(in.data()),
        columns, out.data(), rows);
    gpu::must(cudaDeviceSynchronize(), "scatter");
    c.expect(gpu::same_bits(out.to_host(), want), "scatter", n);
  }
}

void exact(gpu::check& c) {
  uint64_t const n = 20000, rows = 50, columns = 3;
  std::vector<int> ids(n);
  for (uint64_t i = 0; i < n; ++i) ids[i] = static_cast<int>(i * 31 % (rows + 1)) - 1;
  auto const x = gpu::hard_floats(n * columns);
  isobit::exact<float> const acc;
  std::vector<float> want(rows * columns);
  std::vector<uint64_t> host_work(isobit::scatter_host_workspace_bytes(n, rows) / 8);
  isobit::scatter_reduce(isobit::host(), host_work.data(), host_work.size() * 8, ids.data(), n, x.data(), columns,
                         want.data(), rows, acc);
  gpu::array<int> const id(ids);
  gpu::array<float> const in(x), out(rows * columns);
  gpu::array<unsigned char> const work(device::scatter_exact_workspace_bytes<isobit::exact<float>>(columns, rows));
  device::scatter_exact(0, work.data(), work.size(), static_cast<int const*>(id.data()), n,
                        static_cast<float const*>(in.data()), columns, out.data(), rows, acc);
  gpu::must(cudaDeviceSynchronize(), "exact scatter");
  c.expect(gpu::same_bits(out.to_host(), want), "exact scatter", n);
}

void combine(gpu::check& c, uint64_t columns) {
  uint64_t const tokens = 1000, experts = 128;
  uint32_t const k = 6;
  std::vector<int> expert(tokens * k), row(tokens * k);
  std::vector<float> weight(tokens * k);
  for (size_t i = 0; i < expert.size(); ++i) {
    expert[i] = static_cast<int>((i / k * 37 + i % k * 19) % experts);
    weight[i] = static_cast<float>(1 + i % 97) / 128;
  }
  std::vector<uint64_t> offsets(experts + 1);
  isobit::group_ids(isobit::host(), expert.data(), expert.size(), experts,
                    isobit::grouping<int>{offsets.data(), nullptr, row.data()});
  auto const f = gpu::hard_floats(tokens * k * columns);
  std::vector<isobit::bf16> x(f.size()), want(tokens * columns);
  for (size_t i = 0; i < f.size(); ++i) x[i] = isobit::encode<isobit::bf16>(f[i]);
  isobit::combine_map<int, int> map{row.data(), expert.data(), weight.data(), tokens, k, tokens * k};
  isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<isobit::bf16>{x.data(), columns}, columns,
                         want.data());
  gpu::array<int> const e(expert), r(row);
  gpu::array<float> const w(weight);
  gpu::array<isobit::bf16> const in(x), out(want.size());
  map.rows = r.data(), map.experts = e.data(), map.weights = w.data();
  device::gather_combine<8>(0, map, static_cast<isobit::bf16 const*>(in.data()), columns, out.data());
  gpu::must(cudaDeviceSynchronize(), "gather-combine");
  auto const got = out.to_host();
  c.expect(std::memcmp(got.data(), want.data(), want.size() * sizeof want[0]) == 0, "columns", columns);

  // The same maps from the device, by both methods.
  gpu::array<uint64_t> const o(experts + 1);
  gpu::array<int> const order(expert.size()), position(expert.size());
  auto const group = [&]<class Method>(Method) {
    gpu::array<unsigned char> const work(device::group_ids_workspace_bytes<int, Method>(expert.size(), experts));
    device::group_ids<Method>(0, work.data(), work.size(), static_cast<int const*>(e.data()), expert.size(), experts,
                              isobit::grouping<int>{o.data(), order.data(), position.data()});
    gpu::must(cudaDeviceSynchronize(), "grouping");
    c.expect(gpu::same_bits(position.to_host(), row) && gpu::same_bits(o.to_host(), offsets), "maps", experts);
  };
  group(device::by_counting{});
  group(device::by_radix_sort{});
}

__global__ void in_turn(uint32_t* ticket, uint32_t* turn, float const* parts, uint64_t n, float* sums) {
  __shared__ uint32_t word;
  uint32_t const slot = isobit::take_ticket(&word, ticket, gridDim.x);
  isobit::add_in_turn(isobit::turnstile{turn, gridDim.x}, slot, sums, n, plain<float>{},
                      [=](uint64_t i) { return parts[slot * n + i]; });
}

void turnstiles(gpu::check& c) {
  uint64_t const n = 1000, blocks = 3000; // more blocks than any GPU has room for
  auto const parts = gpu::hard_floats(n * blocks);
  std::vector<float> want(parts.begin(), parts.begin() + n);
  for (uint64_t s = 1; s < blocks; ++s)
    for (uint64_t i = 0; i < n; ++i) want[i] = isobit::add(want[i], parts[s * n + i]);
  gpu::array<float> const in(parts), sums(n);
  gpu::array<uint32_t> counters(2);
  counters.zero();
  for (int again = 0; again < 3; ++again) {
    in_turn<<<static_cast<unsigned>(blocks), 128>>>(counters.data(), counters.data() + 1, in.data(), n, sums.data());
    gpu::must(cudaDeviceSynchronize(), "turnstile");
    c.expect(gpu::same_bits(sums.to_host(), want), "turnstile", blocks);
  }
}

} // namespace

void check_segments() {
  size_t const shrink = gpu::quick() ? 10 : 1;
  {
    gpu::check c("segmented reduce: short, mixed and long segments");
    for (auto const& offsets : {offsets_of(200000 / shrink, 20), offsets_of(3000 / shrink, 2500),
                                std::vector<unsigned>{0, 0, static_cast<unsigned>(3000000 / shrink), 3000001}}) {
      if (offsets.back() > 4000000) continue;
      segments(c, offsets, plain<float>{});
      segments(c, offsets, isobit::compensated<float>{});
    }
  }
  {
    gpu::check c("scatter-reduce, grouping by counting and by radix sort; exact");
    for (uint64_t columns : {1u, 33u, 300u}) {
      scatter<device::by_counting>(c, 20000 / shrink, 35, columns);
      scatter<device::by_radix_sort>(c, 20000 / shrink, 3000, columns);
    }
    exact(c);
  }
  {
    gpu::check c("gather-combine and its maps");
    combine(c, 512), combine(c, 100), combine(c, 77);
  }
  {
    gpu::check c("turnstile");
    turnstiles(c);
  }
}
