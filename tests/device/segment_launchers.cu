// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the launchers of segments, scatter, combine and slots refuse, before they launch anything.
#include <isobit/accum/exact.hpp>
#include <isobit/device/combine.cuh>
#include <isobit/device/scatter_sort.cuh>
#include <isobit/device/segmented_reduce.cuh>
#include <isobit/device/slots.cuh>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

int failures = 0;

template <class F> void refused(std::string const& expected, F const& call) {
  try {
    call();
    std::printf("not refused: %s\n", expected.c_str());
  } catch (isobit::invalid_argument const& e) {
    if (expected == e.what()) return;
    std::printf("expected: %s\n     got: %s\n", expected.c_str(), e.what());
  } catch (isobit::launch_error const& e) {
    std::printf("launched instead of refused (%s): %s\n", expected.c_str(), e.what());
  }
  ++failures;
}

} // namespace

//! Returns the number of failures.
int segment_launchers() {
  namespace device = isobit::device;
  using isobit::plain;
  alignas(256) static unsigned char memory[1 << 16];
  auto* const x = reinterpret_cast<float*>(memory);
  auto* const ids = reinterpret_cast<int*>(memory);
  auto* const offsets = reinterpret_cast<unsigned*>(memory);
  uint64_t const big = sizeof memory;

  std::string const reduce = "isobit::device::segmented_reduce: ";
  uint64_t const needed = device::segmented_reduce_workspace_bytes<plain<float>>(100, 3);
  refused(reduce + "offsets must be non-null when n > 0",
          [&] { device::segmented_reduce(0, memory, big, x, 100, static_cast<unsigned*>(nullptr), 3, x); });
  refused(reduce + "x must be non-null when n > 0",
          [&] { device::segmented_reduce(0, memory, big, static_cast<float*>(nullptr), 100, offsets, 3, x); });
  refused(reduce + "out must be non-null when segments > 0",
          [&] { device::segmented_reduce(0, memory, big, x, 100, offsets, 3, static_cast<float*>(nullptr)); });
  refused(reduce + "workspace_bytes must be at least " + std::to_string(needed) + " bytes",
          [&] { device::segmented_reduce(0, memory, needed - 1, x, 100, offsets, 3, x); });
  refused(reduce + "workspace must be aligned to 16 bytes",
          [&] { device::segmented_reduce(0, memory + 4, big - 4, x, 100, offsets, 3, x); });
  refused("isobit::device::find_runs: workspace_bytes must be at least 8 bytes",
          [&] { device::find_runs(0, memory, 7, ids, 10, offsets, reinterpret_cast<uint64_t*>(memory)); });

  uint64_t const scatter = device::scatter_workspace_bytes<plain<float>>(10, 4, 5);
  refused("isobit::device::scatter_reduce: workspace_bytes must be at least " + std::to_string(scatter) + " bytes",
          [&] { device::scatter_reduce(0, memory, scatter - 1, ids, 10, x, 4, x, 5); });
  refused("isobit::device::scatter_reduce: ids must be non-null when n > 0",
          [&] { device::scatter_reduce(0, memory, big, static_cast<int*>(nullptr), 10, x, 4, x, 5); });
  refused("isobit::device::scatter_exact: workspace_bytes must be at least " +
              std::to_string(20 * sizeof(isobit::exact_cell<isobit::exact_grid<float>>)) + " bytes",
          [&] { device::scatter_exact(0, memory, 100, ids, 10, x, 4, x, 5, isobit::exact<float>{}); });
  refused("isobit::device::group_ids: order must be non-null when n > 0", [&] {
    device::group_ids<device::by_radix_sort>(0, memory, big, ids, 10, 4,
                                             isobit::grouping<int>{reinterpret_cast<uint64_t*>(memory)});
  });

  isobit::combine_map<int, int> map{ids, ids, nullptr, 4, 9, 10};
  refused("isobit::device::gather_combine: k must be at most 8 (the compiled limit)",
          [&] { device::gather_combine<8>(0, map, x, 4, x); });
  map.k = 8, map.experts = nullptr;
  refused("isobit::device::gather_combine: experts must be non-null",
          [&] { device::gather_combine<8>(0, map, x, 4, x); });

  refused("isobit::device::merge_slots: workspace_bytes must be at least 80 bytes",
          [&] { device::merge_slots(0, memory, 79, 4, 5, x); });
  return failures;
}
