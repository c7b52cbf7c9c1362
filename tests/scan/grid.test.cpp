// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans by all blocks of a launch on the simulator, plain and compensated sums of arrays: every geometry, alignment and
// schedule gives the host's bits.
#include "grid.hpp"

using namespace scan_test;
using isobit::contiguous;
using isobit::detail::scan_form;

TEST_CASE("sums of floats: lengths around the chunks, widths 1 to 1024, any number of blocks") {
  auto const x = floats(40000);
  contiguous<float> const load{x.data()};
  for (std::uint64_t n : {0u, 1u, 2u, 511u, 512u, 513u, 1024u, 1025u, 4095u, 4096u, 4097u, 9000u})
    check_grid(scan_form<false>{}, load, n, plain<float>{}, {.blocks = {1, 7, 32, 64, 100}, .grids = {1, 3, 8}, .schedules = 3, .seed = n});
  check_grid(scan_form<true>{}, load, 9001, plain<float>{}, {.blocks = {5, 31, 33, 96}, .grids = {1, 4}, .schedules = 4});
  check_grid(scan_form<true>{}, load, 40000, plain<float>{}, {.blocks = {256, 1000}, .grids = {2, 5}, .schedules = 3});
  check_grid(scan_form<false>{}, load, 40000, plain<float>{}, {.blocks = {256, 1024}, .grids = {2, 11}, .schedules = 3});
}

TEST_CASE("arrays that begin anywhere, and in place") {
  auto const x = floats(6000);
  for (std::size_t offset : {0u, 4u, 8u})
    for (bool one : {true, false}) {
      auto const wanted = by_thread(scan_form<true>{}, contiguous<float>{x.data()}, x.size(), plain<float>{});
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            testing::placed<float> a(x, offset);
            contiguous<float> const load{a.data()};
            isobit::detail::results<float> const store{a.data()};
            if (one)
              one_pass(c, scan_form<true>{}, load, x.size(), store, plain<float>{});
            else
              two_passes(c, scan_form<true>{}, load, x.size(), store, plain<float>{});
            return std::vector<float>(a.begin(), a.end());
          },
          [&] { return std::vector<float>(wanted.begin(), wanted.end() - 1); },
          {.blocks = {64, 96}, .grids = {1, 6}, .schedules = 5}));
    }
}

TEST_CASE("compensated sums; narrow elements with carries in float") {
  auto const x = floats(5000);
  std::vector<isobit::bf16> b(5000);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = isobit::encode<isobit::bf16>(x[i]);
  testing::host_options const o{.blocks = {8, 64, 96}, .grids = {1, 5}, .schedules = 3};
  check_grid(scan_form<false>{}, contiguous<float>{x.data()}, 5000, compensated<float>{}, o);
  check_grid(scan_form<true>{}, contiguous<isobit::bf16>{b.data()}, 5000, plain<float>{}, o);
  // Outputs of 16 bits, each rounded once.
  std::vector<isobit::bf16> const ones(9000, isobit::encode<isobit::bf16>(1.f));
  std::vector<isobit::bf16> out(9000), wanted(9000);
  isobit::inclusive_scan(host(), ones.data(), ones.size(), wanted.data());
  one_pass({.grid = {3}, .block = {64}, .seed = 5}, scan_form<false>{}, contiguous<isobit::bf16>{ones.data()}, 9000,
           isobit::detail::results<isobit::bf16>{out.data()}, plain<float>{});
  CHECK(bits_equal(out, wanted));
  CHECK(isobit::decode(out[4999]) == 4992.f);
}

TEST_CASE("-0 and special values in every chunk") {
  std::vector<float> x(3000, -0.f);
  for (std::size_t at : {0u, 31u, 511u, 512u, 1500u, 2999u})
    for (float special : {isobit::from_bits<float>(0x7f800000u), isobit::from_bits<float>(0xffc12345u), 0.f}) {
      auto y = x;
      y[at] = special;
      check_grid(scan_form<false>{}, contiguous<float>{y.data()}, y.size(), plain<float>{},
                 {.blocks = {32}, .grids = {4}, .schedules = 3, .seed = at});
    }
}
