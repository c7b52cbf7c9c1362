// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions by tiles, blocks and grids on the simulator: every thread, geometry and schedule must give the bits of the
// order's definition.
#include "../everyone.hpp"

#include <doctest/doctest.h>

#include <isobit/device/reduce_kernel.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace isobit;

using testing::bits_equal;
using widths = std::vector<uint32_t>;

// Every thread of every block stores what it received.
template <class Order, int N, class Load, class Acc>
ISOBIT_KERNEL void block_kernel(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  ISOBIT_SHARED block_storage<N, typename Acc::state> memory;
  auto const b = block(memory);
  out[b.block_rank() * b.size() + b.thread_rank()] = isobit::reduce<Order>(b, n, load, acc);
}

template <class Order, int P, class Load, class Acc>
ISOBIT_KERNEL void tile_kernel(Load load, uint64_t n, typename Acc::result* out, Acc acc) {
  tile<P> const t;
  out[machine::thread_rank()] = isobit::reduce<Order>(t, n, load, acc);
}

template <class Order, class Load, class Acc>
typename Acc::result specification(uint64_t n, Load const& load, Acc const& acc) {
  if (n == 0) return acc.empty();
  return acc.finish(interpret<Order>(n, load, acc));
}

std::vector<float> hard_floats(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(n);
  for (auto& v : x) {
    uint32_t const bits = random();
    v = from_bits<float>((bits & 0x807fffffu) | ((100 + random() % 60) << 23)); // wide exponents, both signs
  }
  return x;
}

// An operator that neither commutes nor associates, over a type of 12 bytes.
struct affine {
  uint32_t scale, offset, depth;
};
struct compose {
  affine operator()(affine const& a, affine const& b) const {
    return {a.scale * b.scale, a.offset * b.scale + b.offset, (a.depth > b.depth ? a.depth : b.depth) * 3 + 1};
  }
};

// In order, in reverse and at random.
template <class Order, int N, class Load, class Acc>
void check_block(uint64_t n, widths const& blocks, Load const& load, Acc const& acc, uint64_t seed = 0) {
  using result = typename Acc::result;
  CAPTURE(n);
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        auto out = testing::filled<result>(c.block.x, 0xff);
        simt::launch(c, block_kernel<Order, N, Load, Acc>, load, n, out.data(), acc);
        return everyone(out);
      },
      [&] { return all_received(specification<Order>(n, load, acc)); },
      {.blocks = blocks, .grids = {1}, .schedules = 3, .seed = seed}));
}

} // namespace

TEST_SUITE("reduce on the simulator") {
  TEST_CASE("a block of any width gives every thread the bits of the tree") {
    auto const x = hard_floats(9000, 1);
    contiguous<float> const load{x.data()};
    widths const blocks{1, 2, 3, 31, 32, 33, 63, 64, 96, 100, 128, 255, 256};
    for (uint64_t n : {0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 500, 512, 513, 1023, 1024, 1025, 4097, 8191, 8192})
      check_block<tree, 256>(n, blocks, load, plain<float>{}, n);
    for (uint64_t n : {0, 1, 1000, 4096, 8999})
      check_block<tree, 1024>(n, {512, 1000, 1024}, load, plain<float>{});
  }

  TEST_CASE("every n up to 700, two widths") {
    auto const x = hard_floats(701, 2);
    contiguous<float> const load{x.data()};
    for (uint64_t n = 0; n <= 700; ++n) {
      check_block<tree, 64>(n, {64}, load, plain<float>{}, n);
      if (n % 7 == 0) check_block<tree, 64>(n, {5}, load, plain<float>{}, n);
    }
  }

  TEST_CASE("alignment of the array does not matter") {
    auto const x = hard_floats(5000, 3);
    for (size_t offset = 0; offset < 5; ++offset) {
      contiguous<float> const load{x.data() + offset};
      for (uint64_t n : {1, 7, 128, 1000, 4096, 4995}) check_block<tree, 256>(n, {128}, load, plain<float>{});
    }
  }

  TEST_CASE("element types, accumulators and operators") {
    auto const x = hard_floats(3000, 4);
    std::vector<double> const d(x.begin(), x.end());
    std::vector<int> i(3000);
    std::vector<bf16> b(3000);
    std::vector<f16> h(3000);
    std::vector<e4m3> q(3000);
    for (size_t k = 0; k < 3000; ++k) {
      i[k] = static_cast<int>(to_bits(x[k]));
      b[k] = bf16{static_cast<uint16_t>(to_bits(x[k]) >> 16)};
      h[k] = f16{static_cast<uint16_t>(0x3800 + k % 0x0700)};
      q[k] = e4m3{static_cast<uint8_t>(k % 0x7f)};
    }
    widths const blocks{7, 32, 96, 256};
    for (uint64_t n : {1, 17, 512, 2999, 3000}) {
      check_block<tree, 256>(n, blocks, contiguous<double>{d.data()}, plain<double>{});
      check_block<tree, 256>(n, blocks, contiguous<int>{i.data()}, plain<int>{});
      check_block<tree, 256>(n, blocks, contiguous<bf16>{b.data()}, plain<float>{});
      check_block<tree, 256>(n, blocks, contiguous<f16>{h.data()}, plain<float>{});
      check_block<tree, 256>(n, blocks, contiguous<e4m3>{q.data()}, plain<float>{});
      check_block<tree, 256>(n, blocks, contiguous<float>{x.data()}, compensated<float>{});
      check_block<tree, 256>(n, blocks, contiguous<double>{d.data()}, compensated<double>{});
      auto const load = [&](uint64_t k) { return affine{to_bits(x[k]) | 1u, static_cast<uint32_t>(k), 0}; };
      check_block<tree, 256>(n, blocks, load, with_operator<affine, compose>{});
    }
  }

  TEST_CASE("lanes and sequential") {
    auto const x = hard_floats(2000, 5);
    contiguous<float> const load{x.data()};
    for (uint64_t n : {0, 1, 15, 16, 17, 127, 500, 2000}) {
      check_block<lanes<16>, 64>(n, {1, 33, 64}, load, plain<float>{});
      check_block<lanes<128>, 64>(n, {1, 33, 64}, load, plain<float>{});
      check_block<sequential, 64>(n, {1, 33, 64}, load, plain<float>{});
    }
  }

  TEST_CASE("special values in every position") {
    float const inf = from_bits<float>(0x7f800000u), nan = from_bits<float>(0xffc12345u);
    float const tiny = from_bits<float>(1u);
    for (uint64_t n : {1, 33, 130, 517})
      for (float special : {inf, -inf, nan, -0.0f, tiny})
        for (uint64_t at = 0; at < n; at += (n < 40 ? 1 : 13)) {
          std::vector<float> x(n, -0.0f);
          x[at] = special;
          check_block<tree, 64>(n, {64}, contiguous<float>{x.data()}, plain<float>{});
        }
    std::vector<float> const zeros(777, -0.0f);
    auto const sum = specification<tree>(777, contiguous<float>{zeros.data()}, plain<float>{});
    CHECK(bits_equal(sum, -0.0f)); // never padded with +0
    check_block<tree, 64>(777, {64}, contiguous<float>{zeros.data()}, plain<float>{});
  }

  TEST_CASE("tiles of every size") {
    auto const x = hard_floats(3000, 6);
    contiguous<float> const load{x.data()};
    auto const check = [&]<int P>(tile<P>) {
      for (uint64_t n : {0, 1, 3, 16, 33, 100, 257, 1024, 2999}) {
        constexpr unsigned width = 64 / P * P + (P < 32 ? P : 0); // whole tiles, last warp incomplete where possible
        CAPTURE(P);
        CAPTURE(n);
        CHECK(testing::same_as_host(
            [&](simt::config const& c) {
              auto out = testing::filled<float>(width, 0xff);
              simt::launch(c, tile_kernel<tree, P, contiguous<float>, plain<float>>, load, n, out.data(),
                           plain<float>{});
              return everyone(out);
            },
            [&] { return all_received(specification<tree>(n, load, plain<float>{})); },
            {.blocks = {width}, .grids = {1}, .schedules = 3}));
      }
    };
    check(tile<1>{});
    check(tile<2>{});
    check(tile<4>{});
    check(tile<8>{});
    check(tile<16>{});
    check(tile<32>{});
  }

  TEST_CASE("a grid: one launch, any number of blocks, any schedule, and the workspace resets itself") {
    auto const x = hard_floats(70000, 7);
    contiguous<float> const load{x.data()};
    std::vector<unsigned char> memory(grid_workspace<float>::bytes(x.size()) + 16, 0xcd);
    void* const workspace = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
    std::memset(workspace, 0, 16);
    for (uint64_t n : {0, 1, 8191, 8192, 8193, 40000, 70000}) {
      CAPTURE(n);
      CHECK(testing::same_as_host(
          [&](simt::config c) {
            float out = from_bits<float>(0x7fc0dead);
            c.resident = 3;
            simt::launch(c, device::reduce_kernel<tree, contiguous<float>, plain<float>>, load, n, &out, workspace,
                         plain<float>{});
            uint32_t arrivals;
            std::memcpy(&arrivals, workspace, 4);
            return std::pair(out, arrivals);
          },
          [&] { return std::pair(specification<tree>(n, load, plain<float>{}), uint32_t(0)); },
          {.blocks = {32, 96, 250}, .grids = {1, 2, 5, 9, 12}, .schedules = 4}));
    }
  }

  TEST_CASE("a load may compute, and may count in int") {
    auto const x = hard_floats(1000, 8);
    float const* const p = x.data();
    auto const squares = [p](int i) { return mul(p[i], p[i]); };
    float const expected = specification<tree>(1000, [&](uint64_t i) { return squares(static_cast<int>(i)); }, plain<float>{});
    auto const kernel = [&](simt::config const& c) {
      float out = 0;
      simt::launch(c, [&] {
        ISOBIT_SHARED block<128>::storage<float> memory;
        auto const b = block(memory);
        float const s = isobit::reduce(b, 1000, squares);
        float const t = isobit::reduce(b, 1000, map(p, [](float v) { return mul(v, v); }));
        if (b.thread_rank() == 0) out = bits_equal(s, t) ? s : -1;
      });
      return out;
    };
    CHECK(testing::same_as_host(kernel, [&] { return expected; }, {.blocks = {96}, .grids = {1}}));
  }

  TEST_CASE("control: an arrival-order or padded sum is told apart") {
    auto const x = hard_floats(1000, 9);
    float padded = 0; // a fold from +0, left to right
    for (float v : x) padded = add(padded, v);
    CHECK_FALSE(bits_equal(padded, specification<tree>(1000, contiguous<float>{x.data()}, plain<float>{})));
  }
}
