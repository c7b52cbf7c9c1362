// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of cooperative groups as isobit's, with a stand-in that has the members of cg::thread_block_tile and works in
// the simulator. engines_views.cu compiles the real ones.
#include <doctest/doctest.h>

#include <isobit/interop/cooperative_groups.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cmath>
#include <vector>

namespace {

template <unsigned N> struct stand_in_tile {
  static constexpr unsigned num_threads() { return N; }
  unsigned thread_rank() const { return isobit::machine::lane() % N; }
  unsigned meta_group_rank() const { return isobit::machine::thread_rank() / N; }
  template <class T> T shfl_xor(T const& x, unsigned mask) const {
    return isobit::machine::shuffle_xor(0xffffffffu, x, mask);
  }
};
struct stand_in_coalesced { // a size that only the run knows
  unsigned num_threads() const { return 3; }
  unsigned thread_rank() const { return 0; }
  unsigned meta_group_rank() const { return 0; }
  template <class T> T shfl_xor(T const& x, unsigned) const { return x; }
};
static_assert(isobit::static_tile<stand_in_tile<8>>);
static_assert(!isobit::static_tile<stand_in_coalesced> && !isobit::static_tile<int>);
static_assert(std::is_same_v<decltype(isobit::group_of(stand_in_tile<16>())), isobit::tile<16>>);

template <unsigned N> int differences(unsigned width) {
  int const n = 45;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 << i % 9);
  float const expected = isobit::reduce(isobit::host(), x.data(), n);
  std::vector<float> sums(width, -1.0f);
  std::vector<int> wrong_ranks(width, 1);
  isobit::simt::launch(2, width, [&] {
    stand_in_tile<N> const tile;
    auto const g = isobit::group_of(tile);
    float const sum = isobit::reduce(g, x.data(), n);
    auto const t = isobit::machine::thread_rank();
    sums[t] = sum;
    wrong_ranks[t] = g.thread_rank() != tile.thread_rank() || g.tile_rank() != tile.meta_group_rank() || g.size() != N;
  });
  int different = 0;
  for (unsigned t = 0; t < width; ++t)
    different += !isobit::testing::bits_equal(sums[t], expected) || wrong_ranks[t] != 0;
  return different;
}

} // namespace

TEST_CASE("cooperative groups: tiles reduce with the bits of a host") {
  for (unsigned width : {32u, 64u, 96u}) {
    CHECK(differences<1>(width) == 0);
    CHECK(differences<2>(width) == 0);
    CHECK(differences<8>(width) == 0);
    CHECK(differences<32>(width) == 0);
  }
}

TEST_CASE("cooperative groups: a block of MXFP8 by a tile") {
  using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  std::vector<float> x(64);
  for (std::size_t i = 0; i < 64; ++i) x[i] = std::cos(static_cast<float>(i)) * 100;
  std::vector<isobit::e4m3> codes(64), expected(64);
  std::vector<isobit::e8m0> scales(2), expected_scales(2);
  isobit::quantize(isobit::host(), recipe{}, x.data(), 2, 32, expected.data(), expected_scales.data());
  isobit::simt::launch(1, 16, [&] {
    stand_in_tile<8> const tile;
    auto const b = tile.meta_group_rank();
    auto const scale = isobit::quantize_block(
        isobit::group_of(tile), recipe{}, 32u, [&](isobit::uint32_t i) { return x[32 * b + i]; },
        [&](isobit::uint32_t i, isobit::e4m3 c) { codes[32 * b + i] = c; });
    if (tile.thread_rank() == 0) scales[b] = scale;
  });
  CHECK(codes == expected);
  CHECK(scales == expected_scales);
  codes[40].bits ^= 1;
  CHECK_FALSE(codes == expected); // control
}
