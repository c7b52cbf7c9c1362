// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels for ranks on the simulator: any grid, block width and schedule gives the host's bits.
#include "numbers.hpp"

#include <doctest/doctest.h>

#include <isobit/accum/compensated.hpp>
#include <isobit/device/ordered_sum_kernel.hpp>
#include <isobit/device/reduce_fragment_kernel.hpp>
#include <isobit/ranks.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace isobit;
using testing::bits_equal;

template <class Acc, class Load>
fragment<typename Acc::state> on_device(simt::config const& c, uint64_t first, uint64_t last, Load const& load,
                                        Acc const& acc) {
  using state = typename Acc::state;
  auto const plan = device::fragment_plan::of<state>(first, last);
  // Poisoned, but for the arrivals, which must be left 0.
  std::vector<uint64_t> workspace((16 + sizeof(state) * (plan.partials() + 1)) / 8 + 2, ~uint64_t{0});
  auto* const at = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(workspace.data()) + 15) / 16 * 16);
  std::memset(at, 0, 4);
  fragment<state> out(99);
  std::memset(static_cast<void*>(&out), 0xcd, sizeof out);
  for (int replay = 0; replay < 2; ++replay) // as a graph would
    simt::launch(c, device::reduce_fragment_kernel<Load, Acc, 64>, load, plan, &out, at, acc);
  uint32_t arrivals = 1;
  std::memcpy(&arrivals, at, 4);
  CHECK(arrivals == 0);
  CHECK(plan.partials() * sizeof(state) + grid_workspace<state>::header_bytes <=
        grid_workspace<state>::bytes(last - first) + (2 * device::fragment_plan::ragged + 1) * sizeof(state));
  return out;
}

} // namespace

TEST_CASE("a launch gives the fragment that the host gives") {
  auto const x = hard_floats(120'000, 1);
  struct range {
    uint64_t first, last;
  };
  uint64_t const chunk = 8192;
  for (range const r : {range{0, 0}, {5, 5}, {0, 1}, {7, 8}, {3, 13}, {0, chunk}, {1, chunk}, {chunk - 1, chunk + 1},
                        {chunk, 2 * chunk}, {100, 3 * chunk + 77}, {0, 9 * chunk}, {4095, 100'001}}) {
    CAPTURE(r.first);
    CAPTURE(r.last);
    auto const load = contiguous<float>{x.data()};
    auto const expected = reduce_fragment(host(), r.first, r.last, load);
    auto const compensated_expected = reduce_fragment(host(), r.first, r.last, load, compensated<float>{});
    uint64_t seed = 0;
    for (uint32_t grid : {1u, 3u, 20u})
      for (uint32_t block : {1u, 33u, 256u}) {
        if (block == 1 && r.last - r.first > 2 * chunk) continue; // slow, and nothing new
        simt::config const c{.grid = {grid}, .block = {block}, .seed = ++seed};
        CHECK(bits_equal(on_device(c, r.first, r.last, load, plain<float>{}), expected));
        if (block == 33) CHECK(bits_equal(on_device(c, r.first, r.last, load, compensated<float>{}), compensated_expected));
      }
  }
}

TEST_CASE("indices past 2^40, generated") {
  uint64_t const first = (uint64_t{1} << 40) + 5, last = first + 30'000;
  auto const load = [](uint64_t i) { return static_cast<float>(i % 4099) / 3; };
  auto const expected = reduce_fragment(host(), first, last, load);
  CHECK(bits_equal(on_device(simt::config{.grid = {4}, .block = {96}}, first, last, load, plain<float>{}), expected));
}

TEST_CASE("the elementwise kernel: ragged ends, misaligned arrays, narrow types, in place") {
  constexpr int W = 6;
  for (size_t n : {0, 1, 3, 4, 5, 1000}) {
    for (size_t off : {0, 1}) {
      std::vector<std::vector<float>> x;
      peers<float, W> from{};
      for (int r = 0; r < W; ++r) x.push_back(hard_floats(n + 8, static_cast<unsigned>(r)));
      for (int r = 0; r < W; ++r) from.array[r] = x[static_cast<size_t>(r)].data() + off;
      std::vector<float> expected(n);
      ordered_sum(W, [&](uint64_t r) { return static_cast<float const*>(x[r].data()) + off; }, n, expected.data());
      bool aligned = true;
      for (float const* p : from.array) aligned = aligned && reinterpret_cast<uintptr_t>(p) % 16 == 0;
      for (uint32_t grid : {1u, 3u})
        for (uint32_t block : {1u, 32u, 100u}) {
          simt::config const c{.grid = {grid}, .block = {block}, .seed = n};
          alignas(16) static float out[1100];
          std::memset(out, 0xff, sizeof out);
          simt::launch(c, device::ordered_sum_kernel<tree, float, W, float, plain<float>>, from, n, out, aligned,
                       plain<float>{});
          if (n > 0) CHECK(bits_equal(std::vector<float>(out, out + n), expected));
          CHECK(to_bits(out[n]) == 0xffffffffu); // nothing past the end
        }
    }
  }
}

TEST_CASE("the elementwise kernel of a narrow type, into one of its inputs too") {
  struct alignas(16) row {
    bf16 element[24];
  };
  std::vector<row> a(3), out(1);
  std::mt19937 random(1);
  peers<bf16, 3> from{};
  for (size_t r = 0; r < 3; ++r) {
    for (bf16& v : a[r].element) v.bits = static_cast<uint16_t>(random() & 0xbfff);
    from.array[r] = a[r].element;
  }
  std::vector<bf16> expected(23);
  ordered_sum(3, [&](uint64_t r) { return static_cast<bf16 const*>(a[r].element); }, 23, expected.data());
  simt::config const c{.grid = {2}, .block = {7}};
  auto const kernel = device::ordered_sum_kernel<tree, bf16, 3, bf16, plain<float>>;
  for (bf16* to : {out[0].element, a[1].element}) {
    simt::launch(c, kernel, from, uint64_t{23}, to, true, plain<float>{});
    CHECK(bits_equal(std::vector<bf16>(to, to + 23), expected));
  }
}
