// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torch_hash against the values that torch computed, in every group, and at the edges.
#include "../golden/torch_hash.hpp"

#include <doctest/doctest.h>
#include <isobit/device/torch_hash_kernel.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/simt/launch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using isobit::host;
using isobit::torch_hash;

// tools/golden/torch_hash.py's pattern.
std::uint64_t pattern(std::uint64_t i, int bits) {
  std::vector<std::uint64_t> const special =
      bits == 64 ? std::vector<std::uint64_t>{0,
                                              1ull << 63,
                                              1,
                                              0x7ff0000000000000,
                                              0xfff0000000000001,
                                              0x7ff8000000000055,
                                              0x8000000000000001}
      : bits == 32
          ? std::vector<std::uint64_t>{0, 1ull << 31, 1, 0x7f800000, 0xff800001, 0x7fc12345, 0x807fffff, 0x400000}
      : bits == 16 ? std::vector<std::uint64_t>{0,      1 << 15, 1,      0x7c00, 0xfc01, 0x7e55,
                                                0x83ff, 0x7f80,  0xff81, 0x7fc5, 0x40,   0x200}
                   : std::vector<std::uint64_t>{0, 0x80, 1, 0x7f, 0xff};
  return i % 3 == 0 ? special[i / 3 % special.size()] : ((i + 1) * 0x9e3779b97f4a7c15u) >> (64 - bits);
}

template <class T> std::vector<unsigned char> elements(std::uint64_t count) {
  std::vector<unsigned char> bytes(count * sizeof(T) + 8);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t x = pattern(i, 8 * int(sizeof(T)));
    if constexpr (isobit::dtype_of<T> == isobit::dtype::boolean) x = x % 3 == 0;
    std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
  }
  return bytes;
}

template <int N, class T> void block_kernel(T const* x, std::uint64_t n, std::uint64_t* out) {
  ISOBIT_SHARED isobit::block_storage<N, std::uint64_t> memory;
  auto const b = isobit::block(memory);
  out[b.thread_rank()] = torch_hash(b, x, n);
}
// [outer, reduced, inner] with every number of parts of a row, by the kernel of the launcher.
template <class T> void check_kernel(T const* x, std::uint64_t outer, std::uint64_t reduced, std::uint64_t inner,
                                     std::vector<std::uint64_t> const& want) {
  for (std::uint64_t parts : {1u, 3u})
    for (unsigned width : {32u, 50u}) {
      std::vector<std::uint64_t> out(outer * inner);
      auto const load = isobit::stored(x);
      isobit::simt::launch({.grid = {2}, .block = {width}}, isobit::device::torch_hash_kernel<decltype(load), 64>, load,
                           outer, reduced, inner, parts, out.data());
      CHECK(out == want);
    }
}
template <int P, class T> void tile_kernel(T const* x, std::uint64_t n, std::uint64_t* out) {
  out[isobit::machine::thread_rank()] = torch_hash(isobit::tile<P>{}, x, n);
}

template <class T> void check_case(golden::torch_hash_case const& c) {
  std::uint64_t count = 1;
  for (auto e : c.extents) count *= e;
  auto const bytes = elements<T>(count);
  auto const* const x = reinterpret_cast<T const*>(bytes.data());
  auto const rank = static_cast<std::uint32_t>(c.extents.size());

  std::vector<std::uint64_t> out(c.hashes.size() + 1, ~0ull);
  torch_hash(host(), x, c.extents.data(), rank, c.dims, out.data());
  CHECK(out.back() == ~0ull);
  out.pop_back();
  CHECK(out == c.hashes);
  if (rank == 3 && c.dims == 1) check_kernel(x, 1, c.extents[0], c.extents[1] * c.extents[2], c.hashes);
  if (rank == 3 && c.dims == 2) check_kernel(x, c.extents[0], c.extents[1], c.extents[2], c.hashes);
  if (rank == 3 && c.dims == 4) check_kernel(x, c.extents[0] * c.extents[1], c.extents[2], 1, c.hashes);
  if (c.hashes.size() != 1 || count == 0) return;
  check_kernel(x, 1, count, 1, c.hashes);
  // The whole tensor: every group.
  auto const want = c.hashes[0];
  CHECK(torch_hash(host(), x, count) == want);
  CHECK(torch_hash(host(isobit::threads(3)), x, count) == want);
  CHECK(torch_hash(isobit::thread{}, x, count) == want);
  for (unsigned width : {1u, 31u, 33u, 64u, 100u}) {
    std::vector<std::uint64_t> all(width, ~0ull);
    isobit::simt::launch({.grid = {1}, .block = {width}}, block_kernel<256, T>, x, count, all.data());
    CHECK(all == std::vector<std::uint64_t>(width, want));
  }
  std::vector<std::uint64_t> all(64, ~0ull);
  isobit::simt::launch({.grid = {1}, .block = {64}}, tile_kernel<8, T>, x, count, all.data());
  CHECK(all == std::vector<std::uint64_t>(64, want));
}

} // namespace

TEST_CASE("torch.hash_tensor: every type, whole and by dimension") {
  std::size_t seen = 0;
  for (auto const& c : golden::torch_hashes) {
    std::string const type = c.type;
    CAPTURE(type);
    CAPTURE(c.dims);
    CAPTURE(c.extents.size());
    ++seen;
    if (type == "double")
      check_case<double>(c);
    else if (type == "float")
      check_case<float>(c);
    else if (type == "isobit::f16")
      check_case<isobit::f16>(c);
    else if (type == "isobit::bf16")
      check_case<isobit::bf16>(c);
    else if (type == "std::uint8_t")
      check_case<std::uint8_t>(c);
    else if (type == "std::int8_t")
      check_case<std::int8_t>(c);
    else if (type == "std::int16_t")
      check_case<std::int16_t>(c);
    else if (type == "std::int32_t")
      check_case<std::int32_t>(c);
    else if (type == "std::int64_t")
      check_case<std::int64_t>(c);
    else if (type == "bool")
      check_case<bool>(c);
    else
      FAIL("an unknown type in the golden file");
  }
  CHECK(seen == 110);
}

TEST_CASE("torch_hash widens every 16-bit float to the double of the same value, and f32 alike") {
  for (std::uint32_t b = 0; b < 65536; ++b) {
    isobit::f16 const h{static_cast<std::uint16_t>(b)};
    isobit::bf16 const w{static_cast<std::uint16_t>(b)};
    if (!isobit::is_nan(h)) REQUIRE(isobit::torch_lane(h) == isobit::to_bits(double(isobit::decode(h))));
    if (!isobit::is_nan(w)) REQUIRE(isobit::torch_lane(w) == isobit::to_bits(double(isobit::decode(w))));
    float const f = isobit::from_bits<float>(b * 65521u);
    if (!isobit::is_nan(f)) REQUIRE(isobit::torch_lane(f) == isobit::to_bits(double(f)));
  }
}

TEST_CASE("the vectors of the host and the plain loop give the same exclusive or") {
  auto const check = [](auto zero) {
    using T = decltype(zero);
    std::uint64_t z = 1;
    for (int kind = 0; kind < 4; ++kind)
      for (std::uint64_t n : {0u, 1u, 63u, 64u, 511u, 512u, 513u, 1024u, 5000u}) {
        std::unique_ptr<T[]> const memory(new T[n + 1]);
        std::span<T> const x(memory.get(), n);
        for (T& v : x) {
          z = z * 6364136223846793005u + 1442695040888963407u;
          std::uint64_t bits = z >> 20;
          // Any bits; mostly normal numbers; zeros of both signs among them; one special stretch.
          if (kind > 0 && isobit::dtype_of<T> != isobit::dtype::boolean && z % 997 != 0)
            bits = sizeof(T) == 4 ? 0x3f000000 | (bits & 0x80ffffff) : (0x3c00 | (bits & 0x83ff));
          if (kind > 1 && z >> 60 == 0) bits &= ~0ull << (8 * sizeof(T) - 1);
          if constexpr (isobit::dtype_of<T> == isobit::dtype::boolean) bits &= 1;
          std::memcpy(static_cast<void*>(&v), &bits, sizeof(T));
        }
        std::uint64_t want = 0;
        for (T const& v : x) want ^= isobit::torch_lane(v);
        CHECK(torch_hash(host(), x.data(), n) == want);
        std::vector<unsigned char> shifted(n * sizeof(T) + 1);
        if (n > 0) std::memcpy(shifted.data() + 1, x.data(), n * sizeof(T));
        if constexpr (sizeof(T) == 1) CHECK(torch_hash(host(), reinterpret_cast<T*>(shifted.data() + 1), n) == want);
      }
  };
  check(0.0), check(0.f), check(isobit::f16{}), check(isobit::bf16{}), check(true);
  check(std::uint8_t{}), check(std::int8_t{}), check(std::int16_t{}), check(std::int32_t{}), check(std::int64_t{});
}

TEST_CASE("torch_hash of views, and its blind spots: the controls of the digest's own tests") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  CHECK(torch_hash(host(), isobit::tensor_view<float, 2>{x.data(), {2, 2}, {3, 1}}) ==
        (isobit::to_bits(1.0) ^ isobit::to_bits(2.0) ^ isobit::to_bits(4.0) ^ isobit::to_bits(5.0)));
  std::vector<double> const a{1, 2}, b{2, 1}, c{std::numeric_limits<double>::infinity()};
  CHECK(torch_hash(host(), a.data(), 2) == torch_hash(host(), b.data(), 2));
  CHECK(torch_hash(host(), a.data(), 2) == torch_hash(host(), c.data(), 1));
  CHECK(isobit::digest(host(), a.data(), {2}) != isobit::digest(host(), b.data(), {2}));
}

TEST_CASE("torch_hash refuses what is not there") {
  float x[4] = {};
  std::uint64_t out[4] = {7, 7, 7, 7}, extents[] = {2, 2}, huge[] = {1ull << 40, 1ull << 40};
  CHECK_THROWS_AS(torch_hash(host(), static_cast<float*>(nullptr), 1), isobit::invalid_argument);
  CHECK_THROWS_AS(torch_hash(host(), x, extents, 2, 4, out), isobit::invalid_argument);
  CHECK_THROWS_AS(torch_hash(host(), x, huge, 2, 1, out), isobit::invalid_argument);
  CHECK_THROWS_AS(torch_hash(host(), static_cast<float*>(nullptr), extents, 2, 1, out), isobit::invalid_argument);
  CHECK_THROWS_AS(torch_hash(host(), x, extents, 2, 1, nullptr), isobit::invalid_argument);
  CHECK(out[0] == 7);
  CHECK(torch_hash(host(), static_cast<float*>(nullptr), 0) == 0);
  static_assert(!isobit::torch_hashable<std::uint16_t> && !isobit::torch_hashable<isobit::e4m3>);
}
