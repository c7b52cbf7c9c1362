// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/buffer.hpp>
#include <isobit/testing/compare_kernel.hpp>

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <sstream>
#include <utility>

using isobit::from_bits;
using isobit::testing::bits_equal;
using isobit::testing::verdict;

namespace {

bool says(verdict const& v, std::string const& words) {
  bool const found = v.text().find(words) != std::string::npos;
  if (!found) MESSAGE("\"" << words << "\" is not in:\n" << v);
  return found;
}

using floats = std::vector<float>;

} // namespace

TEST_CASE("equal bits pass, and the verdict says how many") {
  floats const x{1, -0.0f, from_bits<float>(0x7fc12345u), 1e-45f};
  auto const v = bits_equal(x, x);
  CHECK(v);
  CHECK(v.compared() == 4);
  CHECK(v.text() == "isobit::testing::bits_equal passed: 4 elements compared");
  std::ostringstream out;
  out << v;
  CHECK(out.str() == v.text());
}

TEST_CASE("comparing nothing fails") {
  auto const v = bits_equal(floats{}, floats{});
  CHECK_FALSE(v);
  CHECK(says(v, "bits_equal FAILED: nothing was compared"));
  CHECK_FALSE(bits_equal(std::tuple<>{}, std::tuple<>{}));
  CHECK_FALSE(verdict("any"));
}

TEST_CASE("the report: count, index, chunk, bits, class, distance") {
  floats a(5000, 1.0f), b = a;
  b[2050] = from_bits<float>(0x3f800003u);
  b[4000] = from_bits<float>(0x3f80000au);
  auto const v = bits_equal(a, b);
  CHECK_FALSE(v);
  CHECK(v.different() == 2);
  CHECK(v.index() == 2050);
  CHECK(says(v, "2 of 5000 elements (float) differ"));
  CHECK(says(v, "first at element 2050 (chunk 2 of 1024 elements)"));
  CHECK(says(v, "one:   0x3f800000  1  normal"));
  CHECK(says(v, "other: 0x3f800003"));
  CHECK(says(v, "3 units in the last place apart"));
  CHECK(says(v, "largest distance: 10 units in the last place, at element 4000"));
  CHECK(says(bits_equal(a, b, 100), "chunk 20 of 100 elements"));
}

TEST_CASE("what == hides: signed zeros, NaN payloads, subnormals") {
  CHECK(says(bits_equal(0.0f, -0.0f), "zeros of different sign"));
  CHECK(says(bits_equal(0.0, -0.0), "1 differ in the sign of a zero only"));
  float const nan = from_bits<float>(0x7fc00000u);
  CHECK(bits_equal(nan, nan));
  CHECK(says(bits_equal(nan, from_bits<float>(0x7fc00001u)), "two NaNs with different bits"));
  CHECK(says(bits_equal(floats{1, nan}, floats{1, 2}), "a NaN stands against a number at element 1"));
  CHECK(says(bits_equal(0.0f, from_bits<float>(1)), "1.40129846e-45  subnormal"));
  CHECK(says(bits_equal(from_bits<float>(0x7f800000u), 1.0f), "inf  infinity"));
}

TEST_CASE("narrow formats, integers, structs") {
  using isobit::bf16;
  using isobit::e4m3;
  using isobit::f16;
  CHECK(says(bits_equal(f16{0x3c00}, f16{0x3c02}), "2 units in the last place apart"));
  CHECK(says(bits_equal(f16{0x0001}, f16{0x8001}), "(f16)"));
  CHECK(says(bits_equal(f16{0x0001}, f16{0x0000}), "subnormal"));
  CHECK(says(bits_equal(bf16{0x3f80}, bf16{0x3f81}), "(bf16)"));
  CHECK(says(bits_equal(bf16{0x0000}, bf16{0x8000}), "zeros of different sign"));
  CHECK(says(bits_equal(e4m3{0x7f}, e4m3{0x38}), "a NaN and a number"));
  CHECK(says(bits_equal(e4m3{0x38}, e4m3{0x39}), "0x38  1  normal"));
  CHECK(says(bits_equal(-1, 1), "0xffffffff  -1"));
  CHECK(says(bits_equal(std::uint64_t(5), std::uint64_t(6)), "(uint64)"));
  struct pair {
    std::uint32_t a, b;
  };
  CHECK(bits_equal(pair{1, 2}, pair{1, 2}));
  CHECK(says(bits_equal(pair{1, 2}, pair{1, 3}), "bytes 01 00 00 00 03 00 00 00"));
}

TEST_CASE("shapes: counts, types, several outputs, views") {
  CHECK(says(bits_equal(floats{1}, floats{1, 2}), "1 against 2 elements"));
  CHECK(says(bits_equal(1.0f, 1u), "elements of type float against uint32"));
  CHECK(says(bits_equal(std::pair(1.0f, 2.0f), 1.0f), "2 against 1 outputs"));
  auto const v = bits_equal(std::tuple(floats{1, 2}, 3), std::tuple(floats{1, 2}, 4));
  CHECK(v.output() == 1);
  CHECK(says(v, "output 1: 1 of 1 elements (int32) differ"));
  floats const x{1, 2, 3};
  CHECK(bits_equal(std::span(x.data(), 2), floats{1, 2}));
  CHECK(bits_equal(std::array<double, 2>{1, 2}, std::vector<double>{1, 2}));
}

TEST_CASE("the kernel that compares on a device, on the simulator") {
  namespace simt = isobit::simt;
  namespace testing = isobit::testing;
  struct odd {
    unsigned char byte[3];
  };
  auto const check = [](auto zero, std::size_t n) {
    using T = decltype(zero);
    for (unsigned threads : {1u, 33u, 128u}) {
      auto const a = testing::filled<T>(n, 0x11);
      auto b = a;
      testing::device_difference none;
      simt::launch(3, threads, testing::compare_bits_kernel<T>, a.data(), b.data(), isobit::uint64_t(n), &none);
      CHECK(none.different == 0);
      for (std::size_t const at : {std::size_t(0), n / 2, n - 1}) {
        b = a;
        reinterpret_cast<unsigned char*>(&b[at])[sizeof(T) - 1] ^= 1;
        reinterpret_cast<unsigned char*>(&b[n - 1])[0] ^= 0x80;
        testing::device_difference d;
        simt::launch({.grid = {3}, .block = {threads}, .seed = at}, testing::compare_bits_kernel<T>, a.data(), b.data(),
                     isobit::uint64_t(n), &d);
        CHECK(d.different == (at == n - 1 ? 1 : 2));
        CHECK(d.first() == at);
      }
    }
  };
  check(float{}, 1001);
  check(double{}, 1000);
  check(std::uint16_t{}, 77);
  check(odd{}, 500);
}

TEST_CASE("memory at an offset") {
  for (std::size_t const offset : {0, 4, 12, 16, 252}) {
    isobit::testing::placed<float> const p(floats{1, 2, 3}, offset);
    CHECK(reinterpret_cast<std::uintptr_t>(p.data()) % 256 == offset);
    CHECK(bits_equal(p, floats{1, 2, 3}));
  }
  isobit::testing::placed<float> const none(floats{}, 4);
  CHECK(none.size() == 0);
}
