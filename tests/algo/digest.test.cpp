// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Digests on the host and in simulated kernels: golden values, parts that add, what must change them, and bad input.
#include "../everyone.hpp"
#include "../golden/digest.hpp"

#include <doctest/doctest.h>
#include <isobit/arith/op.hpp>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/invariant.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using isobit::digest;
using isobit::digest_sum;
using isobit::host;
using isobit::testing::bits_equal;
namespace simt = isobit::simt;
namespace testing = isobit::testing;
using bytes = std::vector<unsigned char>;

bytes pattern(std::size_t n) {
  bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<unsigned char>(i * i + 3 * i + 7 * (i >> 8));
  return b;
}
template <class T> std::uint64_t of(std::vector<T> const& x) { return digest(host(), x.data(), {x.size()}); }

// What a fingerprint without positions would say: the words' exclusive or.
template <class T> std::uint64_t exclusive_or(std::vector<T> const& x) {
  std::uint64_t h = 0;
  for (T v : x) {
    double const d = static_cast<double>(v);
    std::uint64_t w;
    std::memcpy(&w, &d, 8);
    h ^= w;
  }
  return h;
}

// Runs `change` on random data many times; counts the times that the digest and the weak fingerprint stay equal.
struct misses {
  long strong = 0, weak = 0;
};
template <class T, class Fill, class Change> misses trials(long count, std::size_t n, Fill fill, Change change) {
  std::mt19937_64 random(n);
  misses m;
  std::vector<T> x(n);
  for (long t = 0; t < count; ++t) {
    for (auto& v : x) v = fill(random);
    auto const before = of(x), weak_before = exclusive_or(x);
    auto const copy = x;
    change(x, random);
    if (std::memcmp(copy.data(), x.data(), n * sizeof(T)) == 0) continue;
    m.strong += of(x) == before;
    m.weak += exclusive_or(x) == weak_before;
  }
  return m;
}
long trial_count() { return std::getenv("ISOBIT_EXHAUSTIVE") != nullptr ? 10'000'000 : 100'000; }

float any_float(std::mt19937_64& r) {
  return isobit::from_bits<float>(static_cast<std::uint32_t>(r() & 0x807fffffu) |
                                  static_cast<std::uint32_t>(120 + r() % 16) << 23);
}

} // namespace

TEST_CASE("golden values of the program in the documentation") {
  for (auto const& g : golden::digests) {
    auto const b = pattern(g.bytes);
    CHECK(digest(host(), b.data(), b.size()) == g.digest);
  }
  float const f[6] = {1.f, -2.f, 3.5f, 0.f, -0.f, 1e30f};
  CHECK(digest(host(), f, {2, 3}) == golden::digest_2x3_f32);
  CHECK(digest(host(), f, {6}) == golden::digest_6_f32);
  CHECK(digest(host(), reinterpret_cast<std::uint32_t const*>(f), {6}) == golden::digest_6_u32);
}

TEST_CASE("the definition at compile time") {
  constexpr auto sum = [] {
    isobit::digest_accumulator a;
    a.add(1, 2, 0);
    a.add(3, 4, 1000000);
    return a.sum();
  };
  static_assert(sum() == sum());
  isobit::digest_accumulator second, first;
  second.add(3, 4, 1000000);
  first.add(1, 2, 0);
  CHECK(first.sum() + second.sum() == sum());
  CHECK(sum() - second.sum() == first.sum());
  // The portable 128-bit product against the compiler's.
  static_assert(isobit::detail::product(~0ull, ~0ull).high == ~0ull - 1);
  static_assert(isobit::detail::product(~0ull, ~0ull).low == 1);
}

TEST_CASE("every length, alignment, split and executor gives the same digest") {
  auto const b = pattern(6000);
  for (std::size_t n :
       {0u, 1u, 7u, 8u, 15u, 16u, 17u, 31u, 127u, 128u, 2047u, 2048u, 2049u, 2064u, 4096u, 5999u, 6000u}) {
    CAPTURE(n);
    bytes const first(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n));
    auto const wanted = digest(host(), first.data(), n);
    std::vector<std::size_t> alignments(17);
    for (std::size_t i = 0; i < alignments.size(); ++i) alignments[i] = i;
    CHECK(testing::geometry_invariant(
        [&](testing::geometry const& g) { return digest(host(), g.place(first).data(), n); }, {1}, {1}, {1},
        alignments));
    CHECK(bits_equal(digest(isobit::thread{}, b.data(), n), wanted));
    // Parts, cut at units: two parts at each, and many; added in both orders.
    auto cuts = testing::splits(n / 16);
    for (std::size_t cut = 0; cut <= n / 16; cut += 3) cuts.emplace_back(std::vector<std::uint64_t>{0, cut, n / 16});
    for (bool backwards : {false, true}) {
      auto const in_parts = [&](testing::split const& s) {
        digest_sum total;
        for (std::uint64_t k = 0; k < s.size(); ++k) {
          auto const p = s[backwards ? s.size() - 1 - k : k];
          auto const last = p.last == n / 16 ? n : 16 * p.last; // the ragged end belongs to the last part
          total += digest_range(host(), b.data() + 16 * p.first, p.size() == 0 ? 0 : last - 16 * p.first, p.first);
        }
        if (n < 16) total += digest_range(host(), b.data(), n);
        return finish_digest(total, n);
      };
      CHECK(bits_equal(in_parts(cuts[0]), wanted));
      CHECK(testing::partition_invariant(in_parts, cuts));
    }
    // Unit by unit, in random order.
    std::vector<std::size_t> units(n / 16);
    for (std::size_t i = 0; i < units.size(); ++i) units[i] = i;
    std::shuffle(units.begin(), units.end(), std::mt19937(1));
    isobit::digest_accumulator acc;
    for (std::size_t u : units) {
      unsigned char unit[16];
      std::memcpy(unit, b.data() + 16 * u, 16);
      acc.add(unit, u);
    }
    CHECK(bits_equal(acc.sum(), digest_range(host(), b.data(), n / 16 * 16)));
  }
  bytes const big = pattern((5u << 20) + 123);
  isobit::threads const four(4);
  CHECK(bits_equal(digest(host(four), big.data(), big.size()), digest(host(), big.data(), big.size())));
}

TEST_CASE("chunks: where buffers differ, and one digest of the whole whatever the chunks") {
  auto b = pattern(100000);
  auto const whole = digest(host(), b.data(), b.size());
  for (std::uint64_t chunk : {16u, 48u, 2048u, 4096u, 65536u, 1u << 20}) {
    auto const count = isobit::digest_chunks(b.size(), chunk);
    std::vector<std::uint64_t> before(count), after(count);
    std::vector<digest_sum> sums(count);
    CHECK(chunk_digests(host(), b.data(), b.size(), chunk, before.data()) == whole);
    CHECK(chunk_digests(host(isobit::threads(3)), b.data(), b.size(), chunk, after.data()) == whole);
    CHECK(bits_equal(before, after));
    CHECK(finish_digest(chunk_sums(host(), b.data(), b.size(), chunk, sums.data()), b.size()) == whole);
    digest_sum total;
    for (auto s : sums) total += s;
    CHECK(finish_digest(total, b.size()) == whole);

    std::size_t const place = 77777;
    b[place] ^= 1;
    auto const changed = chunk_digests(host(), b.data(), b.size(), chunk, after.data());
    CHECK(changed != whole);
    for (std::uint64_t c = 0; c < count; ++c) CHECK((before[c] != after[c]) == (c == place / chunk));
    // An incremental update of the total.
    std::uint64_t const c = place / chunk, first = c * chunk;
    total -= sums[c];
    total += digest_range(host(), b.data() + first, std::min<std::uint64_t>(chunk, b.size() - first), first / 16);
    CHECK(finish_digest(total, b.size()) == changed);
    b[place] ^= 1;
  }
}

TEST_CASE("B19: what exclusive or and plain sums take for equal is different here") {
  double const inf = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> const lists = {{1, 2}, {2, 1}, {inf}, {3.5, 3.5}, {7, 7},
                                                  {0, 0}, {0},    {},    {-0.0, 0}};
  std::set<std::uint64_t> seen, weak;
  for (auto const& l : lists) {
    seen.insert(of(l));
    weak.insert(exclusive_or(l));
  }
  CHECK(seen.size() == lists.size());
  CHECK(weak.size() < lists.size());

  // Shapes and types.
  std::vector<float> const zeros(51);
  std::set<std::uint64_t> shapes = {digest(host(), zeros.data(), {16}),
                                    digest(host(), zeros.data(), {4, 4}),
                                    digest(host(), zeros.data(), {2, 8}),
                                    digest(host(), zeros.data(), {8, 2}),
                                    digest(host(), zeros.data(), {1, 16}),
                                    digest(host(), zeros.data(), {16, 1}),
                                    digest(host(), zeros.data(), {3, 17, 1, 1}),
                                    digest(host(), reinterpret_cast<std::int32_t const*>(zeros.data()), {16}),
                                    digest(host(), zeros.data(), 64)};
  CHECK(shapes.size() == 9);
  std::vector<float> const more(152);
  CHECK(digest(host(), more.data(), {3, 17, 1, 1}) != digest(host(), more.data(), {1, 152, 1, 1}));
  CHECK(digest(host(), zeros.data(), {}) != digest(host(), zeros.data(), {1}));
  CHECK(digest(host(), zeros.data(), {0, 5}) != digest(host(), zeros.data(), {5, 0}));
  for (std::size_t n = 0; n < 152; ++n)
    REQUIRE(digest(host(), more.data(), {n}) != digest(host(), more.data(), {n + 1}));

  // Lists with a moved boundary: the same values, other offsets; row by row, other rows.
  std::vector<int> const values = {1, 2, 3, 4, 5};
  std::vector<std::int64_t> const offsets_a = {0, 2, 5}, offsets_b = {0, 3, 5};
  CHECK(of(offsets_a) != of(offsets_b));
  auto const rows = [&](std::vector<std::int64_t> const& o) {
    std::vector<std::uint64_t> r;
    for (std::size_t i = 0; i + 1 < o.size(); ++i)
      r.push_back(digest(host(), values.data() + o[i], {static_cast<std::uint64_t>(o[i + 1] - o[i])}));
    return of(r);
  };
  CHECK(rows(offsets_a) != rows(offsets_b));
}

TEST_CASE("no change is missed: swaps, rotations, moved boundaries, equal flips, one-ulp moves") {
  long const count = trial_count();
  auto const small_int = [](auto& r) { return static_cast<float>(r() % 16); };
  auto const pick = [](auto& r, std::size_t n) { return static_cast<std::size_t>(r() % n); };
  auto const flip = [](float& v, std::uint32_t mask) { v = isobit::from_bits<float>(isobit::to_bits(v) ^ mask); };
  long weak = 0;
  auto const expect = [&](misses const& m) {
    CHECK(m.strong == 0);
    weak += m.weak;
  };
  expect(trials<float>(count, 32, small_int, [&](auto& x, auto& r) { std::swap(x[pick(r, 32)], x[pick(r, 32)]); }));
  expect(trials<float>(count, 33, small_int, [&](auto& x, auto& r) {
    std::rotate(x.begin(), x.begin() + 1 + static_cast<std::ptrdiff_t>(pick(r, 32)), x.end());
  }));
  expect(trials<float>(count, 24, any_float, [&](auto& x, auto& r) { // the same bit in two places
    std::uint32_t const mask = 1u << r() % 32;
    flip(x[pick(r, 12)], mask);
    flip(x[12 + pick(r, 12)], mask);
  }));
  expect(trials<float>(count, 64, any_float, [&](auto& x, auto& r) { // two neighbours negated, in two places
    std::size_t const a = 2 * pick(r, 16), b = 32 + 2 * pick(r, 16);
    for (std::size_t i : {a, a + 1, b, b + 1}) flip(x[i], 0x80000000u);
  }));
  expect(trials<float>(count, 16, any_float, [&](auto& x, auto& r) { // a pair replaced by another pair
    float const a = any_float(r), b = any_float(r);
    std::size_t const i = 2 * pick(r, 8);
    x[i] = x[i + 1] = a;
    if (r() % 2) x[i] = x[i + 1] = b;
  }));
  for (std::size_t moved : {2u, 4u, 16u})
    expect(trials<float>(count, 64, any_float, [&](auto& x, auto& r) {
      for (std::size_t i = 0; i < moved; ++i) {
        auto& v = x[64 / moved * i + pick(r, 64 / moved)];
        v = isobit::from_bits<float>(isobit::to_bits(v) + (r() % 2 ? 1u : ~0u));
      }
    }));
  expect(trials<std::uint16_t>(
      count, 64, [](auto& r) { return static_cast<std::uint16_t>(0x3f80 + r() % 64); },
      [&](auto& x, auto& r) { // bfloat16 codes
        for (int i = 0; i < 4; ++i) x[16 * static_cast<std::size_t>(i) + pick(r, 16)] ^= 1;
      }));
  expect(trials<std::uint8_t>(
      count, 64, [](auto& r) { return static_cast<std::uint8_t>(0x30 + r() % 16); },
      [&](auto& x, auto& r) {
        x[pick(r, 32)] ^= 1;
        x[32 + pick(r, 32)] ^= 1;
      }));
  expect(trials<std::uint64_t>(
      count, 300, [](auto&) { return std::uint64_t(0); },
      [&](auto& x, auto& r) { // zeros become all ones, in two places
        x[pick(r, 150)] = ~0ull;
        x[150 + pick(r, 150)] = ~0ull;
      }));
  // Patterns that sum to nothing: +1 and -1 on the corners of a rectangle whose sides are whole blocks.
  expect(trials<std::uint64_t>(
      count, 1024, [](auto&) { return std::uint64_t(5); },
      [&](auto& x, auto& r) {
        std::size_t const a = pick(r, 256), b = pick(r, 256), d = 256 * (1 + pick(r, 3));
        ++x[a], --x[b], --x[a + d], ++x[b + d];
      }));
  // Control: the weak fingerprint misses many of the same trials.
  CHECK(weak > count);
}

TEST_CASE("the same flip at different positions never changes the sum by the same amount") {
  std::uint64_t const flips[][2] = {{1, 0},
                                    {0, 1},
                                    {1ull << 63, 0},
                                    {0, 1ull << 63},
                                    {~0ull, 0},
                                    {0, ~0ull},
                                    {~0ull, ~0ull},
                                    {1ull << 63 | 1ull << 31, 0},
                                    {1ull << 32, 1},
                                    {0x8000800080008000, 0x8000800080008000},
                                    {0x0101010101010101, 0x0101010101010101}};
  for (auto const& f : flips) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> differences;
    for (std::uint64_t unit = 0; unit < 40000; ++unit) {
      isobit::digest_accumulator before, after;
      before.add(7, 9, unit);
      after.add(7 ^ f[0], 9 ^ f[1], unit);
      auto d = after.sum() - before.sum();
      if (d.high >> 63) d = digest_sum{} - d; // opposite differences cancel just as well
      differences.emplace_back(d.high, d.low);
    }
    std::sort(differences.begin(), differences.end());
    CHECK(std::adjacent_find(differences.begin(), differences.end()) == differences.end());
  }
}

TEST_CASE("avalanche: one flipped bit changes about half of the digest") {
  std::mt19937_64 random(3);
  constexpr int words = 8, rounds = 400;
  std::vector<long> flipped(64), per_input(64 * words);
  long total = 0;
  for (int t = 0; t < rounds; ++t) {
    std::vector<std::uint64_t> x(words);
    for (auto& v : x) v = random();
    auto const before = digest(host(), x.data(), 8 * words);
    for (int bit = 0; bit < 64 * words; ++bit) {
      auto const w = static_cast<std::size_t>(bit / 64);
      x[w] ^= 1ull << bit % 64;
      auto const change = before ^ digest(host(), x.data(), 8 * words);
      x[w] ^= 1ull << bit % 64;
      for (int o = 0; o < 64; ++o) flipped[static_cast<std::size_t>(o)] += change >> o & 1;
      per_input[static_cast<std::size_t>(bit)] += __builtin_popcountll(change);
      total += __builtin_popcountll(change);
    }
  }
  double const n = double(rounds) * 64 * words;
  CHECK(std::abs(total / n - 32) < 0.05);
  for (long f : flipped) CHECK(std::abs(f / n - 0.5) < 0.01);
  for (long p : per_input) CHECK(std::abs(double(p) / rounds - 32) < 1.5);
}

// ---------------------------------------------------------------------------------------------------------- kernels

namespace {

template <int N> void block_kernel(void const* data, std::uint64_t n, std::uint64_t* out) {
  ISOBIT_SHARED isobit::block_storage<N, digest_sum> memory;
  auto const b = isobit::block(memory);
  // Twice in a row: the storage can be used again at once.
  auto const one = digest(b, data, n);
  auto const two = digest(b, data, n / 2);
  out[2 * b.thread_rank()] = one;
  out[2 * b.thread_rank() + 1] = two;
}
template <int P> void tile_kernel(void const* data, std::uint64_t n, std::uint64_t* out) {
  isobit::tile<P> const t;
  out[isobit::machine::thread_rank()] = digest(t, data, n);
}
// A kernel that fingerprints what it writes: unit by unit, with one slot of 16 bytes for the launch.
void writing_kernel(float const* x, float* y, std::uint64_t units, digest_sum* total) {
  isobit::digest_accumulator acc;
  std::uint64_t const threads = isobit::machine::grid_blocks() * isobit::machine::block_threads();
  std::uint64_t u = isobit::machine::block_rank() * isobit::machine::block_threads() + isobit::machine::thread_rank();
  for (; u < units; u += threads) {
    float v[4];
    for (int j = 0; j < 4; ++j)
      y[4 * u + static_cast<std::uint64_t>(j)] = v[j] = isobit::mul(2.f, x[4 * u + static_cast<std::uint64_t>(j)]);
    acc.add(v, u);
  }
  isobit::device::atomic_add(total, acc.sum());
}

} // namespace

TEST_CASE("simulated kernels equal the host at every geometry and schedule") {
  auto const b = pattern(9007);
  testing::host_options const geometries{
      .blocks = {1, 2, 31, 32, 33, 64, 96, 100, 256}, .grids = {1, 2, 5}, .schedules = 3};
  for (std::uint64_t n : {0u, 5u, 16u, 2048u, 2065u, 9007u}) {
    CAPTURE(n);
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          digest_sum total;
          simt::launch(c, isobit::device::digest_range_kernel<>, b.data(), n, std::uint64_t(0), &total);
          return total;
        },
        [&] { return digest_range(host(), b.data(), n); }, geometries));
    auto const chunks = isobit::digest_chunks(n, 2048);
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          auto out = testing::filled<digest_sum>(chunks + 1, 0xff);
          simt::launch(c, isobit::device::chunk_sums_kernel<>, b.data(), n, std::uint64_t(2048), out.data());
          return out;
        },
        [&] {
          auto out = testing::filled<digest_sum>(chunks + 1, 0xff);
          chunk_sums(host(), b.data(), n, 2048, out.data());
          return out;
        },
        geometries));
  }
  // A part in the middle, whose first unit lies within a block of keys.
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        digest_sum part;
        simt::launch(c, isobit::device::digest_range_kernel<>, b.data() + 16 * 5, std::uint64_t(16 * 300),
                     std::uint64_t(5), &part);
        return part;
      },
      [&] { return digest_range(host(), b.data() + 16 * 5, 16 * 300, 5); }, {.blocks = {64}, .grids = {3}}));
}

TEST_CASE("blocks up to 1024 threads, tiles, and a kernel that fingerprints what it writes") {
  auto const b = pattern(5003);
  auto const one = digest(host(), b.data(), b.size()), two = digest(host(), b.data(), b.size() / 2);
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        auto out = testing::filled<std::array<std::uint64_t, 2>>(c.block.x, 0xff);
        simt::launch(c, block_kernel<1024>, b.data(), b.size(), out[0].data());
        return everyone(out);
      },
      [&] { return all_received(std::array{one, two}); },
      {.blocks = {1, 5, 32, 37, 100, 1000, 1024}, .grids = {1}, .schedules = 3}));
  auto const tiles = [&](auto const& kernel) {
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          auto out = testing::filled<std::uint64_t>(c.block.x, 0xff);
          simt::launch(c, kernel, b.data(), b.size(), out.data());
          return everyone(out);
        },
        [&] { return all_received(one); }, {.blocks = {64}, .grids = {1}}));
  };
  tiles(tile_kernel<32>);
  tiles(tile_kernel<8>);
  tiles(tile_kernel<1>);

  std::vector<float> x(4000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  CHECK(testing::same_as_host(
      [&](simt::config const& c) {
        auto y = testing::filled<float>(x.size(), 0xff);
        digest_sum written;
        simt::launch(c, writing_kernel, x.data(), y.data(), std::uint64_t(1000), &written);
        std::uint64_t const extent = y.size();
        return std::tuple(y, finish_digest(written, {isobit::dtype::f32, &extent, 1}));
      },
      [&] {
        auto y = x;
        for (float& v : y) v *= 2;
        return std::tuple(y, of(y));
      },
      {.blocks = {48}, .grids = {3}, .seed = 9}));
}

TEST_CASE("bad input is refused before anything is written") {
  unsigned char byte[64] = {};
  std::uint64_t out = 42;
  auto const message = [](auto const& f) -> std::string {
    try {
      f();
    } catch (isobit::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(message([&] { digest(host(), static_cast<void*>(nullptr), 4); }) ==
        "isobit::digest: data must be non-null when bytes > 0");
  CHECK(message([&] { chunk_digests(host(), byte, 64, 24, &out); }) ==
        "isobit::chunk_digests: chunk_bytes must be a multiple of 16, at least 16");
  CHECK(message([&] { chunk_digests(host(), byte, 64, 0, &out); }) != "");
  CHECK(message([&] { chunk_digests(host(), nullptr, 64, 16, &out); }) != "");
  CHECK(message([&] { chunk_digests(host(), byte, 64, 16, nullptr); }) != "");
  CHECK(message([&] { digest(host(), byte, {~0ull, 2}); }) != "");
  CHECK(message([&] { digest(host(), reinterpret_cast<double*>(byte), {1ull << 62}); }) != "");
  CHECK(out == 42);
  CHECK(digest(host(), static_cast<void*>(nullptr), 0) == golden::digests[0].digest);
}
