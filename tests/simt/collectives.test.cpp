// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/simt/launch.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace machine = isobit::machine;
namespace simt = isobit::simt;

namespace {

template <int Bytes> struct bytes {
  unsigned char b[Bytes];
  static bytes of(unsigned seed) {
    bytes x;
    for (int i = 0; i < Bytes; ++i) x.b[i] = static_cast<unsigned char>(seed * 37 + static_cast<unsigned>(i) * 11);
    return x;
  }
  bool operator==(bytes const& o) const { return std::memcmp(b, o.b, Bytes) == 0; }
};

template <int Bytes> void rotate() {
  for (isobit::uint64_t seed = 0; seed < 4; ++seed) {
    unsigned right = 0;
    simt::launch({.block = {64}, .seed = seed}, [&] {
      unsigned const t = machine::thread_rank(), from = (machine::lane() + 5) % 32;
      auto const got = machine::shuffle(0xffffffffu, bytes<Bytes>::of(t), from);
      right += got == bytes<Bytes>::of(t / 32 * 32 + from);
    });
    CHECK(right == 64);
  }
}

} // namespace

TEST_CASE("shuffles of values of 1 to 64 bytes") {
  rotate<1>();
  rotate<2>();
  rotate<3>();
  rotate<4>();
  rotate<7>();
  rotate<8>();
  rotate<12>();
  rotate<16>();
  rotate<31>();
  rotate<64>();
}

TEST_CASE("lanes outside of the mask take no part") {
  for (isobit::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<unsigned> sums(32, 0);
    simt::launch({.block = {32}, .seed = seed}, [&] {
      unsigned const i = machine::lane();
      unsigned const mask = i % 3 == 0 ? 0x49249249u : i % 3 == 1 ? 0x92492492u : 0x24924924u;
      unsigned sum = 0;
      for (unsigned from = i % 3; from < 32; from += 3) sum += machine::shuffle(mask, i, from);
      sums[i] = sum;
    });
    for (unsigned i = 0; i < 32; ++i) CHECK(sums[i] == (i % 3 == 0 ? 165u : i % 3 == 1 ? 176u : 155u));
  }
}

TEST_CASE("a lane may wait for two partners in turn, in either order of arrival") {
  for (isobit::uint64_t seed = 0; seed < 20; ++seed) {
    unsigned got[3] = {};
    simt::launch({.block = {3}, .seed = seed}, [&] {
      unsigned const i = machine::lane();
      if (i == 0) {
        got[0] = machine::shuffle(0b011u, 10u, 1, {"pair", 1});
        got[0] += machine::shuffle(0b101u, 20u, 2, {"pair", 2});
      } else if (i == 1) {
        got[1] = machine::shuffle(0b011u, 1u, 0, {"pair", 1});
      } else {
        got[2] = machine::shuffle(0b101u, 2u, 0, {"pair", 2});
      }
    });
    CHECK(got[0] == 3);
    CHECK(got[1] == 10);
    CHECK(got[2] == 20);
  }
}

TEST_CASE("ballots") {
  for (unsigned threads : {1u, 17u, 32u, 33u, 50u, 64u}) {
    unsigned right = 0;
    simt::launch({.block = {threads}, .seed = threads}, [&] {
      unsigned const t = machine::thread_rank(), first = t / 32 * 32;
      unsigned const lanes = threads - first < 32 ? threads - first : 32;
      unsigned const mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
      unsigned expected = 0;
      for (unsigned i = 0; i < lanes; ++i) expected |= unsigned((first + i) % 5 == 2) << i;
      right += machine::ballot(mask, t % 5 == 2) == expected;
    });
    CHECK(right == threads);
  }
}

TEST_CASE("a warp barrier orders the lanes of its mask") {
  for (isobit::uint64_t seed = 0; seed < 50; ++seed) {
    unsigned wrong = 0;
    simt::launch({.block = {64}, .seed = seed}, [&] {
      ISOBIT_SHARED unsigned values[64];
      unsigned const t = machine::thread_rank();
      values[t] = t;
      machine::sync_warp(0xffffffffu);
      unsigned const other = values[t ^ 7];
      machine::sync_warp(0xffffffffu);
      values[t] = other;
      machine::sync_warp(0xffffffffu);
      wrong += values[t ^ 7] != t;
    });
    CHECK(wrong == 0);
  }
}
