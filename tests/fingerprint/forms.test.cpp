// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 128-bit digests, digests by value, views, packed codes and index maps: the same logical content has the same digest
// in every layout and by every worker, and other content has another one.
#include "../everyone.hpp"
#include "../golden/digest.hpp"

#include <doctest/doctest.h>
#include <isobit/device/digest_kernel.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/group/threads.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace {

using isobit::bits128;
using isobit::by_value;
using isobit::digest;
using isobit::digest128;
using isobit::digest128_sum;
using isobit::digest64;
using isobit::digest_sum;
using isobit::e2m1;
using isobit::e2m1x2;
using isobit::host;
using isobit::tensor_view;
namespace simt = isobit::simt;
namespace testing = isobit::testing;
using bytes = std::vector<unsigned char>;

bytes pattern(std::size_t n) {
  bytes b(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<unsigned char>(i * i + 3 * i + 7 * (i >> 8));
  return b;
}

template <int N, class Form> void block_kernel(void const* data, std::uint64_t n, typename Form::value* out) {
  ISOBIT_SHARED isobit::block_storage<N, typename Form::sum> memory;
  auto const b = isobit::block(memory);
  out[b.thread_rank()] = digest<Form>(b, data, n);
}
template <int P, class Form> void tile_kernel(void const* data, std::uint64_t n, typename Form::value* out) {
  out[isobit::machine::thread_rank()] = digest<Form>(isobit::tile<P>{}, data, n);
}
template <int N, class Form, class View> void view_kernel(View view, typename Form::value* out) {
  ISOBIT_SHARED isobit::block_storage<N, typename Form::sum> memory;
  auto const b = isobit::block(memory);
  out[b.thread_rank()] = digest<Form>(b, view);
}
template <int P, class Form, class View> void view_tile_kernel(View view, typename Form::value* out) {
  out[isobit::machine::thread_rank()] = digest<Form>(isobit::tile<P>{}, view);
}

// The digest of a view by everyone must be `want`.
template <class Form, class View> void everyone_says(View const& view, typename Form::value want) {
  using value = typename Form::value;
  CHECK(digest<Form>(host(), view) == want);
  CHECK(digest<Form>(host(isobit::threads(3)), view) == want);
  CHECK(digest<Form>(isobit::thread{}, view) == want);
  for (unsigned width : {1u, 33u, 64u}) {
    std::vector<value> out(width);
    simt::launch({.grid = {1}, .block = {width}}, view_kernel<64, Form, View>, view, out.data());
    CHECK(out == std::vector<value>(width, want));
  }
  std::vector<value> out(32);
  simt::launch({.grid = {1}, .block = {32}}, view_tile_kernel<8, Form, View>, view, out.data());
  CHECK(out == std::vector<value>(32, want));
  typename Form::sum total;
  simt::launch({.grid = {3}, .block = {48}}, isobit::device::digest_elements_kernel<Form, View>, view, view.count(),
               std::uint64_t(0), &total);
  isobit::tensor_shape const shape{isobit::dtype_of<isobit::detail::stored_element<View>>, view.extents,
                                   static_cast<std::uint32_t>(std::size(view.extents)), Form::equates_values};
  CHECK(finish_digest(total, shape) == want);
}

} // namespace

TEST_CASE("128 bits: golden values, the 64-bit digest in the low half, every geometry, parts, chunks, updates") {
  for (auto const& g : golden::digests128) {
    auto const b = pattern(g.bytes);
    auto const d = digest<digest128>(host(), b.data(), b.size());
    CHECK(d.low == digest(host(), b.data(), b.size()));
    CHECK(d == bits128{g.low, g.high});
  }
  auto b = pattern(9007);
  for (std::uint64_t n : {0u, 5u, 16u, 2048u, 2065u, 9007u}) {
    CAPTURE(n);
    auto const want = digest<digest128>(host(), b.data(), n);
    CHECK(digest<digest128>(isobit::thread{}, b.data(), n) == want);
    CHECK(testing::same_as_host(
        [&](simt::config const& c) {
          digest128_sum total;
          simt::launch(c, isobit::device::digest_range_kernel<256, digest128_sum>, b.data(), n, std::uint64_t(0),
                       &total);
          return finish_digest(total, n);
        },
        [&] { return want; }, {.blocks = {1, 31, 32, 96, 100, 256}, .grids = {1, 3}, .schedules = 2}));
    for (unsigned width : {1u, 33u, 100u}) {
      std::vector<bits128> out(width);
      simt::launch({.grid = {1}, .block = {width}}, block_kernel<128, digest128>, b.data(), n, out.data());
      CHECK(out == std::vector<bits128>(width, want));
    }
    std::vector<bits128> out(64);
    simt::launch({.grid = {1}, .block = {64}}, tile_kernel<32, digest128>, b.data(), n, out.data());
    CHECK(out == std::vector<bits128>(64, want));
    // Unit by unit.
    isobit::digest128_accumulator acc;
    for (std::uint64_t u = n / 16; u-- > 0;) {
      unsigned char unit[16];
      std::memcpy(unit, b.data() + 16 * u, 16);
      acc.add(unit, u);
    }
    CHECK(acc.sum() == isobit::digest_range<digest128>(host(), b.data(), n / 16 * 16));
  }
  auto const whole = digest<digest128>(host(), b.data(), b.size());
  for (std::uint64_t chunk : {16u, 48u, 2048u, 65536u}) {
    auto const count = isobit::digest_chunks(b.size(), chunk);
    std::vector<bits128> before(count), after(count);
    std::vector<digest128_sum> sums(count), from_device(count);
    CHECK(chunk_digests(host(), b.data(), b.size(), chunk, before.data()) == whole);
    auto total = chunk_sums(host(), b.data(), b.size(), chunk, sums.data());
    CHECK(finish_digest(total, b.size()) == whole);
    simt::launch({.grid = {2}, .block = {64}}, isobit::device::chunk_sums_kernel<64, digest128_sum>, b.data(),
                 std::uint64_t(b.size()), chunk, from_device.data());
    CHECK(from_device == sums);
    // One byte changes: one chunk differs, and an update of the sums equals computing everything again.
    std::size_t const place = 7777;
    b[place] ^= 64;
    auto const changed = chunk_digests(host(), b.data(), b.size(), chunk, after.data());
    CHECK(changed != whole);
    for (std::uint64_t c = 0; c < count; ++c) CHECK((before[c] != after[c]) == (c == place / chunk));
    update_chunk(host(), b.data(), b.size(), chunk, place / chunk, sums.data(), total);
    CHECK(finish_digest(total, b.size()) == changed);
    std::vector<digest128_sum> again(count);
    CHECK(chunk_sums(host(), b.data(), b.size(), chunk, again.data()) == total);
    CHECK(again == sums);
    b[place] ^= 64;
  }
}

TEST_CASE("128 bits: empty tensors of different shapes differ in both halves") {
  std::set<std::uint64_t> low, high;
  for (std::uint64_t n = 0; n < 300; ++n) {
    auto const d = digest<digest128>(host(), static_cast<float const*>(nullptr), {0, n});
    low.insert(d.low);
    high.insert(d.high);
    CHECK(d.low != d.high);
  }
  CHECK(low.size() == 300);
  CHECK(high.size() == 300);
}

TEST_CASE("64-bit updates of a chunk equal recomputing") {
  auto b = pattern(100000);
  for (std::uint64_t chunk : {16u, 4096u, 1u << 20}) {
    std::vector<digest_sum> sums(isobit::digest_chunks(b.size(), chunk)), again(sums.size());
    auto total = chunk_sums(host(), b.data(), b.size(), chunk, sums.data());
    for (std::size_t place : {0u, 4095u, 4096u, 99999u}) {
      b[place] = static_cast<unsigned char>(b[place] + 1);
      update_chunk(host(), b.data(), b.size(), chunk, place / chunk, sums.data(), total);
    }
    CHECK(chunk_sums(host(), b.data(), b.size(), chunk, again.data()) == total);
    CHECK(again == sums);
    // Control: without the update they differ.
    b[5] ^= 1;
    CHECK(chunk_sums(host(), b.data(), b.size(), chunk, again.data()) != total);
    CHECK_THROWS_AS(update_chunk(host(), b.data(), b.size(), chunk, sums.size(), sums.data(), total),
                    isobit::invalid_argument);
  }
}

TEST_CASE("the vectors of the host and its scalar loop give the same sums") {
  auto const b = pattern(70000);
  for (std::uint64_t first : {0u, 5u, 127u, 128u, 1000003u})
    for (std::uint64_t units : {0u, 1u, 127u, 128u, 129u, 4000u}) {
      isobit::detail::memory_units<isobit::detail::word16> const range{b.data() + 3, first, first + units};
      auto const scalar =
          isobit::detail::serial_sum<digest_sum>(range, isobit::detail::block_products(false));
      CHECK(isobit::detail::serial_sum<digest_sum>(range) == scalar);
      CHECK(isobit::detail::lone_sum<digest_sum>(range, 0, 1) == scalar);
    }
  // All carries at once.
  bytes const ones(4096, 0xff), sparse(4096, 0x80);
  for (auto const& x : {ones, sparse}) {
    isobit::detail::memory_units<isobit::detail::word16> const range{x.data(), 128, 384};
    CHECK(isobit::detail::serial_sum<digest_sum>(range) ==
          isobit::detail::serial_sum<digest_sum>(range, isobit::detail::block_products(false)));
  }
}

TEST_CASE("by value: zeros and NaNs of any bits are equal, nothing else is") {
  auto const check = [](auto zero, auto minus_zero, std::vector<decltype(zero)> nans, decltype(zero) other) {
    using T = decltype(zero);
    auto const of = [&](T x, auto form) {
      std::vector<T> v(37, other);
      v[17] = x;
      return digest<decltype(form)>(host(), v.data(), {37});
    };
    auto const values = [&](T x) { return of(x, by_value<digest64>{}); };
    auto const wide = [&](T x) { return of(x, by_value<digest128>{}); };
    CHECK(values(zero) == values(minus_zero));
    CHECK(wide(zero) == wide(minus_zero));
    CHECK(of(zero, digest64{}) != of(minus_zero, digest64{}));
    CHECK(values(zero) != values(other));
    for (T n : nans) {
      CHECK(values(n) == values(nans[0]));
      CHECK(wide(n) == wide(nans[0]));
      CHECK(values(n) != values(zero));
      CHECK(values(n) != values(other));
    }
    for (std::size_t i = 1; i < nans.size(); ++i) CHECK(of(nans[i], digest64{}) != of(nans[0], digest64{}));
    // Another form, another digest, even where no element is special.
    CHECK(values(other) != of(other, digest64{}));
    CHECK(wide(other).low == values(other));
  };
  auto const f = [](std::uint32_t b) { return isobit::from_bits<float>(b); };
  auto const d = [](std::uint64_t b) { return isobit::from_bits<double>(b); };
  check(0.f, -0.f, {f(0x7fc00000), f(0xffc00000), f(0x7f800001), f(0xffffffff)}, f(0x7f800000));
  check(0.0, -0.0, {d(0x7ff8000000000000), d(0xfff0000000000001)}, d(0xfff0000000000000));
  using isobit::bf16;
  using isobit::f16;
  check(f16{0}, f16{0x8000}, {f16{0x7e00}, f16{0xfc01}, f16{0x7fff}}, f16{0x7c00});
  check(bf16{0}, bf16{0x8000}, {bf16{0x7fc0}, bf16{0xff81}}, bf16{0x0001});
  using isobit::e4m3;
  using isobit::e5m2;
  check(e4m3{0}, e4m3{0x80}, {e4m3{0x7f}, e4m3{0xff}}, e4m3{0x7e});
  check(e5m2{0}, e5m2{0x80}, {e5m2{0x7d}, e5m2{0xfe}, e5m2{0x7f}}, e5m2{0x7c});
  check(e2m1{0}, e2m1{8}, {}, e2m1{7});
  check(isobit::e3m2{0}, isobit::e3m2{0x20}, {}, isobit::e3m2{0x1f});
  // Integers have no values but their bits.
  std::vector<std::int16_t> const a{0, 1}, b{static_cast<std::int16_t>(-32768), 1};
  CHECK(digest<by_value<digest64>>(host(), a.data(), {2}) != digest<by_value<digest64>>(host(), b.data(), {2}));
  // Every 16-bit code against its decoded value.
  for (std::uint32_t c = 0; c < 65536; ++c) {
    auto const canonical = isobit::detail::canonical_bits<isobit::dtype::f16>(c);
    float const was = isobit::decode(f16{static_cast<std::uint16_t>(c)});
    float const is = isobit::decode(f16{static_cast<std::uint16_t>(canonical)});
    REQUIRE((isobit::is_nan(was) ? isobit::is_nan(is) : was == is));
    REQUIRE((canonical == c || isobit::is_nan(was) || was == 0));
  }
}

TEST_CASE("views: strides, gaps, transposition, reversal and broadcast do not count, the elements do") {
  constexpr std::uint64_t rows = 13, cols = 29;
  std::vector<float> dense(rows * cols);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = std::sin(float(i));
  dense[5] = -0.f, dense[77] = std::numeric_limits<float>::quiet_NaN();
  auto const want = digest(host(), dense.data(), {rows, cols});
  auto const want128 = digest<digest128>(host(), dense.data(), {rows, cols});
  auto const want_value = digest<by_value<digest64>>(host(), dense.data(), {rows, cols});
  using view = tensor_view<float, 2>;

  everyone_says<digest64>(view{dense.data(), {rows, cols}, {cols, 1}}, want);
  // Rows with gaps, poisoned; base not at an even place.
  std::vector<float> gaps(3 + rows * 40, std::numeric_limits<float>::signaling_NaN());
  for (std::uint64_t r = 0; r < rows; ++r)
    std::copy_n(dense.data() + r * cols, cols, gaps.data() + 3 + r * 40);
  everyone_says<digest64>(view{gaps.data(), {rows, cols}, {40, 1}, 3}, want);
  everyone_says<digest128>(view{gaps.data() + 3, {rows, cols}, {40, 1}}, want128);
  everyone_says<by_value<digest64>>(view{gaps.data() + 3, {rows, cols}, {40, 1}}, want_value);
  // Column by column.
  std::vector<float> turned(dense.size());
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < cols; ++c) turned[c * rows + r] = dense[r * cols + c];
  everyone_says<digest64>(view{turned.data(), {rows, cols}, {1, rows}}, want);
  everyone_says<digest128>(view{turned.data(), {rows, cols}, {1, rows}}, want128);
  // Backwards.
  std::vector<float> reversed(dense.rbegin(), dense.rend());
  everyone_says<digest64>(view{reversed.data() + dense.size() - 1, {rows, cols}, {-std::int64_t(cols), -1}}, want);
  // One row, repeated.
  std::vector<float> repeated;
  for (std::uint64_t r = 0; r < rows; ++r) repeated.insert(repeated.end(), dense.begin(), dense.begin() + cols);
  everyone_says<digest64>(view{dense.data(), {rows, cols}, {0, 1}}, digest(host(), repeated.data(), {rows, cols}));
  // Other content: one element, an order, an extent.
  gaps[3 + 40 * 7 + 11] = 2.f;
  CHECK(digest(host(), view{gaps.data() + 3, {rows, cols}, {40, 1}}) != want);
  CHECK(digest(host(), view{dense.data(), {cols, rows}, {1, cols}}) != want);
  CHECK(digest(host(), view{dense.data(), {rows, cols - 1}, {cols, 1}}) != want);
  // Nothing, and one.
  everyone_says<digest64>(view{dense.data(), {0, cols}, {cols, 1}}, digest(host(), dense.data(), {0, cols}));
  everyone_says<digest64>(view{dense.data(), {1, 1}, {9, 9}}, digest(host(), dense.data(), {1, 1}));
  // Three dimensions, of 16-bit elements, with a large job count for the threads.
  std::vector<isobit::bf16> big(70 * 100 * 200);
  for (std::size_t i = 0; i < big.size(); ++i) big[i].bits = static_cast<std::uint16_t>(i * 40503u);
  std::vector<isobit::bf16> swapped(big.size());
  for (std::size_t a = 0; a < 70; ++a)
    for (std::size_t b = 0; b < 100; ++b)
      for (std::size_t c = 0; c < 200; ++c) swapped[(b * 70 + a) * 200 + c] = big[(a * 100 + b) * 200 + c];
  tensor_view<isobit::bf16, 3> const moved{swapped.data(), {70, 100, 200}, {200, 70 * 200, 1}};
  auto const big_want = digest(host(), big.data(), {70, 100, 200});
  CHECK(digest(host(), moved) == big_want);
  CHECK(digest(host(isobit::threads(2)), moved) == big_want);
}

TEST_CASE("4-bit codes: packed, one a byte, odd counts, any stride; the padding half does not count") {
  for (std::uint64_t n : {0u, 1u, 2u, 15u, 31u, 32u, 33u, 63u, 4097u}) {
    CAPTURE(n);
    std::vector<e2m1> codes(n);
    for (std::uint64_t i = 0; i < n; ++i) codes[i].bits = static_cast<std::uint8_t>((i * 7 + i / 5) % 16);
    std::vector<e2m1x2> packed((n + 1) / 2), dirty;
    for (std::uint64_t i = 0; i < n; ++i)
      packed[i / 2].bits = static_cast<std::uint8_t>(packed[i / 2].bits | codes[i].bits << (4 * (i % 2)));
    auto const want = digest(host(), packed.data(), {n});
    // Two codes a byte are the bytes of memory.
    auto const sum = isobit::digest_range(host(), packed.data(), packed.size());
    CHECK(finish_digest(sum, {isobit::dtype::e2m1, &n, 1}) == want);
    dirty = packed;
    if (n % 2 == 1) dirty.back().bits = static_cast<std::uint8_t>(dirty.back().bits | 0xf0);
    CHECK(digest(host(), dirty.data(), {n}) == want);
    CHECK(digest(host(), codes.data(), {n}) == want);
    // Dirt above a code that has a byte of its own.
    for (auto& c : codes) c.bits = static_cast<std::uint8_t>(c.bits | 0xa0);
    CHECK(digest(host(), codes.data(), {n}) == want);
    everyone_says<digest64>(tensor_view<e2m1x2, 1>{dirty.data(), {n}, {1}}, want);
    everyone_says<digest128>(tensor_view<e2m1x2, 1>{dirty.data(), {n}, {1}},
                             digest<digest128>(host(), packed.data(), {n}));
    // From an odd half on, backwards from the end, every second code.
    std::vector<e2m1x2> moved(n + 2), wide(n + 2);
    for (std::uint64_t i = 0; i < n; ++i) {
      auto const put = [&](std::vector<e2m1x2>& v, std::uint64_t at) {
        v[at / 2].bits = static_cast<std::uint8_t>(v[at / 2].bits | (codes[i].bits & 15) << (4 * (at % 2)));
      };
      put(moved, i + 3);
      put(wide, 2 * i + 1);
    }
    everyone_says<digest64>(tensor_view<e2m1x2, 1>{moved.data(), {n}, {1}, 3}, want);
    everyone_says<digest64>(tensor_view<e2m1x2, 1>{wide.data(), {n}, {2}, 1}, want);
    if (n == 0) continue;
    CHECK(digest(host(), packed.data(), {n - 1}) != want);
    packed[(n - 1) / 2].bits ^= static_cast<std::uint8_t>(n % 2 == 1 ? 1 : 16); // the last code does count
    CHECK(digest(host(), packed.data(), {n}) != want);
  }
  // Rows that begin with a byte of their own.
  constexpr std::uint64_t rows = 5, cols = 7;
  std::vector<e2m1> codes(rows * cols);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i].bits = static_cast<std::uint8_t>(i % 11);
  std::vector<e2m1x2> by_row(rows * isobit::packed_per_row(cols), e2m1x2{0xf0});
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) {
      auto& b = by_row[r * isobit::packed_per_row(cols) + c / 2].bits;
      b = static_cast<std::uint8_t>(c % 2 == 0 ? (b & 0xf0) | codes[r * cols + c].bits
                                               : (b & 0x0f) | codes[r * cols + c].bits << 4);
    }
  auto const stride = static_cast<std::int64_t>(2 * isobit::packed_per_row(cols));
  everyone_says<digest64>(tensor_view<e2m1x2, 2>{by_row.data(), {rows, cols}, {stride, 1}},
                          digest(host(), codes.data(), {rows, cols}));
}

TEST_CASE("elements of every type at every alignment and length, by callables too") {
  auto const check = [](auto zero) {
    using T = decltype(zero);
    for (std::uint64_t n : {0u, 1u, 3u, 7u, 8u, 9u, 17u, 300u}) {
      auto const raw = pattern(n * sizeof(T));
      auto const want = [&] {
        std::vector<T> aligned(n + 1);
        if (n > 0) std::memcpy(static_cast<void*>(aligned.data()), raw.data(), raw.size());
        return digest(host(), aligned.data(), {n});
      }();
      auto const load = [&](std::uint64_t i) {
        T x;
        std::memcpy(static_cast<void*>(&x), raw.data() + i * sizeof(T), sizeof(T));
        return x;
      };
      CHECK(digest_elements(host(), load, {n}) == want);
      CHECK(digest_elements(isobit::thread{}, load, &n, 1) == want);
      CHECK(digest_elements(host(), isobit::indexed(load, [n](std::uint64_t i) { return n - 1 - (n - 1 - i); }), {n}) ==
            want);
    }
  };
  check(0.0);
  check(0.f);
  check(isobit::f16{});
  check(isobit::bf16{});
  check(isobit::e4m3{});
  check(isobit::e8m0{});
  check(std::int64_t{});
  check(std::uint32_t{});
  check(std::int16_t{});
  check(std::uint8_t{});
}

TEST_CASE("bad tensors are refused") {
  float x[4] = {};
  using view = tensor_view<float, 2>;
  CHECK_THROWS_AS(digest(host(), view{nullptr, {2, 2}, {2, 1}}), isobit::invalid_argument);
  CHECK_THROWS_AS(digest(host(), view{x, {1ull << 40, 1ull << 40}, {2, 1}}), isobit::invalid_argument);
  CHECK_THROWS_AS(digest(host(), view{x, {1ull << 62, 1}, {0, 0}}), isobit::invalid_argument);
  CHECK_THROWS_AS(digest<digest128>(host(), static_cast<e2m1x2*>(nullptr), {1}), isobit::invalid_argument);
  CHECK_THROWS_AS(digest_elements(host(), isobit::stored(x), {1ull << 40, 1ull << 40}), isobit::invalid_argument);
  CHECK_NOTHROW(digest(host(), view{nullptr, {0, 2}, {2, 1}}));
}
