// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The narrow formats: outside vectors, every code there and back, and rounding against a search among all codes.
#include <doctest/doctest.h>

#include <isobit/format/e8m0.hpp>
#include <isobit/format/element.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace isobit;

template <class T> constexpr uint32_t saturated(float x) { return encode<T, overflow::saturate>(x).bits; }
template <class T> constexpr uint32_t special(float x) { return encode<T, overflow::to_special>(x).bits; }

static_assert(saturated<e4m3>(1.0f) == 0x38 && decode(e4m3{0x38}) == 1.0f);
static_assert(e4m3::format.largest() == 0x7e && e4m3::format.largest_exponent() == 8);
static_assert(e5m2::format.largest() == 0x7b && e5m2::format.infinity() == 0x7c &&
              e5m2::format.largest_exponent() == 15);
static_assert(decode(e4m3{0x7e}) == 448.0f && decode(e5m2{0x7b}) == 57344.0f && decode(f16{0x7bff}) == 65504.0f);
static_assert(decode(e3m2{0x1f}) == 28.0f && decode(e2m3{0x1f}) == 7.5f && decode(e2m1{7}) == 6.0f);
static_assert(decode(e4m3{1}) == 0x1p-9f && decode(e5m2{1}) == 0x1p-16f && decode(f16{1}) == 0x1p-24f);
static_assert(decode(bf16{1}) == 0x1p-133f && special<bf16>(0x1p-133f) == 1);
static_assert(sizeof(e4m3) == 1 && sizeof(f16) == 2 && stl::is_trivially_copyable_v<e4m3>);

struct golden {
  uint32_t x;
  uint8_t e4m3_sat, e4m3_special, e5m2_sat, e5m2_special, e3m2_code, e2m3_code, e2m1_code;
};

// Made with the host functions of the CUDA 13.0 headers.
constexpr golden vectors[] = {
    {0x80000000, 0x80, 0x80, 0x80, 0x80, 0x20, 0x20, 0x8}, {0x00000001, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0},
    {0x3a800000, 0x00, 0x00, 0x14, 0x14, 0x00, 0x00, 0x0}, {0x3a800001, 0x01, 0x01, 0x14, 0x14, 0x00, 0x00, 0x0},
    {0x3b400000, 0x02, 0x02, 0x1a, 0x1a, 0x00, 0x00, 0x0}, {0x3c780000, 0x08, 0x08, 0x24, 0x24, 0x00, 0x00, 0x0},
    {0x3e800000, 0x28, 0x28, 0x34, 0x34, 0x04, 0x02, 0x0}, {0x3e800001, 0x28, 0x28, 0x34, 0x34, 0x04, 0x02, 0x1},
    {0x3f400000, 0x34, 0x34, 0x3a, 0x3a, 0x0a, 0x06, 0x2}, {0x3fa00000, 0x3a, 0x3a, 0x3d, 0x3d, 0x0d, 0x0a, 0x2},
    {0x3fe00000, 0x3e, 0x3e, 0x3f, 0x3f, 0x0f, 0x0e, 0x4}, {0x40200000, 0x42, 0x42, 0x41, 0x41, 0x11, 0x12, 0x4},
    {0x40600000, 0x46, 0x46, 0x43, 0x43, 0x13, 0x16, 0x6}, {0x40a00000, 0x4a, 0x4a, 0x45, 0x45, 0x15, 0x1a, 0x6},
    {0x40a00001, 0x4a, 0x4a, 0x45, 0x45, 0x15, 0x1a, 0x7}, {0x41f00000, 0x5f, 0x5f, 0x50, 0x50, 0x1f, 0x1f, 0x7},
    {0x43e80000, 0x7e, 0x7e, 0x5f, 0x5f, 0x1f, 0x1f, 0x7}, {0x43e80001, 0x7e, 0x7f, 0x5f, 0x5f, 0x1f, 0x1f, 0x7},
    {0x476fffff, 0x7e, 0x7f, 0x7b, 0x7b, 0x1f, 0x1f, 0x7}, {0x47700000, 0x7e, 0x7f, 0x7b, 0x7c, 0x1f, 0x1f, 0x7},
    {0x7f800000, 0x7e, 0x7f, 0x7b, 0x7c, 0x1f, 0x1f, 0x7}, {0xff800000, 0xfe, 0xff, 0xfb, 0xfc, 0x3f, 0x3f, 0xf},
    {0x7fc00000, 0x7f, 0x7f, 0x7f, 0x7f, 0x1f, 0x1f, 0x7}, {0xffc00000, 0x7f, 0x7f, 0x7f, 0x7f, 0x1f, 0x1f, 0x7},
    {0xbe800000, 0xa8, 0xa8, 0xb4, 0xb4, 0x24, 0x22, 0x8},
};

TEST_CASE("element vectors of the CUDA headers") {
  for (golden const& g : vectors) {
    CAPTURE(g.x);
    float const x = from_bits<float>(g.x);
    CHECK(saturated<e4m3>(x) == g.e4m3_sat);
    CHECK(special<e4m3>(x) == g.e4m3_special);
    CHECK(saturated<e5m2>(x) == g.e5m2_sat);
    CHECK(special<e5m2>(x) == g.e5m2_special);
    CHECK(special<e3m2>(x) == g.e3m2_code);
    CHECK(special<e2m3>(x) == g.e2m3_code);
    CHECK(special<e2m1>(x) == g.e2m1_code);
  }
}

TEST_CASE("two e2m1 codes in a byte: the even element in the low half") {
  static_assert(pack({1}, {0xf}).bits == 0xf1 && pack({1}, {0xf}).even().bits == 1 && pack({1}, {0xf}).odd().bits == 0xf);
  int wrong = 0;
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < 16; ++b) {
      e2m1 const even{static_cast<uint8_t>(a)}, odd{static_cast<uint8_t>(b)};
      e2m1x2 const both = pack(even, odd);
      wrong += both.bits != a + 16 * b || both.even() != even || both.odd() != odd;
    }
  CHECK(wrong == 0);
  static_assert(packed_per_row(0) == 0 && packed_per_row(1) == 1 && packed_per_row(2) == 1 && packed_per_row(33) == 17);
  static_assert(packed_per_row(~uint64_t(0)) == uint64_t(1) << 63);
}

TEST_CASE("e2m1: every tie goes to the even code, and the floats beside it do not") {
  constexpr float ties[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  constexpr uint32_t codes[] = {0, 2, 2, 4, 4, 6, 6};
  for (int i = 0; i < 7; ++i) {
    CHECK(special<e2m1>(ties[i]) == codes[i]);
    CHECK(special<e2m1>(-ties[i]) == (codes[i] | 8));
    CHECK(special<e2m1>(from_bits<float>(to_bits(ties[i]) - 1)) == uint32_t(i));
    CHECK(special<e2m1>(from_bits<float>(to_bits(ties[i]) + 1)) == uint32_t(i) + 1);
  }
  CHECK(special<e2m1>(from_bits<float>(0x3e800002)) == 1); // 0.25000006: not 0
}

TEST_CASE("reported casts: 448, 464, 464.0001, 465 and 4.25 to e4m3") {
  for (float x : {448.0f, 464.0f, 464.0001f, 465.0f}) CHECK(saturated<e4m3>(x) == 0x7e);
  CHECK(saturated<e4m3>(4.25f) == 0x48);
  CHECK(special<e4m3>(448.0f) == 0x7e);
  CHECK(special<e4m3>(464.0f) == 0x7e); // a tie: to even
  CHECK(special<e4m3>(464.0001f) == 0x7f);
  CHECK(special<e4m3>(465.0f) == 0x7f);
}

TEST_CASE("half and bfloat16 known values") {
  CHECK(special<f16>(65519.0f) == 0x7bff);
  CHECK(special<f16>(65520.0f) == 0x7c00);
  CHECK(saturated<f16>(65520.0f) == 0x7bff);
  CHECK(special<f16>(-0x1p-25f) == 0x8000); // a tie to zero keeps its sign
  CHECK(special<f16>(from_bits<float>(0x33000001)) == 0x0001);
  CHECK(special<f16>(1.0f / 3.0f) == 0x3555);
  CHECK(special<bf16>(1.00390625f) == 0x3f80); // ties to even
  CHECK(special<bf16>(1.01171875f) == 0x3f82);
  CHECK(special<bf16>(from_bits<float>(0x7f7fffff)) == 0x7f80);
  CHECK(saturated<bf16>(from_bits<float>(0x7f7fffff)) == 0x7f7f);
  CHECK(special<bf16>(from_bits<float>(0x00008000)) == 0); // half of the smallest
  CHECK(special<bf16>(from_bits<float>(0x00008001)) == 1);
  CHECK(special<f16>(from_bits<float>(0xffc12345)) == 0x7fff); // CUDA's NaN, whatever the sign
  CHECK(special<bf16>(from_bits<float>(0x7f800001)) == 0x7fff);
}

template <class T> bool is_number(T x) {
  return !is_nan(x) &&
         !(T::format.special == specials::ieee && (x.bits & T::format.magnitude()) == T::format.infinity());
}

template <class T> void every_code_there_and_back() {
  uint32_t const codes = 2 * T::format.sign();
  uint32_t wrong = 0, nans = 0;
  for (uint32_t c = 0; c < codes; ++c) {
    T const x{static_cast<decltype(T::bits)>(c)};
    float const value = decode(x);
    if (is_nan(x)) {
      ++nans;
      wrong += to_bits(value) != 0x7fc00000u || special<T>(value) != T::format.nan();
      continue;
    }
    wrong += special<T>(value) != c || encode<T>(static_cast<double>(value)).bits != c;
    if (is_number(x)) wrong += saturated<T>(value) != c;
  }
  CHECK(wrong == 0);
  uint32_t const mantissas = 1u << T::format.mantissa_bits;
  CHECK(nans == (T::format.special == specials::ieee      ? 2 * (mantissas - 1)
                 : T::format.special == specials::one_nan ? 2
                                                          : 0));
}

TEST_CASE("every code decodes to a number that encodes to it") {
  every_code_there_and_back<e4m3>();
  every_code_there_and_back<e5m2>();
  every_code_there_and_back<e3m2>();
  every_code_there_and_back<e2m3>();
  every_code_there_and_back<e2m1>();
  every_code_there_and_back<f16>();
  every_code_there_and_back<bf16>();
}

// The nearest code by a search among the values of all non-negative codes, in double, which holds every midpoint.
template <class T> struct by_search {
  std::vector<double> value;
  by_search() {
    for (uint32_t c = 0; c <= T::format.largest(); ++c) value.push_back(decode(T{static_cast<decltype(T::bits)>(c)}));
    value.push_back(2 * value.back() - value[value.size() - 2]); // where the next number would be
  }
  uint32_t operator()(double x, overflow o) const {
    uint32_t const sign = std::signbit(x) ? T::format.sign() : 0;
    x = std::abs(x);
    uint32_t c = static_cast<uint32_t>(std::lower_bound(value.begin(), value.end(), x) - value.begin());
    if (c == value.size()) --c;
    if (c > 0) {
      double const middle = (value[c - 1] + value[c]) / 2;
      if (x < middle || (x == middle && c % 2 == 1)) --c;
    }
    if (c > T::format.largest())
      c = o == overflow::saturate || T::format.special == specials::none ? T::format.largest()
          : T::format.special == specials::ieee                          ? T::format.infinity()
                                                                         : T::format.nan();
    return c | sign;
  }
};

template <class T> void near_every_midpoint() {
  by_search<T> const search;
  uint32_t wrong = 0, naive_wrong = 0;
  std::mt19937 random(1);
  auto const check = [&](double x) {
    for (double v : {x, -x}) {
      wrong += encode<T>(v).bits != search(v, overflow::to_special);
      wrong += encode<T, overflow::saturate>(v).bits != search(v, overflow::saturate);
      float const f = static_cast<float>(v);
      wrong += special<T>(f) != search(f, overflow::to_special);
      wrong += saturated<T>(f) != search(f, overflow::saturate);
      naive_wrong += saturated<T>(f) != search(v, overflow::saturate); // two roundings: must differ somewhere
    }
  };
  for (size_t c = 0; c + 1 < search.value.size(); ++c) {
    double const middle = (search.value[c] + search.value[c + 1]) / 2;
    for (double x : {search.value[c], middle}) {
      check(x);
      check(std::nextafter(x, 1e300));
      check(std::nextafter(x, 0.0));
      float const f = static_cast<float>(x);
      check(std::nextafterf(f, 1e38f));
      check(std::nextafterf(f, 0.0f));
    }
    double const between = search.value[c] + (search.value[c + 1] - search.value[c]) * (random() / 4294967296.0);
    check(between);
  }
  for (double x : {1e300, 1e-300, 0x1p-1074, 0x1p-149, 0x1p-126, 1e30, 3.0e38}) check(x);
  CHECK(wrong == 0);
  CHECK(naive_wrong > 0);
}

TEST_CASE("rounding next to every midpoint, from float and double") {
  near_every_midpoint<e4m3>();
  near_every_midpoint<e5m2>();
  near_every_midpoint<e3m2>();
  near_every_midpoint<e2m3>();
  near_every_midpoint<e2m1>();
  near_every_midpoint<f16>();
  near_every_midpoint<bf16>();
}

TEST_CASE("x * 2^power is rounded once, for subnormal x too") {
  by_search<e4m3> const search;
  std::mt19937 random(2);
  uint32_t wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    uint32_t bits = random();
    if (i % 4 == 0) bits &= 0x807fffff; // subnormal
    float const x = from_bits<float>(bits);
    if (is_nan(x) || is_inf(x)) continue;
    // Powers that bring x near the format's range.
    int const power = -static_cast<int>((bits >> 23) & 255) + 127 - 12 + static_cast<int>(random() % 24);
    for (int p : {power, power + static_cast<int>(random() % 24)})
      wrong += encode<e4m3, overflow::saturate>(x, p).bits != search(std::ldexp(double(x), p), overflow::saturate);
  }
  CHECK(wrong == 0);
}

TEST_CASE("e8m0: values and reciprocals, none flushed") {
  for (int b = 0; b < 255; ++b) {
    e8m0 const s{static_cast<uint8_t>(b)};
    CHECK(double(decode(s)) == std::ldexp(1.0, b - 127));
    CHECK(double(reciprocal(s)) == std::ldexp(1.0, 127 - b));
  }
  CHECK(to_bits(decode(e8m0{0})) == 0x00400000u);
  CHECK(to_bits(reciprocal(e8m0{0})) == 0x7f000000u);
  CHECK(to_bits(reciprocal(e8m0{254})) == 0x00400000u);
  CHECK(is_nan(decode(e8m0{255})));
  CHECK(is_nan(reciprocal(e8m0{255})));
}

TEST_CASE("e8m0: down, up and nearest, from float and double") {
  using enum e8m0_rounding;
  static_assert(encode_e8m0<down>(3.0f).bits == 0x80 && encode_e8m0<up>(3.0f).bits == 0x81);
  static_assert(encode_e8m0<nearest>(3.0f).bits == 0x81 && encode_e8m0<nearest>(0.75f).bits == 0x7f); // ties: the larger
  static_assert(encode_e8m0<down>(0.75).bits == 0x7e && encode_e8m0<up>(0.75).bits == 0x7f);
  static_assert(encode_e8m0<nearest>(6.0f).bits == 0x82 && encode_e8m0<nearest>(from_bits<float>(0x403fffff)).bits == 0x80);
  static_assert(encode_e8m0<nearest>(0x1.7ffffffffffffp1).bits == 0x80); // beside a tie: a detour by float would lose it
  static_assert(encode_e8m0<up>(0x1.0000000000001p0).bits == 0x80 && encode_e8m0<up>(1.0).bits == 0x7f);
  float const infinity = from_bits<float>(0x7f800000), most = from_bits<float>(0x7f7fffff);
  CHECK(encode_e8m0<down>(0.0f).bits == 0);
  CHECK(encode_e8m0<up>(-0.0f).bits == 0);
  CHECK(encode_e8m0<up>(from_bits<float>(1)).bits == 0);
  CHECK(encode_e8m0<up>(from_bits<float>(0x00400001)).bits == 1);
  CHECK(encode_e8m0<nearest>(from_bits<float>(0x005fffff)).bits == 0);
  CHECK(encode_e8m0<nearest>(from_bits<float>(0x00600000)).bits == 1); // a tie
  CHECK(encode_e8m0<down>(-3.0f).bits == 0x80);
  CHECK(encode_e8m0<down>(most).bits == 254);
  CHECK(encode_e8m0<up>(most).bits == 255);
  CHECK(encode_e8m0<up, overflow::saturate>(most).bits == 254);
  CHECK(encode_e8m0<down>(infinity).bits == 255);
  CHECK(encode_e8m0<down, overflow::saturate>(infinity).bits == 254);
  CHECK(encode_e8m0<down, overflow::saturate>(1e300).bits == 254);
  CHECK(encode_e8m0<nearest, overflow::saturate>(from_bits<float>(0xffc00000)).bits == 255);
  int wrong = 0;
  for (int b = 0; b < 255; ++b) {
    float const x = decode(e8m0{static_cast<uint8_t>(b)});
    wrong += encode_e8m0<down>(x).bits != b || encode_e8m0<up>(x).bits != b || encode_e8m0<nearest>(x).bits != b;
    float const after = from_bits<float>(to_bits(x) + 1), before = from_bits<float>(to_bits(x) - 1);
    wrong += encode_e8m0<down>(after).bits != b || encode_e8m0<up>(after).bits != b + 1;
    wrong += encode_e8m0<up>(before).bits != b || (b > 0 && encode_e8m0<down>(before).bits != b - 1);
  }
  CHECK(wrong == 0);
}

struct fixed_point {
  int32_t q;
};

} // namespace

template <> struct isobit::element_traits<fixed_point> {
  using value = double;
  static constexpr double decode(fixed_point x) { return x.q / 65536.0; }
};

namespace {
TEST_CASE("elements decode to the type that arithmetic uses") {
  static_assert(std::is_same_v<element_value<f16>, float> && std::is_same_v<element_value<e5m2>, float>);
  static_assert(std::is_same_v<element_value<double>, double> && std::is_same_v<element_value<int64_t>, int64_t>);
  static_assert(std::is_same_v<element_value<fixed_point>, double>);
  CHECK(decode_element(f16{0x3c00}) == 1.0f);
  CHECK(decode_element(bf16{0xbf80}) == -1.0f);
  CHECK(decode_element(3.5) == 3.5);
  CHECK(decode_element(7) == 7);
  CHECK(decode_element(fixed_point{32768}) == 0.5);
}
} // namespace

TEST_CASE("the device's short decoding gives the same numbers") {
  auto const check = [](auto type) {
    using T = decltype(type);
    int different = 0, compared = 0;
    for (uint32_t code = 0; code < (1u << (8 * sizeof(T))); ++code) {
      T const x{static_cast<decltype(T::bits)>(code)};
      float const expected = isobit::decode(x), got = isobit::detail::decode_by_scaling(x);
      different += is_nan(expected) ? !isobit::is_nan(got) : to_bits(got) != to_bits(expected);
      ++compared;
    }
    CHECK(different == 0);
    CHECK(compared == (1 << (8 * sizeof(T))));
  };
  check(f16{});
  check(bf16{});
  check(e4m3{});
  check(e5m2{});
  check(e3m2{});
  check(e2m3{});
  check(e2m1{});
}
