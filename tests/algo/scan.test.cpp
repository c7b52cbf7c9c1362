// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on the host and by thread, tile and block in simulated kernels: every prefix against the definition of the tree.
#include "../golden/p4016.hpp"
#include "../order/operators.hpp"

#include <doctest/doctest.h>
#include <isobit/accum/compensated.hpp>
#include <isobit/device/scan_kernel.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/scan.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/invariant.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using isobit::compensated;
using isobit::host;
using isobit::plain;
using isobit::testing::bits_equal;
namespace simt = isobit::simt;
namespace testing = isobit::testing;

template <class Acc, class Load> auto prefix(std::uint64_t length, Load const& load, Acc const& acc) {
  return acc.finish(isobit::interpret<isobit::tree>(length, load, acc));
}

// Evaluates a group's scan with every index stored exactly once, and none beyond n.
template <class R> struct recorder {
  std::vector<R> value;
  std::vector<int> stores;
  explicit recorder(std::size_t n) : value(n), stores(n) {}
  auto store() {
    return [this](std::uint64_t i, R const& r) {
      value.at(i) = r;
      ++stores.at(i);
    };
  }
  bool once() const {
    for (int s : stores)
      if (s != 1) return false;
    return true;
  }
};

template <class Group, class Load, class Acc>
void scan_kernel(std::uint64_t n, Load load, typename Acc::result* out, Acc acc) {
  isobit::inclusive_scan(
      Group{}, n, load, [out](std::uint64_t i, auto const& r) { out[i] = r; }, acc);
}
template <int N, class Load, class Acc>
void block_scan_kernel(std::uint64_t n, Load load, typename Acc::result* out, Acc acc) {
  ISOBIT_SHARED isobit::block_storage<N, typename Acc::state> memory;
  auto const b = isobit::block(memory);
  isobit::inclusive_scan(
      b, n, load, [out](std::uint64_t i, auto const& r) { out[i] = r; }, acc);
  // The storage serves the next call at once.
  isobit::inclusive_scan(
      b, n / 2, load, [out, n](std::uint64_t i, auto const& r) { out[n + i] = r; }, acc);
}

std::vector<float> floats(std::size_t n, std::uint64_t seed = 0) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = order_test::float_at(seed + i);
  return x;
}
template <class T, class Acc = plain<T>> std::vector<T> host_scan(std::vector<T> const& x, Acc const& acc = {}) {
  std::vector<T> out(x.size());
  isobit::inclusive_scan(host(), x.data(), x.size(), out.data(), acc);
  return out;
}
// Segments, each alone: the neighbourhood law says that this is the answer.
template <class T, class Acc = plain<T>>
std::vector<T> one_by_one(std::vector<T> const& x, std::vector<std::int64_t> const& offsets, T elsewhere,
                          Acc const& acc = {}) {
  std::vector<T> out(x.size(), elsewhere);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    auto const first = x.begin() + offsets[s], last = x.begin() + offsets[s + 1];
    auto const part = host_scan(std::vector<T>(first, last), acc);
    std::copy(part.begin(), part.end(), out.begin() + offsets[s]);
  }
  return out;
}
template <class T, class Acc = plain<T>>
std::vector<T> segmented(std::vector<T> const& x, std::vector<std::int64_t> const& offsets, T elsewhere,
                         Acc const& acc = {}) {
  std::vector<T> out(x.size(), elsewhere);
  isobit::segmented_inclusive_scan(host(), x.data(), x.size(), offsets.data(), offsets.size() - 1, out.data(), acc);
  return out;
}

} // namespace

TEST_CASE("host and thread: every prefix of every length to 300, for every operator") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using result = typename std::remove_cvref_t<decltype(acc)>::result;
    std::vector<result> wanted;
    for (std::uint64_t i = 0; i < 300; ++i) wanted.push_back(prefix(i + 1, load, acc));
    for (std::uint64_t n = 0; n <= 300; ++n) {
      recorder<result> h(n), t(n);
      isobit::inclusive_scan(host(), n, load, h.store(), acc);
      isobit::inclusive_scan(isobit::thread{}, n, load, t.store(), acc);
      REQUIRE(h.once());
      REQUIRE(t.once());
      if (n == 0) continue;
      std::span const first(wanted.data(), n);
      REQUIRE(bits_equal(h.value, first));
      REQUIRE(bits_equal(t.value, first));
    }
  });
}

TEST_CASE("host: long arrays, one thread and executors, sampled prefixes") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using result = typename std::remove_cvref_t<decltype(acc)>::result;
    for (std::uint64_t n : {1023u, 1024u, 1025u, 4097u, 33333u, 100000u}) {
      recorder<result> one(n), many(n);
      isobit::inclusive_scan(host(), n, load, one.store(), acc);
      isobit::inclusive_scan(host(isobit::threads(3), 1000), n, load, many.store(), acc);
      REQUIRE(one.once());
      REQUIRE(many.once());
      REQUIRE(bits_equal(one.value, many.value));
      order_test::dice dice(n);
      for (int k = 0; k < 40; ++k) {
        auto const i = k == 0 ? n - 1 : dice(0, n - 1);
        REQUIRE(bits_equal(one.value[i], prefix(i + 1, load, acc)));
      }
    }
  });
}

TEST_CASE_TEMPLATE("host: arrays on vector registers equal element by element, special values and all", T, float,
                   double, isobit::f16, isobit::bf16, isobit::e4m3) {
  using value = isobit::element_value<T>;
  std::vector<T> x(5000);
  for (bool special : {false, true}) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto const v = static_cast<value>(order_test::float_at(i));
      auto const m = order_test::mixed(i);
      value special_value = value(-0.0);
      if (m % 997 == 1) special_value = std::numeric_limits<value>::infinity();
      if (m % 997 == 2) special_value = -std::numeric_limits<value>::infinity();
      if (m % 997 == 3) special_value = std::numeric_limits<value>::quiet_NaN();
      if (m % 997 == 4) special_value = std::numeric_limits<value>::max();
      if (m % 997 == 5) special_value = std::numeric_limits<value>::denorm_min();
      value const chosen = special && m % 997 < 200 ? special_value : v;
      if constexpr (isobit::small_float<T>)
        x[i] = isobit::encode<T>(chosen);
      else
        x[i] = chosen;
    }
    auto const check = [&](std::size_t first, std::size_t n, auto const& acc) {
      std::vector<value> fast(n), slow(n);
      isobit::inclusive_scan(host(), x.data() + first, n, fast.data(), acc);
      isobit::inclusive_scan(
          isobit::thread{}, n, [&](std::size_t i) { return isobit::decode_element(x[first + i]); },
          [&](std::size_t i, value r) { slow[i] = r; }, acc);
      if (n > 0) REQUIRE(bits_equal(fast, slow));
    };
    for (std::size_t n = 0; n <= 300; ++n) {
      check(n, n, plain<value>{});
      check(n % 7, n, compensated<value>{});
    }
    check(1, 4999, plain<value>{});
    check(1, 4999, compensated<value>{});
    check(3000, 2000, compensated<value>{});
  }
}

TEST_CASE("the golden prefixes of P4016, and the control that std::inclusive_scan has other bits") {
  std::vector<float> x(golden::p4016::count);
  golden::p4016::generator next;
  for (auto& v : x) v = static_cast<float>(next());
  auto const out = host_scan(x);
  std::vector<float> peer(x.size());
  std::inclusive_scan(x.begin(), x.end(), peer.begin());
  int differs = 0;
  for (auto const& g : golden::p4016::prefix_sums) {
    CHECK(isobit::to_bits(out[g.n - 1]) == g.bits);
    CHECK(isobit::to_bits(isobit::reduce(host(), x.data(), g.n)) == g.bits);
    differs += isobit::to_bits(peer[g.n - 1]) != g.bits;
  }
  CHECK(differs > 4);
  std::vector<float> shared(x.size());
  isobit::inclusive_scan(host(isobit::threads(4)), x.data(), x.size(), shared.data());
  CHECK(bits_equal(shared, out));
  // In place.
  isobit::inclusive_scan(host(), x.data(), x.size(), x.data());
  CHECK(bits_equal(x, out));
}

TEST_CASE("B01 and B02: inner prefixes equal reductions; compensated totals are right") {
  std::vector<float> x(1000000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const v = double(i) * 3.14159265358979323846;
    x[i] = static_cast<float>(v - std::floor(v));
  }
  auto const plain_out = host_scan(x);
  auto const fine = host_scan(x, compensated<float>{});
  CHECK(fine.back() == 500018.5625f);
  order_test::dice dice(1);
  for (int k = 0; k < 300; ++k) {
    auto const i = k == 0 ? 38400 : dice(0, x.size() - 1);
    REQUIRE(bits_equal(plain_out[i], isobit::reduce(host(), x.data(), i + 1)));
    REQUIRE(bits_equal(fine[i], isobit::reduce(host(), x.data(), i + 1, compensated<float>{})));
  }
  CHECK(host_scan(std::vector<double>(250000, 0.1), compensated<double>{}).back() == 25000.0);
}

TEST_CASE("B08, B09, B10: special values in scans") {
  float const inf = std::numeric_limits<float>::infinity(), big = std::numeric_limits<float>::max();
  float const nan = isobit::from_bits<float>(isobit::float_fields<float>::quiet_nan);
  using list = std::vector<float>;
  CHECK(bits_equal(host_scan(list{-0.f, -0.f, 0.f, -0.f}), list{-0.f, -0.f, 0.f, 0.f}));
  CHECK(bits_equal(host_scan(list{inf, 4, -inf, 1}), list{inf, inf, nan, nan}));
  CHECK(bits_equal(host_scan(list{big, big, -big, -big}), list{big, inf, inf, nan}));
  // A special value at each position: what comes before is untouched, everything after has the class of the sum.
  for (std::size_t p = 0; p < 70; ++p) {
    auto x = floats(70);
    auto const before = host_scan(x);
    x[p] = inf;
    for (auto const& out : {host_scan(x), host_scan(x, compensated<float>{})})
      for (std::size_t i = p; i < 70; ++i) REQUIRE(isobit::to_bits(out[i]) == 0x7f800000u);
    auto const after = host_scan(x);
    for (std::size_t i = 0; i < p; ++i) REQUIRE(bits_equal(after[i], before[i]));
  }
}

TEST_CASE("B11: narrow inputs scan in float and are rounded once") {
  std::vector<isobit::f16> half(5000, isobit::encode<isobit::f16>(1.f)), half_out(5000);
  isobit::inclusive_scan(host(), half.data(), half.size(), half_out.data());
  CHECK(isobit::decode(half_out[4999]) == 5000.f);
  std::vector<isobit::bf16> brain(5000, isobit::encode<isobit::bf16>(1.f)), brain_out(5000);
  isobit::inclusive_scan(host(), brain.data(), brain.size(), brain_out.data());
  CHECK(isobit::decode(brain_out[4999]) == 4992.f);
  std::vector<float> wide(5000);
  isobit::inclusive_scan(host(), brain.data(), brain.size(), wide.data());
  CHECK(wide[4999] == 5000.f);
}

TEST_CASE("simulated tiles and blocks of any width equal the host") {
  order_test::for_each_operator([](auto const& acc, auto const& load) {
    using accumulator = std::remove_cvref_t<decltype(acc)>;
    using load_type = std::remove_cvref_t<decltype(load)>;
    using result = typename accumulator::result;
    auto const run = [&](auto const& kernel, std::uint64_t n, std::uint64_t results, simt::config const& c) {
      auto out = testing::filled<result>(results + 1, 0xa5); // one element beyond, to be left alone
      simt::launch(c, kernel, n, load, out.data(), acc);
      return out;
    };
    for (std::uint64_t n : {0u, 1u, 2u, 31u, 32u, 33u, 129u, 1000u, 2049u}) {
      CAPTURE(n);
      auto wanted = testing::filled<result>(n + 1, 0xa5);
      isobit::inclusive_scan(
          host(), n, load, [&](std::uint64_t i, result const& r) { wanted[i] = r; }, acc);
      auto twice = wanted; // the whole, then its first half
      twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(n), wanted.begin(),
                   wanted.begin() + static_cast<std::ptrdiff_t>(n / 2));
      std::vector<isobit::uint32_t> widths{1, 7, 31, 32, 64, 96, 100};
      if (n <= 33 || n >= 2049) widths.insert(widths.end(), {256, 1000, 1024});
      CHECK(testing::same_as_host(
          [&](simt::config const& c) {
            return run(block_scan_kernel<1024, load_type, accumulator>, n, n + n / 2, c);
          },
          [&] { return twice; }, {.blocks = widths, .grids = {1}, .schedules = 3, .seed = n}));
      auto const tiles = [&](auto const& kernel, isobit::uint32_t width) {
        CHECK(testing::same_as_host([&](simt::config const& c) { return run(kernel, n, n, c); }, [&] { return wanted; },
                                    {.blocks = {width}, .grids = {1}, .schedules = 3}));
      };
      tiles(scan_kernel<isobit::tile<32>, load_type, accumulator>, 32);
      tiles(scan_kernel<isobit::tile<8>, load_type, accumulator>, 8);
      tiles(scan_kernel<isobit::tile<1>, load_type, accumulator>, 1);
    }
  });
}

TEST_CASE("B14: empty segments, a segment's own start, and nothing outside of segments") {
  std::vector<float> const x = {1, 2, 3, 4, 5, 6, 7};
  CHECK(segmented(x, {0, 3, 3, 7}, -1.f) == std::vector<float>{1, 3, 6, 4, 9, 15, 22});
  CHECK(segmented(x, {0, 0, 7, 7, 7}, -1.f) == std::vector<float>{1, 3, 6, 10, 15, 21, 28});
  CHECK(segmented(x, {2, 3, 5}, -1.f) == std::vector<float>{-1, -1, 3, 4, 9, -1, -1});
  CHECK(segmented(x, {3, 3, 3}, -1.f) == std::vector<float>(7, -1.f));
  CHECK(segmented(std::vector<float>{}, {0, 0}, -1.f).empty());
  CHECK(segmented(std::vector<float>{5, 2, 3, 1}, {0, 2, 4}, -1.f) == std::vector<float>{5, 7, 3, 4});
  float one = 1;
  isobit::segmented_inclusive_scan(host(), &one, 1, static_cast<int const*>(nullptr), 0, &one); // no segments
  CHECK(one == 1);
}

namespace {
std::vector<std::int64_t> offsets_of(std::vector<std::int64_t> const& lengths, std::int64_t first = 0) {
  std::vector<std::int64_t> offsets = {first};
  for (auto l : lengths) offsets.push_back(offsets.back() + l);
  return offsets;
}
// Runs both segmented kernels at many geometries and compares with `wanted`.
template <class T, class Acc>
void check_segmented_kernels(std::vector<T> const& x, std::vector<std::int64_t> const& offsets,
                             std::vector<T> const& wanted, T elsewhere, Acc const& acc) {
  using store = isobit::detail::results<T>;
  using load = isobit::contiguous<T>;
  std::uint64_t const segments = offsets.size() - 1;
  // Arrays that begin at a vector's boundary, and others that do not; one element beyond is left alone.
  for (std::size_t shift : {std::size_t(0), sizeof(T)}) {
    testing::placed<T> const in(x, shift);
    auto expected = wanted;
    expected.push_back(elsewhere);
    for (bool by_block : {true, false}) {
      auto const kernel = [&](simt::config const& c) {
        testing::placed<T> out(std::vector<T>(x.size() + 1, elsewhere), shift);
        if (by_block)
          simt::launch(c, isobit::device::segmented_scan_by_block_kernel<1024, load, std::int64_t, store, Acc>,
                       load{in.data()}, offsets.data(), segments, store{out.data()}, acc);
        else
          simt::launch(c, isobit::device::segmented_scan_by_tile_kernel<32, load, std::int64_t, store, Acc>,
                       load{in.data()}, offsets.data(), segments, store{out.data()}, acc);
        return std::vector<T>(out.begin(), out.end());
      };
      auto const reference = [&] { return expected; };
      CAPTURE(shift);
      CAPTURE(by_block);
      REQUIRE(testing::same_as_host(kernel, reference,
                                    {.blocks = {32, 64, 96, 100}, .grids = {1, 3}, .schedules = 3, .seed = shift}));
      REQUIRE(testing::same_as_host(kernel, reference,
                                    {.blocks = {256, 1000, 1024}, .grids = {3}, .schedules = 3, .seed = shift}));
    }
  }
}
} // namespace

TEST_CASE("segments of all lengths: host, executor and simulated kernels equal each segment alone") {
  auto const offsets = offsets_of({0, 1, 2, 31, 32, 33, 0, 0, 1023, 1024, 1025, 5000, 1, 1, 0}, 5);
  auto x = floats(static_cast<std::size_t>(offsets.back()) + 9);
  auto const wanted = one_by_one(x, offsets, -7.f);
  auto const out = segmented(x, offsets, -7.f);
  CHECK(bits_equal(out, wanted));
  std::vector<float> jobs(x.size(), -7.f);
  isobit::segmented_inclusive_scan(host(isobit::threads(3)), x.data(), x.size(), offsets.data(), offsets.size() - 1,
                                   jobs.data());
  CHECK(bits_equal(jobs, wanted));
  check_segmented_kernels(x, offsets, wanted, -7.f, plain<float>{});
  // NaN neighbours change nothing: nothing outside of a segment is read.
  for (std::size_t i = 0; i < 5; ++i) x[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = x.size() - 9; i < x.size(); ++i) x[i] = std::numeric_limits<float>::quiet_NaN();
  CHECK(bits_equal(segmented(x, offsets, -7.f), wanted));
}

TEST_CASE("compensated segments in simulated kernels") {
  auto const offsets = offsets_of({3, 0, 70, 1, 260, 0});
  std::vector<double> x(static_cast<std::size_t>(offsets.back()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (i % 3 ? 1.0 : -1.0) * std::ldexp(1.0, int(i * 7 % 60));
  auto const wanted = one_by_one(x, offsets, 0.0, compensated<double>{});
  CHECK(bits_equal(segmented(x, offsets, 0.0, compensated<double>{}), wanted));
  check_segmented_kernels(x, offsets, wanted, 0.0, compensated<double>{});
}

TEST_CASE("2049 segments of length 1, and a segment count that no width divides") {
  std::vector<std::int64_t> offsets(2050);
  std::iota(offsets.begin(), offsets.end(), 0);
  auto const x = floats(2049);
  auto const kernel = [&](simt::config const& c) {
    auto out = testing::filled<float>(x.size(), 0xff);
    simt::launch(c,
                 isobit::device::segmented_scan_by_tile_kernel<32, isobit::contiguous<float>, std::int64_t,
                                                               isobit::detail::results<float>, plain<float>>,
                 isobit::contiguous<float>{x.data()}, offsets.data(), std::uint64_t(2049),
                 isobit::detail::results<float>{out.data()}, plain<float>{});
    return out;
  };
  CHECK(testing::same_as_host(kernel, [&] { return x; }, {.blocks = {96}, .grids = {3}, .seed = 5}));
}

TEST_CASE("law 4: moving a segment and changing its neighbours changes nothing") {
  auto const segment = floats(5000, 77);
  auto const alone = host_scan(segment);
  for (std::int64_t before : {0, 1, 31, 1023, 4097}) {
    auto x = floats(static_cast<std::size_t>(before) + 5000 + 100, static_cast<std::uint64_t>(before));
    std::copy(segment.begin(), segment.end(), x.begin() + before);
    auto const total = static_cast<std::int64_t>(x.size());
    auto const out = segmented(x, {0, before, before + 5000, total}, 0.f);
    CHECK(bits_equal(std::span(out).subspan(static_cast<std::size_t>(before), 5000), alone));
    // Control: without the segment's own start its bits do move (unless it stands first).
    auto const unsegmented = host_scan(x);
    CHECK(bool(bits_equal(std::span(unsegmented).subspan(static_cast<std::size_t>(before), 5000), alone)) ==
          (before == 0));
  }
}

TEST_CASE("law 4: whatever the neighbours hold") {
  auto const segment = floats(700, 78);
  CHECK(testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto const x = n.surround(segment, 700);
    auto const first = static_cast<std::int64_t>(n.before * 700);
    return n.mine(segmented(x, {0, first, first + 700, static_cast<std::int64_t>(x.size())}, 0.f), 700);
  }));
  // Control: in one scan of everything they do matter.
  CHECK_FALSE(testing::neighbour_invariant(
      [&](testing::neighbours const& n) { return n.mine(host_scan(n.surround(segment, 700)), 700); }));
}

TEST_CASE("sizes past 2^32, by generated elements: the last prefixes of a chunk far out") {
  // scan_range continues from the node of everything before: here 2^33 ones, which an integer sum knows.
  isobit::counter<std::uint64_t> pending;
  constexpr int level = isobit::detail::scan_level<plain<std::uint64_t>>;
  pending.push(plain<std::uint64_t>{}, std::uint64_t(1) << 33, 33 - level);
  std::vector<std::uint64_t> seen;
  isobit::detail::scan_range(
      std::uint64_t(1) << 33, 5000, 0, isobit::detail::scan_form<false>{}, [](std::uint64_t) { return std::uint64_t(1); },
      [&](std::uint64_t i, std::uint64_t r) { seen.push_back(r - i); }, plain<std::uint64_t>{}, pending);
  CHECK(seen == std::vector<std::uint64_t>(5000, 1));
}

TEST_CASE("bad input is refused before anything is written") {
  std::vector<float> x(8, 1.f), out(8, 42.f);
  std::vector<int> const good = {0, 3, 8};
  auto const message = [](auto const& f) -> std::string {
    try {
      f();
    } catch (isobit::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  float const* const none = nullptr;
  auto const scan = [&](std::vector<int> const& offsets, int n = 8) {
    return message(
        [&] { isobit::segmented_inclusive_scan(host(), x.data(), n, offsets.data(), offsets.size() - 1, out.data()); });
  };
  CHECK(message([&] { isobit::inclusive_scan(host(), none, 8, out.data()); }) ==
        "isobit::inclusive_scan: x must be non-null when n > 0");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), -1, out.data()); }) ==
        "isobit::inclusive_scan: n must be 0 or more");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 8, static_cast<float*>(nullptr)); }) != "");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 7, x.data() + 1); }) ==
        "isobit::inclusive_scan: out must be x itself (of the same type) or an array that does not overlap it");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data() + 1, 7, x.data()); }) != "");
  CHECK(message([&] { isobit::inclusive_scan(host(), x.data(), 4, x.data() + 4); }) == "");
  CHECK(message([&] {
          isobit::inclusive_scan(host(), reinterpret_cast<float const*>(reinterpret_cast<char*>(x.data()) + 2), 2,
                                 out.data());
        }) == "isobit::inclusive_scan: x must be aligned to 4 bytes");
  CHECK(scan({0, 5, 3, 8}) ==
        "isobit::segmented_inclusive_scan: offsets must be non-decreasing; it falls after entry 1 "
        "(counted from 0)");
  CHECK(scan({-1, 3, 8}) == "isobit::segmented_inclusive_scan: offsets[0] must be 0 or more");
  CHECK(scan({0, 3, 9}) != "");
  CHECK(scan({0, 3, 8}, 7) != "");
  CHECK(message([&] {
          isobit::segmented_inclusive_scan(host(), x.data(), 8, static_cast<int const*>(nullptr), 2, out.data());
        }) == "isobit::segmented_inclusive_scan: offsets must be non-null when segments > 0");
  CHECK(message([&] { isobit::segmented_inclusive_scan(host(), none, 8, good.data(), 2, out.data()); }) != "");
  CHECK(out == std::vector<float>(8, 42.f));
  CHECK(scan(good) == "");
}
