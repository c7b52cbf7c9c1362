// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests of quantised tensors: layouts and padding do not count, each part shows in its own digest and in the joint
// one.
#include <doctest/doctest.h>
#include <isobit/fingerprint.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/quantize.hpp>
#include <isobit/simt/launch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using isobit::digest128;
using isobit::digest_quantized;
using isobit::e2m1x2;
using isobit::e4m3;
using isobit::e8m0;
using isobit::host;
using isobit::matrix;

// The 128 x 4 tiles of cuBLAS: row r and column c of the scales.
struct tiles_128x4 {
  std::uint64_t padded_columns;
  std::uint64_t operator()(std::uint64_t r, std::uint64_t c) const {
    std::uint64_t const tile = r / 128 * (padded_columns / 4) + c / 4;
    return tile * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
  }
};

template <class Digest, class Codes, class Scales>
void block_kernel(Codes codes, Scales scales, float const* global, std::uint64_t globals, Digest* out) {
  ISOBIT_SHARED isobit::block_storage<64, isobit::digest_sum> memory;
  auto const b = isobit::block(memory);
  out[b.thread_rank()] = digest_quantized(b, codes, scales, global, globals);
}

} // namespace

TEST_CASE("MXFP8: codes, scales and both, linear and in tiles with any padding") {
  constexpr std::uint64_t rows = 37, cols = 100, blocks = 4; // 100 = 3 * 32 + 4
  std::vector<float> x(rows * cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i)) * float(1 + i % 50);
  using recipe = isobit::mxfp8<e4m3, isobit::mx::floor>;
  std::vector<e4m3> codes(x.size());
  std::vector<e8m0> scales(rows * blocks);
  isobit::quantize(host(), recipe{}, x.data(), rows, cols, codes.data(), scales.data());

  auto const want = digest_quantized(host(), matrix(codes.data(), rows, cols), matrix(scales.data(), rows, blocks));
  // The parts are the digests of the tensors.
  CHECK(want.codes == isobit::digest(host(), codes.data(), {rows, cols}));
  CHECK(want.scales == isobit::digest(host(), scales.data(), {rows, blocks}));
  CHECK(want.global == isobit::digest(host(), static_cast<float*>(nullptr), {0}));

  for (int padding : {0, 0xff, 0x7f}) {
    std::vector<e8m0> tiled(128 * blocks, e8m0{static_cast<std::uint8_t>(padding)});
    tiles_128x4 const map{blocks};
    for (std::uint64_t r = 0; r < rows; ++r)
      for (std::uint64_t c = 0; c < blocks; ++c) tiled[map(r, c)] = scales[r * blocks + c];
    auto const code_matrix = matrix(codes.data(), rows, cols);
    auto const scale_matrix = matrix(tiled.data(), rows, blocks, map);
    CHECK(digest_quantized(host(), code_matrix, scale_matrix) == want);
    auto const by_layout = matrix(tiled.data(), rows, blocks, isobit::scale_layout::tiles_128x4{});
    CHECK(digest_quantized(host(), code_matrix, by_layout) == want);
    CHECK(digest_quantized(host(isobit::threads(2)), code_matrix, scale_matrix) == want);
    CHECK(digest_quantized(isobit::thread{}, code_matrix, scale_matrix) == want);
    for (unsigned width : {1u, 40u, 64u}) {
      std::vector<isobit::quantized_digest<std::uint64_t>> out(width);
      isobit::simt::launch({.grid = {1}, .block = {width}},
                           block_kernel<isobit::quantized_digest<std::uint64_t>, decltype(code_matrix),
                                        decltype(scale_matrix)>,
                           code_matrix, scale_matrix, static_cast<float const*>(nullptr), std::uint64_t(0), out.data());
      CHECK(std::all_of(out.begin(), out.end(), [&](auto const& d) { return d == want; }));
    }
    auto const wide = digest_quantized<digest128>(host(), code_matrix, scale_matrix);
    CHECK(wide.codes.low == want.codes);
    CHECK(wide.scales.low == want.scales);
    CHECK(wide.joint.low == want.joint);
    CHECK(wide.joint.high != want.joint);
  }
  // One code, one scale: its own digest and the joint one change, the other does not.
  auto changed = codes;
  changed[1234].bits ^= 1;
  auto d = digest_quantized(host(), matrix(changed.data(), rows, cols), matrix(scales.data(), rows, blocks));
  CHECK(d.codes != want.codes);
  CHECK(d.scales == want.scales);
  CHECK(d.joint != want.joint);
  scales[17].bits ^= 1;
  d = digest_quantized(host(), matrix(codes.data(), rows, cols), matrix(scales.data(), rows, blocks));
  CHECK(d.codes == want.codes);
  CHECK(d.scales != want.scales);
  CHECK(d.joint != want.joint);
  // Codes moved up by a factor that the scale takes back: both show.
  CHECK(digest_quantized(host(), matrix(codes.data(), cols, rows), matrix(scales.data(), rows, blocks)).codes !=
        want.codes);
}

TEST_CASE("NVFP4: packed codes of an odd width, their padding, and the tensor's scale") {
  constexpr std::uint64_t rows = 9, cols = 35, blocks = 3, pitch = (cols + 1) / 2;
  std::vector<e2m1x2> codes(rows * pitch);
  std::vector<e4m3> scales(rows * blocks);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i].bits = static_cast<std::uint8_t>(i * 37);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i].bits = static_cast<std::uint8_t>(i * 5 % 127);
  for (std::uint64_t r = 0; r < rows; ++r) codes[r * pitch + pitch - 1].bits &= 0x0f;
  float const global = 0.0123f, other = 0.0124f;
  auto const of = [&](std::vector<e2m1x2> const& c, float const* scale, std::uint64_t n) {
    return digest_quantized(host(), matrix(c.data(), rows, cols), matrix(scales.data(), rows, blocks), scale, n);
  };
  auto const want = of(codes, &global, 1);
  auto dirty = codes;
  for (std::uint64_t r = 0; r < rows; ++r) dirty[r * pitch + pitch - 1].bits |= 0xb0;
  CHECK(of(dirty, &global, 1) == want);
  // The same codes, one in a byte.
  std::vector<isobit::e2m1> loose;
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < cols; ++c) {
      auto const both = codes[r * pitch + c / 2];
      loose.push_back(c % 2 == 0 ? both.even() : both.odd());
    }
  CHECK(digest_quantized(host(), matrix(loose.data(), rows, cols), matrix(scales.data(), rows, blocks), &global, 1) ==
        want);
  CHECK(want.codes == isobit::digest(host(), loose.data(), {rows, cols}));
  auto const rescaled = of(codes, &other, 1), none = of(codes, nullptr, 0);
  CHECK(rescaled.codes == want.codes);
  CHECK(rescaled.scales == want.scales);
  CHECK(rescaled.global != want.global);
  CHECK(rescaled.joint != want.joint);
  CHECK(none.global != want.global);
  CHECK(none.joint != want.joint);
  // Codes and scales that change places: the joint digest sees the order of the parts.
  CHECK(isobit::detail::joint_of(want.codes, want.scales, want.global) == want.joint);
  CHECK(isobit::detail::joint_of(want.scales, want.codes, want.global) != want.joint);
}
