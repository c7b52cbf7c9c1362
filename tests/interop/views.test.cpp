// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spans, matrix views in several layouts, and iterators as loads: the bits of the array with the same elements.
#include <doctest/doctest.h>

#include <isobit/accum/exact.hpp>
#include <isobit/error.hpp>
#include <isobit/interop/views.hpp>
#include <isobit/reduce.hpp>
#include <isobit/scatter.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <deque>
#include <map>
#include <random>
#include <span>
#include <vector>
#if defined(__has_include)
#if __has_include(<mdspan>)
#include <mdspan>
#endif
#endif

#include "md_double.hpp"

namespace {

using interop_test::md;
using isobit::host;
using isobit::load_of;
using isobit::reduce;
using isobit::testing::bits_equal;

std::vector<float> numbers(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<float> x(n);
  for (float& v : x) {
    float const third = static_cast<float>(static_cast<int>(random() >> 8)) / 3;
    v = (third - 1e6f) * static_cast<float>(1 << random() % 12);
  }
  return x;
}

// Logical matrix [rows][cols] with the elements of x, laid out as a view with the given steps.
template <class T>
std::vector<T> laid_out(std::vector<T> const& x, int rows, int cols, long row_step, long col_step, std::size_t n) {
  std::vector<T> memory(n, T{99});
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      memory[static_cast<std::size_t>(r * row_step + c * col_step)] = x[static_cast<std::size_t>(r * cols + c)];
  return memory;
}

struct from_end { // reads backwards; nothing but the members of a load_of iterator
  float const* last;
  float operator[](std::ptrdiff_t i) const { return last[-i]; }
  from_end operator+(std::ptrdiff_t i) const { return {last - i}; }
  float operator*() const { return *last; }
};

// An iterator whose reference is a proxy, as thrust::device_ptr's.
struct proxy_iterator {
  using value_type = isobit::bf16;
  struct reference {
    isobit::bf16 const* p;
    operator isobit::bf16() const { return *p; }
  };
  isobit::bf16 const* p;
  reference operator[](std::ptrdiff_t i) const { return {p + i}; }
  proxy_iterator operator+(std::ptrdiff_t i) const { return {p + i}; }
  reference operator*() const { return {p}; }
};

static_assert(isobit::array_view<std::span<float const>> && isobit::array_view<std::vector<double>>);
static_assert(!isobit::array_view<std::deque<float>> && !isobit::array_view<std::map<int, int>>);
static_assert(!isobit::array_view<float*>);
static_assert(isobit::md_view<md<float, 2>> && !isobit::array_view<md<float, 2>>);
static_assert(isobit::indexable_iterator<std::deque<float>::const_iterator> && isobit::indexable_iterator<from_end>);
static_assert(!isobit::indexable_iterator<float const*> && !isobit::indexable_iterator<std::vector<float>>);

} // namespace

TEST_CASE("views: spans and vectors as arguments of reduce") {
  for (std::size_t n : {0u, 1u, 2u, 33u, 1000u}) {
    auto const x = numbers(n);
    float const expected = reduce(host(), x.data(), n);
    CHECK(bits_equal(reduce(host(), std::span<float const>(x)), expected));
    CHECK(bits_equal(reduce(host(), x), expected));
    CHECK(bits_equal(reduce<isobit::sequential>(host(), x), reduce<isobit::sequential>(host(), x.data(), n)));
    CHECK(bits_equal(reduce(host(), x, isobit::exact<float>{}), reduce(host(), x.data(), n, isobit::exact<float>{})));
    if (n > 2) CHECK_FALSE(bits_equal(reduce(host(), std::span(x).first(n - 1)), expected)); // control
  }
  std::vector<isobit::bf16> const half(5, isobit::encode<isobit::bf16>(1.5f));
  CHECK(reduce(host(), std::span<isobit::bf16 const, 5>(half)) == 7.5f);
  alignas(8) unsigned char bytes[16]{};
  struct {
    float const* p;
    float const* data() const { return p; }
    int size() const { return 2; }
  } const misaligned{reinterpret_cast<float const*>(bytes + 1)}, null{nullptr};
  CHECK_THROWS_WITH(reduce(host(), misaligned), doctest::Contains("x must be aligned"));
  CHECK_THROWS_WITH(reduce(host(), null), doctest::Contains("x must be non-null"));
}

TEST_CASE("views: a matrix has one sum, whatever its layout") {
  for (auto [rows, cols] : {std::pair{1, 1}, {1, 37}, {37, 1}, {13, 29}, {0, 5}, {5, 0}}) {
    auto const n = static_cast<std::size_t>(rows * cols);
    auto const x = numbers(n);
    float const expected = reduce(host(), x.data(), n);
    struct {
      long row, col;
    } const layouts[] = {{cols, 1}, {1, rows}, {cols + 3, 1}, {1, rows + 5}, {3 * cols, 3}, {2, 2 * rows + 1}};
    for (auto const& l : layouts) {
      auto const room = static_cast<std::size_t>((rows + 1) * l.row + (cols + 1) * l.col);
      auto memory = laid_out(x, rows, cols, l.row, l.col, room);
      md<float, 2> const view{memory.data(), {rows, cols}, {{l.row, l.col}}};
      CHECK(bits_equal(reduce(host(), view), expected));
      for (int r = 0; r < rows; ++r) {
        auto const* const row = x.data() + r * cols;
        auto const same_row = isobit::row_of(view, static_cast<unsigned>(r));
        CHECK(bits_equal(reduce(host(), cols, same_row), reduce(host(), row, cols)));
      }
      std::vector<float> column(static_cast<std::size_t>(rows));
      for (int c = 0; c < cols; ++c) {
        for (int r = 0; r < rows; ++r) column[static_cast<std::size_t>(r)] = x[static_cast<std::size_t>(r * cols + c)];
        float const sum = reduce(host(), column);
        CHECK(bits_equal(reduce(host(), rows, isobit::column_of(view, static_cast<unsigned>(c))), sum));
        CHECK(bits_equal(reduce(host(), rows, isobit::strided{memory.data() + c * l.col, l.row}), sum));
      }
      std::vector<float> sums(static_cast<std::size_t>(cols), -1.0f), expected_sums = sums;
      auto const store = [](std::vector<float>& to) { return [&to](auto, isobit::uint64_t c, float v) { to[c] = v; }; };
      auto const width = static_cast<isobit::uint64_t>(cols);
      isobit::fixed_rows const whole(1, static_cast<isobit::uint64_t>(rows));
      auto const by_hand = [&](isobit::uint64_t r, isobit::uint64_t c) { return x[r * width + c]; };
      isobit::reduce_columns(host(), whole, width, load_of(view), store(sums));
      isobit::reduce_columns(host(), whole, width, by_hand, store(expected_sums));
      CHECK(sums == expected_sums);
    }
    if (rows > 1 && cols > 1) { // control: the transposed matrix is another one
      auto memory = x;
      md<float, 2> const transposed{memory.data(), {cols, rows}, {{1, cols}}};
      auto const op = [](float a, float b) { return isobit::fma(a, 0.5f, b); };
      CHECK_FALSE(bits_equal(reduce(host(), transposed, op), reduce(host(), x, op)));
    }
  }
}

TEST_CASE("views: other ranks, accessors, steps below zero") {
  auto x = numbers(3 * 4 * 5 * 2);
  float const expected = reduce(host(), x);
  CHECK(bits_equal(reduce(host(), md<float, 4>{x.data(), {3, 4, 5, 2}, {{40, 10, 2, 1}}}), expected));
  CHECK(bits_equal(reduce(host(), md<float, 1>{x.data(), {120}, {{1}}}), expected));
  CHECK(bits_equal(reduce(host(), md<float, 0>{x.data(), {}, {}}), x[0]));
  md<float, 2, interop_test::negating_accessor<float>> const negated{x.data(), {10, 12}, {{12, 1}}};
  CHECK(bits_equal(reduce(host(), negated), -expected));
  std::vector<float> const reversed(x.rbegin(), x.rend());
  CHECK(bits_equal(reduce(host(), 120, isobit::strided{x.data() + 119, -1}), reduce(host(), reversed)));
  CHECK(bits_equal(reduce(host(), 7, isobit::strided{x.data() + 5, 0}), reduce(host(), std::vector<float>(7, x[5]))));
#if defined(__cpp_lib_mdspan)
  std::mdspan const standard(x.data(), 10, 12);
  CHECK(bits_equal(reduce(host(), standard), expected));
#endif
}

TEST_CASE("views: iterators") {
  auto const x = numbers(777);
  std::deque<float> const pieces(x.begin(), x.end());
  CHECK(bits_equal(reduce(host(), 777, load_of(pieces.begin())), reduce(host(), x)));
  std::vector<float> const reversed(x.rbegin(), x.rend());
  CHECK(bits_equal(reduce(host(), 777, load_of(from_end{x.data() + 776})), reduce(host(), reversed)));
  CHECK(bits_equal(reduce(host(), 777, load_of(x.data())), reduce(host(), x)));
  std::vector<isobit::bf16> half(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) half[i] = isobit::encode<isobit::bf16>(x[i]);
  CHECK(bits_equal(reduce(host(), 777, load_of(proxy_iterator{half.data()})), reduce(host(), half)));
  CHECK_FALSE(bits_equal(reduce(host(), 776, load_of(pieces.begin() + 1)), reduce(host(), x))); // control
}

TEST_CASE("views: in a simulated kernel") {
  auto x = numbers(13 * 29);
  std::deque<float> const pieces(x.begin(), x.end());
  auto memory = laid_out(x, 13, 29, 1, 13, x.size());
  md<float, 2> const view{memory.data(), {13, 29}, {{1, 13}}};
  float const expected = reduce(host(), x);
  for (unsigned width : {1u, 32u, 100u}) {
    float by_view = 0, by_span = 0, by_iterator = 0;
    isobit::simt::launch(1, width, [&] {
      ISOBIT_SHARED isobit::block<128>::storage<float> smem;
      isobit::block const block(smem);
      float const a = reduce(block, view), b = reduce(block, std::span<float const>(x));
      float const c = reduce(block, 377, load_of(pieces.begin()));
      if (block.thread_rank() == 0) by_view = a, by_span = b, by_iterator = c;
    });
    CHECK(bits_equal(by_view, expected));
    CHECK(bits_equal(by_span, expected));
    CHECK(bits_equal(by_iterator, expected));
  }
}
