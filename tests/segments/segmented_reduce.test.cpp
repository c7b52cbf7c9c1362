// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segmented reductions: the host against the definition, and kernels against the host at many geometries and schedules.
#include "../thrown.hpp"
#include "common.hpp"

#include <isobit/accum/exact.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/error.hpp>
#include <isobit/group/threads.hpp>

#include <limits>

namespace {

using namespace segment_test;
using isobit::host;
using isobit::plain;

// Segment lengths of one kind of layout.
std::vector<uint32_t> offsets_of(std::string const& kind, uint64_t seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  auto const below = [&](uint32_t n) { return static_cast<uint32_t>(engine() % n); };
  std::vector<uint32_t> offsets{below(5)};
  auto const add = [&](uint32_t length) { offsets.push_back(offsets.back() + length); };
  if (kind == "mixed")
    for (int i = 0; i < 60; ++i) add(below(4) == 0 ? below(700) : below(12));
  else if (kind == "short")
    for (int i = 0; i < 700; ++i) add(below(8));
  else if (kind == "empty")
    for (int i = 0; i < 900; ++i) add(0);
  else if (kind == "long")
    add(0), add(6000 + below(900)), add(0), add(3), add(2048), add(2049), add(1);
  else if (kind == "boundaries")
    for (uint32_t n : {31u, 1u, 0u, 33u, 959u, 0u, 1u, 1024u, 32u, 64u, 128u, 129u, 127u, 0u, 0u}) add(n);
  else if (kind == "units") // exactly as long as units of the tested levels, and one more or less
    for (uint32_t n : {32u, 31u, 33u, 64u, 32u, 0u, 256u, 255u, 257u, 31u}) add(n);
  return offsets;
}

template <class Acc> struct by_blocks {
  std::vector<float> const& x;
  std::vector<uint32_t> const& offsets;
  Acc acc;

  uint64_t segments() const { return offsets.size() - 1; }
  auto on_host() const {
    auto out = poisoned<typename Acc::result>(segments());
    isobit::segmented_reduce(host(), x.data(), x.size(), offsets.data(), segments(), out.data(), acc);
    return out;
  }
  auto on_blocks(simt::config const& c, int level) const {
    using state = typename Acc::state;
    using result = typename Acc::result;
    uint64_t const n = offsets.back() - offsets.front();
    workspace_memory<state> memory(n, segments(), level, c.seed % 2 == 0 ? 0xff : 0x7f);
    auto out = poisoned<result>(segments() + 1, 0xab);
    auto const guard = out.back();
    for (int round = 0; round < 2; ++round) { // the counters reset themselves
      simt::launch(c,
                   isobit::device::segmented_reduce_kernel<isobit::csr<uint32_t>, isobit::contiguous<float>,
                                                           isobit::detail::results<result>, Acc>,
                   isobit::csr{offsets.data(), segments()}, isobit::contiguous<float>{x.data()},
                   isobit::detail::results<result>{out.data()}, memory.get(), acc, nullptr);
      CHECK(memory.counters_are_zero());
      CHECK(std::memcmp(&out.back(), &guard, sizeof guard) == 0);
    }
    out.pop_back();
    return out;
  }
};

template <class Group> struct group_kernel {
  template <class Acc>
  static void run(isobit::csr<uint32_t> layout, float const* x, typename Acc::result* out, Acc acc) {
    isobit::segmented_reduce(
        Group{}, layout, isobit::contiguous<float>{x}, [=](uint64_t s, auto const& r) { out[s] = r; }, acc);
  }
};
void block_kernel(isobit::csr<uint32_t> layout, float const* x, float* out) {
  ISOBIT_SHARED isobit::block<256>::storage<float> memory;
  isobit::segmented_reduce(isobit::block(memory), layout, isobit::contiguous<float>{x},
                           [=](uint64_t s, float r) { out[s] = r; });
}

} // namespace

TEST_SUITE("segmented reduce") {
  TEST_CASE("the host against the definition, all short lengths and some long ones") {
    auto const x = wild(30000);
    auto const check = [&](auto const& acc) {
      for (uint32_t from : {0u, 1u, 31u})
        for (uint32_t n : {0u,  1u,  2u,  3u,  4u,  5u,  6u,  7u,  8u,  9u,  10u,  11u,   12u,   13u,
                           14u, 15u, 16u, 17u, 18u, 31u, 33u, 63u, 64u, 65u, 100u, 1000u, 4097u, 20000u}) {
          uint32_t const offsets[] = {from, from + n};
          typename std::remove_cvref_t<decltype(acc)>::result out;
          isobit::segmented_reduce(host(), x.data(), x.size(), offsets, 1, &out, acc);
          CAPTURE(n);
          CHECK(bits_equal(out, by_definition(
                                    n, [&](uint64_t i) { return x[from + i]; }, acc)));
        }
    };
    check(plain<float>{});
    check(isobit::compensated<float>{});
    check(isobit::exact<float>{});
  }

  TEST_CASE("the host's runs of short segments of one length, and what breaks them") {
    auto x = wild(3000);
    x[100] = std::numeric_limits<float>::quiet_NaN(), x[201] = std::numeric_limits<float>::infinity(), x[205] = -x[201];
    for (uint32_t i = 300; i < 340; ++i) x[i] = -0.0f;
    for (uint32_t n = 1; n <= 18; ++n)
      for (uint32_t count : {1u, 3u, 4u, 7u, 8u, 9u, 23u, 40u}) {
        std::vector<uint32_t> offsets{3};
        for (uint32_t s = 0; s < count; ++s)
          offsets.push_back(offsets.back() + (s == count - 2 && count > 20 ? n + 1 : n));
        std::vector<float> tight(x.begin(),
                                 x.begin() + offsets.back()); // the end of the array is the end of the last segment
        tight.shrink_to_fit();
        std::vector<float> out(count + 1, 77.0f);
        isobit::segmented_reduce(host(), tight.data(), tight.size(), offsets.data(), count, out.data());
        CAPTURE(n);
        CAPTURE(count);
        for (uint32_t s = 0; s < count; ++s)
          CHECK(bits_equal(
              out[s], by_definition(
                          offsets[s + 1] - offsets[s], [&](uint64_t i) { return x[offsets[s] + i]; }, plain<float>{})));
        CHECK(out[count] == 77.0f);
      }
  }

  TEST_CASE("kernels equal the host: layouts, unit sizes, widths, grids, schedules") {
    auto const x = wild(40000);
    uint64_t seed = 0;
    for (char const* kind : {"mixed", "short", "empty", "long", "boundaries", "units"}) {
      auto const offsets = offsets_of(kind, 7);
      by_blocks<plain<float>> const job{x, offsets, {}};
      auto const expected = job.on_host();
      for (int level : {5, 8, 12})
        for (uint32_t width : {1u, 7u, 32u, 33u, 96u, 256u}) {
          if (width < 32 && level == 5) continue;
          ++seed;
          auto const c = simt::vary(
              simt::config{.grid = {1 + static_cast<uint32_t>(seed % 5)}, .block = {width}, .seed = seed}, seed % 7);
          CAPTURE(kind);
          CAPTURE(level);
          CAPTURE(width);
          CHECK(bits_equal(job.on_blocks(c, level), expected));
        }
    }
  }

  TEST_CASE("random layouts and schedules, other accumulators") {
    auto const x = wild(40000, 3);
    for (uint64_t k = 0; k < 12; ++k) {
      auto const offsets = offsets_of(k % 3 == 0 ? "short" : "mixed", 100 + k);
      auto const c = simt::vary({.grid = {1 + static_cast<uint32_t>(k % 4)}, .block = {64}, .seed = k}, k);
      int const level = 5 + static_cast<int>(k % 4);
      CAPTURE(k);
      auto const check = [&](auto const& acc) {
        by_blocks<std::remove_cvref_t<decltype(acc)>> const job{x, offsets, acc};
        CHECK(bits_equal(job.on_blocks(c, level), job.on_host()));
      };
      if (k % 3 == 0) check(isobit::exact<float>{});
      if (k % 3 == 1) check(isobit::compensated<float>{});
      if (k % 3 == 2) {
        by_blocks<isobit::moments<float>> const job{x, offsets, {}};
        auto const a = job.on_blocks(c, level), b = job.on_host();
        for (size_t s = 0; s < a.size(); ++s) {
          CHECK(bits_equal(a[s].mean, b[s].mean));
          CHECK(bits_equal(a[s].variance, b[s].variance));
        }
      }
    }
  }

  TEST_CASE("an operator that does not commute") {
    auto const offsets = offsets_of("mixed", 5);
    uint64_t const segments = offsets.size() - 1, n = offsets.back();
    auto const op = [](uint64_t a, uint64_t b) { return a * 0x9e3779b97f4a7c15u + (b ^ a >> 7); };
    auto const load = [](uint64_t i) { return i * i + 3; };
    isobit::with_operator<uint64_t, decltype(op)> const acc{op};
    std::vector<uint64_t> expected(segments), out(segments);
    for (uint64_t s = 0; s < segments; ++s)
      expected[s] = by_definition(
          offsets[s + 1] - offsets[s], [&](uint64_t i) { return load(offsets[s] + i); }, acc);
    isobit::segmented_reduce(
        host(), isobit::csr{offsets.data(), segments}, load, [&](uint64_t s, uint64_t r) { out[s] = r; }, op);
    CHECK(bits_equal(out, expected));
    auto const elements = isobit::detail::as_load<uint64_t>(load);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      workspace_memory<uint64_t> memory(n, segments, 6);
      std::vector<uint64_t> on_blocks(segments);
      simt::launch(
          simt::vary({.grid = {3}, .block = {96}}, seed),
          isobit::device::segmented_reduce_kernel<isobit::csr<uint32_t>, std::remove_const_t<decltype(elements)>,
                                                  isobit::detail::results<uint64_t>,
                                                  std::remove_const_t<decltype(acc)>>,
          isobit::csr{offsets.data(), segments}, elements, isobit::detail::results<uint64_t>{on_blocks.data()},
          memory.get(), acc, nullptr);
      CHECK(bits_equal(on_blocks, expected));
    }
  }

  TEST_CASE("one group does all segments") {
    auto const x = wild(20000, 9);
    auto const offsets = offsets_of("boundaries", 2);
    by_blocks<plain<float>> const job{x, offsets, {}};
    auto const expected = job.on_host();
    isobit::csr const layout{offsets.data(), job.segments()};
    std::vector<float> out(expected.size());
    for (uint32_t width : {1u, 33u, 256u}) {
      out.assign(out.size(), 0);
      simt::launch(1, width, block_kernel, layout, x.data(), out.data());
      CHECK(bits_equal(out, expected));
    }
    out.assign(out.size(), 0);
    simt::launch(1, 32, group_kernel<isobit::tile<32>>::run<plain<float>>, layout, x.data(), out.data(),
                 plain<float>{});
    CHECK(bits_equal(out, expected));
    out.assign(out.size(), 0);
    isobit::segmented_reduce(isobit::thread{}, layout, isobit::contiguous<float>{x.data()},
                             [&](uint64_t s, float r) { out[s] = r; });
    CHECK(bits_equal(out, expected));
    out.assign(out.size(), 0);
    isobit::segmented_reduce(host(isobit::threads(2)), x.data(), x.size(), offsets.data(), layout.count, out.data());
    CHECK(bits_equal(out, expected));
  }

  TEST_CASE("an executor shares long segments out") {
    auto const x = wild((1u << 20) + 5000, 4);
    uint64_t const offsets[] = {0, 3, 3, (1u << 20) + 4000, x.size()};
    std::vector<float> one(4), many(4);
    isobit::segmented_reduce(host(), x.data(), x.size(), offsets, 4, one.data());
    isobit::segmented_reduce(host(isobit::threads(2)), x.data(), x.size(), offsets, 4, many.data());
    CHECK(bits_equal(one, many));
    CHECK(bits_equal(one[2], isobit::reduce(host(), x.data() + 3, (1u << 20) + 3997)));
  }

  TEST_CASE("narrow elements and results, matrices of rows") {
    std::vector<isobit::bf16> x(37 * 100);
    auto const w = wild(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<uint16_t>(isobit::to_bits(w[i]) >> 16);
    std::vector<float> wide(37);
    std::vector<isobit::bf16> narrow(37);
    isobit::reduce_rows(host(), x.data(), 37, 100, wide.data());
    isobit::reduce_rows(host(), x.data(), 37, 100, narrow.data());
    for (size_t r = 0; r < 37; ++r) {
      CHECK(bits_equal(wide[r], isobit::reduce(host(), x.data() + 100 * r, 100)));
      CHECK(narrow[r].bits == isobit::encode<isobit::bf16>(wide[r]).bits);
    }
    for (uint32_t width : {32u, 100u}) {
      workspace_memory<float> memory(x.size(), 37, 6);
      auto out = poisoned<float>(37);
      simt::launch(simt::config{.grid = {4}, .block = {width}},
                   isobit::device::segmented_reduce_kernel<isobit::fixed_rows, isobit::contiguous<isobit::bf16>,
                                                           isobit::detail::results<float>, plain<float>>,
                   isobit::fixed_rows(37, 100), isobit::contiguous<isobit::bf16>{x.data()},
                   isobit::detail::results<float>{out.data()}, memory.get(), plain<float>{}, nullptr);
      CHECK(bits_equal(out, wide));
    }
  }

  TEST_CASE("bad input is named before anything is written") {
    float const x[10] = {};
    float out[3] = {7, 7, 7};
    uint32_t const falling[] = {0, 5, 4}, beyond[] = {0, 5, 11};
    int const negative[] = {-1, 2};
    auto const reduce = [&](auto const* offsets, uint64_t segments) {
      return thrown([&] { isobit::segmented_reduce(host(), x, 10, offsets, segments, out); });
    };
    CHECK(reduce(falling, 2) ==
          "isobit::segmented_reduce: offsets must be non-decreasing; it falls after entry 1 (counted from 0)");
    CHECK(reduce(beyond, 2) == "isobit::segmented_reduce: offsets[segments] must be at most n, which is 10 ");
    CHECK(reduce(negative, 1) == "isobit::segmented_reduce: offsets[0] must be 0 or more");
    CHECK(reduce(static_cast<int const*>(nullptr), 1) ==
          "isobit::segmented_reduce: offsets must be non-null when segments > 0");
    CHECK(thrown([&] { isobit::segmented_reduce(host(), static_cast<float const*>(nullptr), 10, falling, 1, out); }) ==
          "isobit::segmented_reduce: x must be non-null when n > 0");
    CHECK(thrown([&] { isobit::segmented_reduce(host(), x, 10, falling, 1, static_cast<float*>(nullptr)); }) ==
          "isobit::segmented_reduce: out must be non-null when segments > 0");
    CHECK(out[0] == 7);
    CHECK(reduce(falling, 1) == "nothing"); // control: its first segment is right
    CHECK(out[0] == 0);
  }

  TEST_CASE("offsets that lie on the device are checked there, and nothing is written") {
    auto const x = wild(100);
    uint32_t const offsets[] = {0, 20, 10, 101, 90}, good[] = {0, 20, 20, 90, 100};
    isobit::index_report report{};
    auto const check = [&](uint32_t const* o, uint32_t width) {
      simt::launch(1, width, isobit::device::check_offsets_kernel<uint32_t>, o, uint64_t{4}, uint64_t{100}, &report);
    };
    auto const run = [&](uint32_t const* o) {
      workspace_memory<float> memory(100, 4, 12);
      auto out = poisoned<float>(4, 0xab);
      simt::launch(2, 64,
                   isobit::device::segmented_reduce_kernel<isobit::csr<uint32_t>, isobit::contiguous<float>,
                                                           isobit::detail::results<float>, plain<float>>,
                   isobit::csr{o, uint64_t{4}}, isobit::contiguous<float>{x.data()},
                   isobit::detail::results<float>{out.data()}, memory.get(), plain<float>{}, &report);
      return out;
    };
    for (uint32_t width : {1u, 33u, 256u}) {
      check(offsets, width);
      CHECK(report.count == 3); // falls at 2, beyond n at 3, falls at 4
      CHECK(report.first == 2);
      CHECK(bits_equal(run(offsets), poisoned<float>(4, 0xab)));
      check(good, width);
      CHECK(report.count == 0);
      CHECK(report.first == ~uint64_t{0});
      CHECK_FALSE(bits_equal(run(good), poisoned<float>(4, 0xab)));
    }
  }
}
