// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host group against the interpreter: every path, length, offset and executor gives the bits of the definition.
#include <doctest/doctest.h>

#include <isobit/group/threads.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using isobit::host;
using isobit::to_bits;
using isobit::testing::bits_equal;

// Bits of the definition, through the same finish.
template <class T, class Acc> auto specified(T const* x, std::uint64_t n, Acc const& acc) {
  if (n == 0) return acc.empty();
  auto const load = [=](std::uint64_t i) { return isobit::decode_element(x[i]); };
  return isobit::with_default_environment([&] { return acc.finish(isobit::interpret<isobit::tree>(n, load, acc)); });
}

// Values of widely different size, so that another bracketing gives other bits.
template <class T> std::vector<T> rough(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 engine(seed);
  std::vector<T> x(n);
  for (T& v : x) {
    auto const mantissa = static_cast<double>(static_cast<std::int32_t>(engine()));
    if constexpr (std::is_floating_point_v<T>)
      v = static_cast<T>(std::ldexp(mantissa, static_cast<int>(engine() % 40) - 50));
    else
      v = static_cast<T>(engine());
  }
  return x;
}

template <class T> std::vector<T> rough_with_specials(std::size_t n, std::uint32_t seed) {
  using limits = std::numeric_limits<T>;
  T const special[] = {T(0),          -T(0),          limits::denorm_min(), -limits::denorm_min(), limits::min(),
                       limits::max(), -limits::max(), limits::infinity(),   -limits::infinity(),   limits::quiet_NaN()};
  auto x = rough<T>(n, seed);
  std::mt19937 engine(seed);
  // Mostly subnormals and zeros; infinities and NaN in some arrays only, since they drown everything else.
  unsigned const kinds = seed % 3 == 0 ? 10 : seed % 3 == 1 ? 7 : 5;
  for (T& v : x)
    if (engine() % 4 == 0) v = special[engine() % kinds];
  return x;
}

std::vector<std::uint64_t> lengths(std::uint64_t up_to) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 0; n <= up_to; n += n < 600                       ? 1
                                             : n % 64 >= 62 || n % 64 <= 1 ? 1
                                             : n % 64 < 62                 ? 62 - n % 64
                                                                           : 1)
    all.push_back(n);
  return all;
}

template <class T> void check_lengths_and_offsets() {
  auto const x = rough<T>(4200 + 64);
  isobit::plain<T> const acc;
  for (std::uint64_t const n : lengths(4200)) {
    std::uint64_t const offset = n * 7 % 16; // each offset within 16 elements meets each kind of length
    auto const* p = x.data() + offset;
    CAPTURE(n);
    CAPTURE(offset);
    REQUIRE(bits_equal(isobit::reduce(host(), p, n), specified(p, n, acc)));
  }
  // Every offset at some lengths around the group, the block and two blocks.
  for (std::uint64_t const n : {63u, 64u, 65u, 127u, 1000u, 4095u, 4096u, 4097u, 4200u})
    for (std::uint64_t offset = 0; offset < 32; ++offset)
      REQUIRE(bits_equal(isobit::reduce(host(), x.data() + offset, n), specified(x.data() + offset, n, acc)));
}

#if defined(__x86_64__)
struct flush_to_zero {
  unsigned saved = __builtin_ia32_stmxcsr();
  explicit flush_to_zero(unsigned bits = 0x8040u) { __builtin_ia32_ldmxcsr(saved | bits); }
  ~flush_to_zero() { __builtin_ia32_ldmxcsr(saved); }
};
#endif

// The bits that one set of vector instructions gives; the dispatch would choose one by the processor.
template <class Isa, class T, class Acc> auto with_isa(T const* x, std::uint64_t n, Acc const& acc) {
  return isobit::with_default_environment([&] { return acc.finish(isobit::detail::fold_blocks<Isa>(isobit::contiguous{x}, 0, n, acc)); });
}

template <class Isa> void check_isa() {
  auto const check = [](auto const& x, auto const& acc) {
    for (std::uint64_t n :
         {1u, 17u, 63u, 64u, 65u, 128u, 200u, 1000u, 2047u, 2048u, 2049u, 4096u, 5000u, 32768u, 40001u}) {
      CAPTURE(n);
      REQUIRE(bits_equal(with_isa<Isa>(x.data(), n, acc), specified(x.data(), n, acc)));
    }
  };
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    auto const f = seed == 0 ? rough<float>(40001) : rough_with_specials<float>(40001, seed);
    auto const d = seed == 0 ? rough<double>(40001) : rough_with_specials<double>(40001, seed);
    check(f, isobit::plain<float>{});
    check(d, isobit::plain<double>{});
    check(f, isobit::compensated<float>{});
    check(d, isobit::compensated<double>{});
  }
}

// Each code alone among codes of -0: the sum is its value.
template <class Isa, class T> void check_decode() {
  constexpr auto f = T::format;
  T const minus_zero{static_cast<decltype(T::bits)>(f.sign())};
  std::vector<T> x(64, minus_zero);
  for (std::uint32_t code = 0; code < 2 * f.sign(); ++code) {
    std::size_t const at = code * 7 % 64;
    x[at] = T{static_cast<decltype(T::bits)>(code)};
    CAPTURE(code);
    REQUIRE(bits_equal(with_isa<Isa>(x.data(), x.size(), isobit::plain<float>{}),
                       isobit::canonical(isobit::decode(x[at]))));
    x[at] = minus_zero;
  }
}

} // namespace

TEST_CASE("host: each set of vector instructions, plain and compensated") {
  check_isa<isobit::detail::isa_base>();
#if defined(ISOBIT_HAS_ISA_AVX2)
  if (isobit::detail::has_avx2()) check_isa<isobit::detail::isa_avx2>();
#endif
}

TEST_CASE_TEMPLATE("host: each set of vector instructions decodes every code", T, isobit::f16, isobit::bf16,
                   isobit::e4m3, isobit::e5m2) {
  check_decode<isobit::detail::isa_base, T>();
#if defined(ISOBIT_HAS_ISA_AVX2)
  if (isobit::detail::has_avx2()) check_decode<isobit::detail::isa_avx2, T>();
#endif
}

TEST_CASE("host: float, every length to 600 and each edge to 4200, every offset") {
  check_lengths_and_offsets<float>();
}
TEST_CASE("host: double, the same") { check_lengths_and_offsets<double>(); }
TEST_CASE("host: int32, int64 and uint8, the same") {
  check_lengths_and_offsets<std::int32_t>();
  check_lengths_and_offsets<std::int64_t>();
  check_lengths_and_offsets<std::uint8_t>();
}

TEST_CASE_TEMPLATE("host: special values", T, float, double) {
  isobit::plain<T> const acc;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    auto const x = rough_with_specials<T>(1 + seed * 83, seed);
    CAPTURE(seed);
    REQUIRE(bits_equal(isobit::reduce(host(), x.data(), x.size()), specified(x.data(), x.size(), acc)));
  }
}

TEST_CASE_TEMPLATE("host: one special value at each position", T, float, double) {
  using limits = std::numeric_limits<T>;
  for (T const special : {limits::infinity(), limits::quiet_NaN(), -limits::signaling_NaN(), limits::denorm_min()})
    for (std::size_t n : {1u, 5u, 64u, 200u, 300u})
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<T> x(n, -T(0));
        x[at] = special;
        // -0 + x is x, so the sum is the special value itself, a NaN in its one form.
        REQUIRE(bits_equal(isobit::reduce(host(), x.data(), n), isobit::canonical(special)));
      }
}

TEST_CASE("host: nothing is padded: the sum of -0 is -0, the sum of nothing +0") {
  std::vector<float> const x(10000, -0.0f);
  for (std::uint64_t n : {1u, 2u, 3u, 63u, 64u, 65u, 100u, 4095u, 4097u, 9999u})
    CHECK(to_bits(isobit::reduce(host(), x.data(), n)) == 0x80000000u);
  CHECK(to_bits(isobit::reduce(host(), x.data(), 0)) == 0u);
  CHECK(to_bits(isobit::reduce(host(), static_cast<float const*>(nullptr), 0)) == 0u);
}

#if defined(__x86_64__)
TEST_CASE_TEMPLATE("host: flush-to-zero and denormals-are-zero at entry change nothing and come back", T, float,
                   double) {
  std::vector<T> x(5000);
  std::mt19937 engine(3);
  for (T& v : x) v = isobit::from_bits<T>(static_cast<isobit::float_bits<T>>(engine() % 1000 + 1)); // subnormal
  auto const expected = specified(x.data(), x.size(), isobit::plain<T>{});
  REQUIRE(isobit::is_subnormal(expected));
  T sum, parts;
  unsigned after;
  bool control;
  {
    flush_to_zero const guard;
    sum = isobit::reduce(host(), x.data(), x.size());
    parts = isobit::reduce(host(isobit::inline_executor{}, 64), x.data(), x.size());
    after = __builtin_ia32_stmxcsr();
    // Negative control: the scalar operation outside an entry point is flushed here.
    T volatile a = x[0], b = x[1];
    T const flushed = a + b;
    control = to_bits(flushed) == 0;
  }
  CHECK(bits_equal(sum, expected));
  CHECK(bits_equal(parts, expected));
  CHECK((after & 0x8040u) == 0x8040u);
  CHECK(control);
}

TEST_CASE("host: the rounding mode at entry changes nothing") {
  auto const x = rough<float>(5000);
  auto const expected = specified(x.data(), x.size(), isobit::plain<float>{});
  for (unsigned mode : {0x2000u, 0x4000u, 0x6000u}) { // down, up, towards zero
    float sum;
    {
      flush_to_zero const guard(mode);
      sum = isobit::reduce(host(), x.data(), x.size());
    }
    CHECK(bits_equal(sum, expected));
  }
}
#endif

TEST_CASE_TEMPLATE("host: 1 to 7 threads and odd grains, same bits", T, float, double) {
  auto const x = rough<T>((1u << 21) + 12345);
  for (std::size_t n : {std::size_t{1}, std::size_t{70000}, x.size()}) {
    auto const expected = specified(x.data(), n, isobit::plain<T>{});
    REQUIRE(bits_equal(isobit::reduce(host(), x.data(), n), expected));
    for (unsigned count = 1; count <= 7; ++count)
      REQUIRE(bits_equal(isobit::reduce(host(isobit::threads(count)), x.data(), n), expected));
    for (std::uint64_t grain : {0ull, 1ull, 3ull, 100ull, 5000ull, 1ull << 20, ~0ull})
      REQUIRE(bits_equal(isobit::reduce(host(isobit::threads(3), grain), x.data(), n), expected));
  }
}

TEST_CASE("host: an executor may run jobs in any order") {
  auto const x = rough<float>(300000);
  std::uint64_t most = 0;
  auto const backwards = [&](std::uint64_t count, auto const& f) {
    if (count > most) most = count;
    for (std::uint64_t i = count; i-- > 0;) f(i);
  };
  for (std::uint64_t grain : {1u, 17u, 256u, 1u << 15}) {
    auto const sum = isobit::reduce(host(backwards, grain), x.data(), x.size());
    CHECK(bits_equal(sum, isobit::reduce(host(), x.data(), x.size())));
  }
  CHECK(most > 1);
  CHECK(most <= 256);
}

TEST_CASE("host: an operator that does not commute keeps its operands in order") {
  // Strings as trees: the bracketing itself is the value.
  struct text {
    char s[64];
  };
  auto const join = [](text const& a, text const& b) {
    text r{};
    std::snprintf(r.s, sizeof r.s, "(%.30s%.30s)", a.s, b.s);
    return r;
  };
  auto const letter = [](int i) { return text{{static_cast<char>('a' + i), 0}}; };
  CHECK(std::string(isobit::reduce(host(), 7, letter, join).s) == "(((ab)(cd))((ef)g))");
  CHECK(std::string(isobit::reduce(host(isobit::threads(2), 2), 7, letter, join).s) == "(((ab)(cd))((ef)g))");

  // 2x2 integer matrices, products modulo 2^32, many elements.
  struct matrix {
    std::uint32_t a, b, c, d;
    bool operator==(matrix const&) const = default;
  };
  auto const product = [](matrix const& x, matrix const& y) {
    return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  };
  auto const element = [](std::uint32_t i) { return matrix{i * 2654435761u, i + 1, 7 * i, 3 - i}; };
  for (std::uint32_t n : {1u, 2u, 15u, 16u, 17u, 1000u, 70001u}) {
    matrix left = element(0); // associative: the left fold is the same product
    for (std::uint32_t i = 1; i < n; ++i) left = product(left, element(i));
    CHECK(isobit::reduce(host(), n, element, product) == left);
    CHECK(isobit::reduce(host(isobit::threads(3), 64), n, element, product) == left);
  }
}

TEST_CASE("host: what is computed in the load is reduced as if it had been stored") {
  auto const x = rough<float>(9001);
  std::vector<float> squares(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) squares[i] = isobit::mul(x[i], x[i]);
  auto const fused = isobit::reduce(host(), x.size(), [&](std::size_t i) { return isobit::mul(x[i], x[i]); });
  auto const mapped =
      isobit::reduce(host(), x.size(), isobit::map(x.data(), [](float v) { return isobit::mul(v, v); }));
  CHECK(bits_equal(fused, isobit::reduce(host(), squares.data(), squares.size())));
  CHECK(bits_equal(mapped, fused));
}

TEST_CASE_TEMPLATE("host: compensated", T, float, double) {
  isobit::compensated<T> const acc;
  for (std::uint64_t n : {0u, 1u, 2u, 63u, 64u, 65u, 100u, 511u, 1000u, 4096u, 4097u, 70000u}) {
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      auto const x = seed == 0 ? rough<T>(n) : rough_with_specials<T>(n, seed + static_cast<std::uint32_t>(n));
      CAPTURE(n);
      CAPTURE(seed);
      REQUIRE(bits_equal(isobit::reduce(host(), x.data(), n, acc), specified(x.data(), n, acc)));
      REQUIRE(bits_equal(isobit::reduce(host(isobit::threads(2), 512), x.data(), n, acc), specified(x.data(), n, acc)));
    }
  }
}

TEST_CASE_TEMPLATE("host: narrow floats accumulate in float", T, isobit::f16, isobit::bf16, isobit::e4m3,
                   isobit::e5m2) {
  std::mt19937 engine(5);
  std::vector<T> x(10000);
  for (T& v : x) { // finite values
    auto raw = static_cast<decltype(v.bits)>(engine());
    v = T{raw};
    if (!isobit::is_finite(isobit::decode(v))) v = T{};
  }
  for (std::uint64_t n : {1u, 63u, 64u, 100u, 4097u, 10000u})
    CHECK(bits_equal(isobit::reduce(host(), x.data(), n), specified(x.data(), n, isobit::plain<float>{})));
}

TEST_CASE("host: indices past 2^32") {
  // All elements are -0 but three: adding -0 changes nothing, so the sum is that of the three by their place in the
  // tree, and the aligned ranges of -0 need not be walked: the load answers for 2^16 elements at a time.
  auto const sum_of = [](std::uint64_t n, auto const& g, std::uint64_t scale) {
    return isobit::reduce(g, n, [=](std::uint64_t i) {
      std::uint64_t const at = i * scale;
      return at == 0                          ? 1.0f
             : at == (std::uint64_t{1} << 32) ? 0x1p-24f
             : at == (std::uint64_t{3} << 31) ? 0x1p-24f
                                              : -0.0f;
    });
  };
  // ((1 + -0) + ((2^-24) + (2^-24))) is not ((1 + 2^-24) + 2^-24): the two small ones meet first.
  std::uint64_t const n = (std::uint64_t{1} << 32) + (std::uint64_t{1} << 31) + 5;
  auto const coarse = sum_of((n >> 16) + 1, host(), std::uint64_t{1} << 16);
  CHECK(bits_equal(coarse, 1.0f + 0x1p-23f));
  CHECK(bits_equal(sum_of((n >> 16) + 1, host(isobit::threads(2)), std::uint64_t{1} << 16), coarse));
  if (std::getenv("ISOBIT_EXHAUSTIVE") != nullptr)
    CHECK(bits_equal(sum_of(n, host(isobit::threads()), 1), coarse));

  // The index arithmetic of the jobs at full size: they must be the aligned ranges of [0, n), once each.
  struct count_only {
    using input = std::uint64_t;
    using state = std::uint64_t;
    using result = std::uint64_t;
    std::uint64_t lift(std::uint64_t x) const { return x; }
    std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
    std::uint64_t finish(std::uint64_t s) const { return s; }
    std::uint64_t empty() const { return 0; }
  };
  std::uint64_t jobs = 0;
  auto const last_only = [&](std::uint64_t count, auto const& f) {
    jobs = count;
    f(count - 1); // the ragged one: elements from 2^32 on
  };
  std::uint64_t first = ~std::uint64_t{0}, last = 0, calls = 0;
  std::uint64_t const m = (std::uint64_t{1} << 32) + 5; // 129 jobs of 2^25 elements, the last of 5
  isobit::reduce(
      host(last_only), m,
      [&](std::uint64_t i) {
        first = i < first ? i : first;
        last = i > last ? i : last;
        ++calls;
        return i;
      },
      count_only{});
  CHECK(jobs == 129);
  CHECK(first == std::uint64_t{1} << 32);
  CHECK(last == m - 1);
  CHECK(calls == 5);
}

TEST_CASE("host: bytes past 2^32: an array of 2^30 + 3 floats") {
  if (std::getenv("ISOBIT_EXHAUSTIVE") == nullptr) return;
  std::uint64_t const n = (std::uint64_t{1} << 30) + 3;
  std::vector<float> x(n, 1.0f);
  CHECK(isobit::reduce(host(), x.data(), n) == 0x1p30f);
}

TEST_CASE("host: bad arguments are refused, by name") {
  float const* const none = nullptr;
  CHECK_THROWS_WITH_AS(isobit::reduce(host(), none, 1), "isobit::reduce: x must be non-null when n > 0",
                       isobit::invalid_argument);
  CHECK_THROWS_WITH_AS(isobit::reduce(host(isobit::threads(2)), none, 5u),
                       "isobit::reduce: x must be non-null when n > 0", isobit::invalid_argument);
  float const one = 1;
  CHECK_THROWS_AS(isobit::reduce(host(), &one, -1), isobit::invalid_argument);
  alignas(8) char bytes[16] = {};
  auto const* crooked = reinterpret_cast<float const*>(bytes + 1);
  CHECK_THROWS_AS(isobit::reduce(host(), crooked, 2), isobit::invalid_argument);
}

TEST_CASE("host: an exception of a load passes through") {
  struct stop {};
  auto const load = [](int i) -> float {
    if (i == 70) throw stop{};
    return 1;
  };
  CHECK_THROWS_AS(isobit::reduce(host(), 100, load), stop);
  CHECK_THROWS_AS(isobit::reduce(host(isobit::inline_executor{}), 100, load), stop);
}

TEST_CASE("host: negative control: other orders give other bits on this data") {
  auto const x = rough<float>(4200);
  auto const tree = isobit::reduce(host(), x.data(), x.size());
  float sequential = 0;
  for (float v : x) sequential = isobit::add(sequential, v);
  CHECK_FALSE(bits_equal(tree, sequential));
  CHECK_FALSE(bits_equal(tree, std::reduce(x.begin(), x.end(), 0.0f)));
  // Shifting every element by one place changes the tree, though not the sequence of elements.
  auto const shifted = isobit::reduce(host(), x.size() + 1, [&](std::size_t i) { return i == 0 ? -0.0f : x[i - 1]; });
  CHECK_FALSE(bits_equal(tree, shifted));
}
