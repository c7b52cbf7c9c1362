// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest magnitude at every level, from one thread to ranks: one value, so that no scale depends on how a tensor was
// shared out. The Hadamard transform of matrices and the maximum that comes with it.
#include <doctest/doctest.h>

#include "copies_reference.hpp"

#include <isobit/device/hadamard_kernel.hpp>
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/simt/launch.hpp>

#include <algorithm>

namespace {

using namespace copies_reference;
using te = nvfp4<nv::te>;       // leaves NaNs out
using exact = nvfp4<nv::exact>; // a NaN wins
using rceil8 = mxfp8<e4m3, mx::rceil>;

template <class Recipe> uint32_t largest_of(std::vector<float> const& x) {
  uint32_t most = 0;
  for (float v : x) {
    uint32_t const m = to_bits(v) & 0x7fffffffu;
    if (m > 0x7f800000u && !Recipe::magnitude(from_bits<float>(0x7fc00000u))) continue;
    most = std::max(most, m);
  }
  return most;
}

struct loads {
  float const* x;
  ISOBIT_HD float operator()(uint64_t i) const { return x[i]; }
};

template <class Recipe, int P> ISOBIT_KERNEL void by_tile(float const* x, uint64_t n, uint32_t* out) {
  *out = amax<Recipe>(tile<P>{}, n, loads{x});
}
template <class Recipe> ISOBIT_KERNEL void by_block(float const* x, uint64_t n, uint32_t* out) {
  ISOBIT_SHARED block_storage<256, uint32_t> memory;
  uint32_t const most = amax<Recipe>(block(memory), n, loads{x});
  if (machine::thread_rank() == 0) *out = most;
}

template <class Recipe> struct magnitude {
  ISOBIT_HD uint32_t operator()(float x) const { return Recipe::magnitude(x); }
};
using most_of = with_operator<uint32_t, larger_magnitude>;

// The launcher's kernel.
template <class Recipe> uint32_t by_grid(simt::config const& c, std::vector<float> const& x) {
  std::vector<uint64_t> workspace(grid_workspace<uint32_t>::bytes(x.size()) / 8 + 1);
  uint32_t out = 0xcdcdcdcd;
  using load = decltype(map(x.data(), magnitude<Recipe>{}));
  simt::launch(c, device::reduce_kernel<tree, load, most_of>, map(x.data(), magnitude<Recipe>{}), uint64_t(x.size()),
               &out, static_cast<void*>(workspace.data()), most_of{});
  return out;
}

std::vector<float> numbers(uint64_t n, int special) {
  auto x = hard_floats(n, 11);
  if (special == 1 && n > 2) x[n / 2] = from_bits<float>(0xff800000u);
  if (special == 2 && n > 2) x[n - 1] = from_bits<float>(0xffc12345u);
  return x;
}

template <class Recipe> void every_level() {
  for (uint64_t n : {0, 1, 2, 31, 1000})
    for (int special : {0, 1, 2}) {
      auto const x = numbers(n, special);
      uint32_t const want = largest_of<Recipe>(x);
      CAPTURE(n);
      CAPTURE(special);
      CHECK(amax<Recipe>(host(), x.data(), n) == want);
      CHECK(amax<Recipe>(thread{}, n, loads{x.data()}) == want);
      auto const run = [&](auto const& kernel, uint32_t width) {
        uint32_t out = 0xcdcdcdcd;
        simt::launch({.grid = {1}, .block = {width}, .seed = n}, kernel, x.data(), n, &out);
        return out;
      };
      CHECK(run(by_tile<Recipe, 1>, 1) == want);
      CHECK(run(by_tile<Recipe, 8>, 8) == want);
      CHECK(run(by_tile<Recipe, 32>, 32) == want);
      for (uint32_t width : {1, 31, 100, 256}) CHECK(run(by_block<Recipe>, width) == want);
      for (uint32_t grid : {1, 3}) CHECK(by_grid<Recipe>({.grid = {grid}, .block = {64}, .seed = n}, x) == want);
    }
}

TEST_CASE("thread, tile, block, grid, host") {
  every_level<te>();
  every_level<exact>();
  every_level<rceil8>();
}

TEST_CASE("ranks: the maximum of their maxima, so one scale however the tensor is cut") {
  auto x = numbers(4096, 0);
  for (float& v : x) v = mul(v, 0x1p-40f);
  uint32_t const whole = amax<te>(host(), x.data(), uint64_t(x.size()));
  uint64_t const rows = 64, cols = 64;
  using copy = copy_in<orientation::row_wise, linear, te, true>;
  auto want = room<copy, te>(rows, cols, 0);
  quantize(host(), te{from_bits<float>(whole)}, x.data(), rows, cols, want.copy());
  for (uint64_t ranks : {1, 2, 3, 7, 64}) {
    uint32_t most = 0;
    std::vector<uint64_t> cuts{0};
    for (uint64_t k = 1; k <= ranks; ++k) cuts.push_back(rows * k / ranks);
    for (uint64_t k = 0; k < ranks; ++k)
      most = larger_magnitude{}(most, amax<te>(host(), x.data() + cuts[k] * cols, (cuts[k + 1] - cuts[k]) * cols));
    CHECK(most == whole);
    // Each rank quantises its rows.
    auto got = room<copy, te>(rows, cols, 0xcd);
    for (uint64_t k = 0; k < ranks; ++k) {
      uint64_t const n = cuts[k + 1] - cuts[k];
      copy const part{got.codes.data() + cuts[k] * cols / 2, got.scales.data() + cuts[k] * cols / 16, n * cols / 16,
                      false};
      quantize(host(), te{from_bits<float>(most)}, x.data() + cuts[k] * cols, n, cols, part);
    }
    CHECK(got.values() == want.values());
  }
  // Negative control: ranks with maxima of their own write other bytes.
  auto own = room<copy, te>(rows, cols, 0xcd);
  for (uint64_t k = 0; k < 2; ++k) {
    auto const* const half = x.data() + k * x.size() / 2;
    copy const part{own.codes.data() + k * 1024, own.scales.data() + k * 128, 128, false};
    quantize(host(), te{from_bits<float>(amax<te>(host(), half, uint64_t(2048)))}, half, rows / 2, cols, part);
  }
  CHECK_FALSE(own.values() == want.values());
}

TEST_CASE("Hadamard transform of a matrix, and the maximum after it") {
  uint64_t const rows = 5, cols = 112;
  auto x = hard_floats(rows * cols, 3);
  x[100] = from_bits<float>(0x7fc00000u);
  auto const check = [&](auto const& in, uint16_t signs) {
    std::vector<bf16> want(in.size()), got(in.size());
    std::vector<float> values(in.size());
    for (size_t i = 0; i < in.size(); i += 16) {
      float v[16];
      for (size_t j = 0; j < 16; ++j) v[j] = decode_element(in[i + j]);
      hadamard16(v, signs);
      for (size_t j = 0; j < 16; ++j) want[i + j] = encode<bf16>(v[j]), values[i + j] = decode(want[i + j]);
    }
    CHECK(hadamard<te>(host(), in.data(), rows, cols, got.data(), signs) == largest_of<te>(values));
    CHECK(bits_equal(got, want));
    for (auto [grid, block] : {std::pair<uint32_t, uint32_t>{1, 1}, {2, 31}, {3, 64}, {1, 256}})
      for (size_t offset : {0, 1}) {
        guarded<bf16> out(in.size() + offset, 0xcd);
        uint32_t most = 0;
        using T = typename std::remove_cvref_t<decltype(in)>::value_type;
        simt::launch({.grid = {grid}, .block = {block}, .seed = block}, device::hadamard_kernel<te, T>, in.data(),
                     rows * cols / 16, signs, out.data() + offset, &most);
        auto values_out = out.values();
        values_out.erase(values_out.begin(), values_out.begin() + static_cast<long>(offset));
        CHECK(bits_equal(values_out, want));
        CHECK(out.guards_untouched());
        CHECK(most == largest_of<te>(values));
      }
  };
  check(x, hadamard_signs);
  check(narrowed<bf16>(x), random_hadamard_signs({7, 1}));
  CHECK(random_hadamard_signs({7, 1}) != random_hadamard_signs({7, 2}));
  CHECK(random_hadamard_signs({7, 1}) == (stochastic{7, 1}.bits(0) & 0xffff));

  std::vector<bf16> out(rows * cols);
  CHECK_THROWS_WITH(hadamard<te>(host(), x.data(), rows, 111, out.data()),
                    doctest::Contains("cols must be a multiple of 16"));
  CHECK_THROWS_WITH(hadamard<te>(host(), x.data(), rows, cols, nullptr), doctest::Contains("out must be non-null"));
}

} // namespace
