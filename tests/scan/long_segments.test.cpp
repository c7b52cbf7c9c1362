// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments of all lengths through the kernels of the launchers with a workspace: short ones by tiles, the chunks of long
// ones in one pass; offsets, and heads that a scan turns into offsets.
#include "grid.hpp"

#include <isobit/device/segmented_scan_kernel.hpp>

#include <cstdlib>

using namespace scan_test;
using isobit::detail::scan_form;

namespace {

// What device::segmented_inclusive_scan launches, with `longest` of a tile chosen small.
template <class Form, class Layout>
std::vector<float> on_device(simt::config const& c, Form const& form, Layout const& layout, std::uint64_t most,
                             std::uint64_t longest, std::vector<float> const& x) {
  using load = isobit::contiguous<float>;
  using results = isobit::detail::results<float>;
  auto out = testing::filled<float>(x.size(), 0xa5);
  simt::launch(c, isobit::device::short_segments_kernel<32, Form, Layout, load, results, plain<float>>, form, layout,
               longest, load{x.data()}, results{out.data()}, plain<float>{});
  std::uint64_t const chunk = isobit::detail::chunk_shape<load, float>(c.block.x).chunk;
  std::vector<std::uint64_t> counts(most);
  two_passes(c, scan_form<false>{}, isobit::detail::chunks_of_segment<Layout>{layout, chunk, longest}, most,
             isobit::detail::results<std::uint64_t>{counts.data()}, plain<std::uint64_t>{});
  std::uint64_t const room = 2 * x.size() + chunk;
  workspace<float> memory(room, c.block.x);
  simt::launch(c, isobit::device::long_segments_kernel<1024, Form, Layout, load, results, plain<float>>, form, layout,
               static_cast<std::uint64_t const*>(counts.data()), most, load{x.data()}, results{out.data()}, memory.data(),
               room, plain<float>{});
  return out;
}

} // namespace

TEST_CASE("long segments among short and empty ones, inclusive and exclusive") {
  std::vector<std::int64_t> const lengths = {0, 3000, 1, 0, 256, 257, 511, 512, 513, 33, 5000, 0, 1024, 7};
  auto const offsets = offsets_of(lengths);
  auto const x = floats(static_cast<std::size_t>(offsets.back()));
  isobit::csr<std::int64_t> const layout{offsets.data(), lengths.size()};
  auto const wanted = one_by_one(x, offsets, 0.f);
  testing::host_options const o{.blocks = {32, 64, 96}, .grids = {1, 3, 9}, .schedules = 4};
  CHECK(testing::same_as_host(
      [&](simt::config const& c) { return on_device(c, scan_form<false>{}, layout, lengths.size(), 256, x); },
      [&] { return wanted; }, o));
  std::vector<float> exclusive(x.size());
  isobit::segmented_exclusive_scan(host(), x.data(), x.size(), offsets.data(), lengths.size(), exclusive.data());
  CHECK(testing::same_as_host(
      [&](simt::config const& c) { return on_device(c, scan_form<true>{}, layout, lengths.size(), 256, x); },
      [&] { return exclusive; }, o));
}

TEST_CASE("heads become offsets, whose number only the device knows") {
  std::uint64_t const n = 4000;
  auto const x = floats(n);
  std::vector<std::int64_t> offsets = {0, 1, 2, 700, 701, 2900, 3999, 4000};
  std::vector<int> flags(n);
  for (auto o : offsets)
    if (o < 4000) flags[static_cast<std::size_t>(o)] = 1;
  flags[0] = 0; // the first element begins a segment all the same
  auto const wanted = one_by_one(x, offsets, 0.f);
  using heads = isobit::head_flags<int>;
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        std::vector<std::uint64_t> made(n + 1, 77);
        std::uint64_t count = 99;
        heads const h{flags.data()};
        one_pass(c, scan_form<false>{}, isobit::detail::count_heads<heads>{h}, n,
                 isobit::detail::store_heads<heads>{h, n, made.data(), &count}, plain<std::uint64_t>{});
        return on_device(c, scan_form<false>{}, isobit::counted_csr<std::uint64_t>{made.data(), &count}, n, 256, x);
      },
      [&] { return wanted; }, {.blocks = {64}, .grids = {1, 5}, .schedules = 3}));
}

TEST_CASE("one segment of 2^28 generated elements, on the host (long: ISOBIT_EXHAUSTIVE)") {
  std::uint64_t const n = std::getenv("ISOBIT_EXHAUSTIVE") != nullptr ? std::uint64_t(1) << 28 : std::uint64_t(1) << 22;
  std::uint64_t wrong = 0;
  isobit::detail::scan_part(
      host(), 100, n + 100, scan_form<false>{}, [](std::uint64_t i) { return std::uint32_t(i); },
      [&](std::uint64_t i, std::uint32_t r) {
        std::uint64_t const m = i + 1; // 100 + ... + i
        wrong += r != static_cast<std::uint32_t>(m * (m - 1) / 2 - 4950);
      },
      plain<std::uint32_t>{});
  CHECK(wrong == 0);
}
