// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Segments told by head flags or keys have the bits of segments told by offsets: on the host, with an executor, by a
// simulated block of any width. Keys and flags that overlap the results are refused.
#include "common.hpp"

#include <doctest/doctest.h>
#include <isobit/group/threads.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

using namespace scan_test;
namespace simt = isobit::simt;
namespace testing = isobit::testing;

namespace {

std::vector<std::int64_t> const lengths = {1, 2, 31, 32, 33, 1, 1, 1023, 1024, 1025, 2500, 1, 5, 64};

struct segments {
  std::vector<std::int64_t> offsets = offsets_of(lengths);
  std::vector<float> x = floats(static_cast<std::size_t>(offsets.back()));
  std::vector<unsigned char> flags = std::vector<unsigned char>(x.size());
  std::vector<short> keys = std::vector<short>(x.size());
  segments() {
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      for (auto i = static_cast<std::size_t>(offsets[s]); i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
        flags[i] = i == static_cast<std::size_t>(offsets[s]) ? static_cast<unsigned char>(1 + s) : 0;
        keys[i] = static_cast<short>(s % 3); // keys come again, but not next to each other
      }
  }
  template <class Scan> std::vector<float> by(Scan const& scan) const {
    std::vector<float> out(x.size(), -7.f);
    scan(out.data());
    return out;
  }
};

template <bool Exclusive, bool ByHeads>
void block_kernel(float const* x, std::uint64_t n, std::int64_t const* offsets, std::uint64_t count,
                  unsigned char const* flags, float* out) {
  ISOBIT_SHARED isobit::block_storage<1024, float> memory;
  auto const b = isobit::block(memory);
  if constexpr (ByHeads && Exclusive)
    isobit::segmented_exclusive_scan(b, x, n, isobit::head_flags(flags), out);
  else if constexpr (ByHeads)
    isobit::segmented_inclusive_scan(b, x, n, isobit::head_flags(flags), out);
  else if constexpr (Exclusive)
    isobit::segmented_exclusive_scan(b, x, offsets, count, out);
  else
    isobit::segmented_inclusive_scan(b, x, offsets, count, out);
}

} // namespace

TEST_CASE("host: offsets, flags and keys, inclusive and exclusive, with and without an executor") {
  segments const s;
  std::size_t const n = s.x.size(), count = lengths.size();
  auto const* x = s.x.data();
  auto const wanted = one_by_one(s.x, s.offsets, -7.f);
  auto const check = [&](auto const& g) {
    CHECK(bits_equal(s.by([&](float* o) { segmented_inclusive_scan(g, x, n, isobit::head_flags(s.flags.data()), o); }), wanted));
    CHECK(bits_equal(s.by([&](float* o) { inclusive_scan_by_key(g, s.keys.data(), x, n, o); }), wanted));
    auto const exclusive =
        s.by([&](float* o) { segmented_exclusive_scan(g, x, n, s.offsets.data(), count, o, plain<float>{}, 2.5f); });
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<float> alone(static_cast<std::size_t>(lengths[k]));
      isobit::exclusive_scan(host(), x + s.offsets[k], lengths[k], alone.data(), plain<float>{}, 2.5f);
      CHECK(bits_equal(std::span(exclusive).subspan(static_cast<std::size_t>(s.offsets[k]), alone.size()), alone));
    }
    CHECK(bits_equal(s.by([&](float* o) {
      segmented_exclusive_scan(g, x, n, isobit::head_flags(s.flags.data()), o, plain<float>{}, 2.5f);
    }), exclusive));
    CHECK(bits_equal(s.by([&](float* o) { exclusive_scan_by_key(g, s.keys.data(), x, n, o, plain<float>{}, 2.5f); }), exclusive));
  };
  check(host());
  check(host(isobit::threads(3)));
}

TEST_CASE("B14 and B02: flags that do not mark the first element; one key over 250,000 elements") {
  int const x[] = {5, 2, 3, 1};
  bool const flags[] = {false, false, true, false};
  int out[4] = {};
  segmented_inclusive_scan(host(), x, 4, isobit::head_flags(flags), out);
  CHECK(std::vector<int>(out, out + 4) == std::vector<int>{5, 7, 3, 4});
  segmented_exclusive_scan(host(), x, 4, isobit::head_flags(flags), out);
  CHECK(std::vector<int>(out, out + 4) == std::vector<int>{0, 5, 0, 3});
  std::vector<double> const tenths(250000, 0.1);
  std::vector<int> const keys(250000, 7);
  std::vector<double> sums(250000);
  inclusive_scan_by_key(host(), keys.data(), tenths.data(), 250000, sums.data(), compensated<double>{});
  CHECK(sums.back() == 25000.0);
}

TEST_CASE("a simulated block of any width: offsets and flags") {
  segments const s;
  auto const wanted = one_by_one(s.x, s.offsets, -7.f);
  auto const exclusive = s.by([&](float* o) {
    isobit::segmented_exclusive_scan(host(), s.x.data(), s.x.size(), s.offsets.data(), lengths.size(), o);
  });
  auto const check = [&](auto const& kernel, std::vector<float> const& reference) {
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          auto out = s.x; // in place
          simt::launch(c, kernel, static_cast<float const*>(out.data()), std::uint64_t(out.size()), s.offsets.data(),
                       std::uint64_t(lengths.size()), s.flags.data(), out.data());
          return out;
        },
        [&] { return reference; }, {.blocks = {1, 7, 32, 33, 96, 100, 256}, .grids = {1}, .schedules = 3}));
  };
  check(block_kernel<false, false>, wanted);
  check(block_kernel<false, true>, wanted);
  check(block_kernel<true, false>, exclusive);
  check(block_kernel<true, true>, exclusive);
}

TEST_CASE("results may not overlap the flags or the keys") {
  std::vector<float> x(8, 1.f), keys(8, 2.f), out(8, 42.f);
  CHECK_THROWS_AS(inclusive_scan_by_key(host(), keys.data(), x.data(), 8, keys.data()), isobit::invalid_argument);
  CHECK_THROWS_AS(exclusive_scan_by_key(host(), x.data(), x.data(), 8, x.data()), isobit::invalid_argument);
  CHECK_THROWS_AS(segmented_inclusive_scan(host(), x.data(), 8, isobit::head_flags(x.data() + 4), x.data()),
                  isobit::invalid_argument);
  CHECK_THROWS_AS(inclusive_scan_by_key(host(), static_cast<int*>(nullptr), x.data(), 8, out.data()),
                  isobit::invalid_argument);
  CHECK_THROWS_AS(inclusive_scan_by_key(host(), keys.data(), x.data(), -1, out.data()), isobit::invalid_argument);
  CHECK_THROWS_AS(inclusive_scan_by_key(host(), keys.data(), x.data(), 7, x.data() + 1), isobit::invalid_argument);
  CHECK(x == std::vector<float>(8, 1.f));
  CHECK(keys == std::vector<float>(8, 2.f));
  CHECK(out == std::vector<float>(8, 42.f));
  inclusive_scan_by_key(host(), x.data(), x.data(), 8, out.data()); // the elements may be the keys
  CHECK(out[7] == 8.f);
}
