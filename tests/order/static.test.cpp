// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The exact expressions of small sizes, and what the types promise, all decided by the compiler.
#include "operators.hpp"

#include <isobit/order/counter.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/order/interpret.hpp>
#include <isobit/order/order_id.hpp>
#include <isobit/order/sparse.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {
using namespace order_test;

template <is_order Order> constexpr expression text(uint64_t n) { return interpret<Order>(n, operand, written); }

constexpr expression counted(uint64_t n) {
  counter<expression, 6> c;
  for (uint64_t i = 0; i < n; ++i) c.push(written, operand(i));
  return c.fold(written);
}
// Two fragments, cut at `cut`.
constexpr expression merged(uint64_t n, uint64_t cut) {
  fragment<expression, 6> left(0), right(cut);
  for (uint64_t i = 0; i < cut; ++i) left.append(written, operand(i));
  for (uint64_t i = cut; i < n; ++i) right.append(written, operand(i));
  return merge(written, left, right).root(written);
}

static_assert(text<tree>(1) == "0");
static_assert(text<tree>(2) == "0 1");
static_assert(text<tree>(3) == "(0 1) 2");
static_assert(text<tree>(4) == "(0 1)(2 3)");
static_assert(text<tree>(5) == "((0 1)(2 3)) 4");
static_assert(text<tree>(6) == "((0 1)(2 3))(4 5)");
static_assert(text<tree>(7) == "((0 1)(2 3))((4 5) 6)");
static_assert(text<tree>(8) == "((0 1)(2 3))((4 5)(6 7))");
static_assert(text<tree>(9) == "(((0 1)(2 3))((4 5)(6 7))) 8");
static_assert(text<tree>(11) == "(((0 1)(2 3))((4 5)(6 7)))((8 9) 10)");
static_assert(text<tree>(13) == "(((0 1)(2 3))((4 5)(6 7)))(((8 9)(10 11)) 12)");

static_assert(text<lanes<1>>(7) == "((0 1)(2 3))((4 5) 6)");
static_assert(text<lanes<2>>(2) == "0 1");
static_assert(text<lanes<2>>(7) == "((0 2)(4 6))((1 3) 5)");
static_assert(text<lanes<4>>(3) == "(0 1) 2");
static_assert(text<lanes<4>>(5) == "((0 4) 1)(2 3)");
static_assert(text<lanes<3>>(8) == "(((0 3) 6)((1 4) 7))(2 5)");
static_assert(text<lanes<5>>(12) == "((((0 5) 10)((1 6) 11))((2 7)(3 8)))(4 9)");

static_assert(text<sequential>(1) == "0");
static_assert(text<sequential>(4) == "((0 1) 2) 3");

static_assert(counted(1) == "0");
static_assert(counted(7) == "((0 1)(2 3))((4 5) 6)");
static_assert(counted(13) == "(((0 1)(2 3))((4 5)(6 7)))(((8 9)(10 11)) 12)");
static_assert(merged(7, 3) == "((0 1)(2 3))((4 5) 6)");
static_assert(merged(13, 5) == "(((0 1)(2 3))((4 5)(6 7)))(((8 9)(10 11)) 12)");

constexpr expression slots() {
  sparse_counter<expression, 6> s;
  for (uint64_t i : {1, 4, 6, 7}) s.push(written, i, operand(i));
  return s.fold(written);
}
static_assert(slots() == "1 (4 (6 7))");

// A fragment's nodes rise, then fall.
constexpr bool nodes_of_3_to_13() {
  fragment<expression, 6> f(3);
  for (uint64_t i = 3; i < 13; ++i) f.append(written, operand(i));
  return f.size() == 4 && f[0] == "3" && f[1] == "(4 5)(6 7)" && f[2] == "(8 9)(10 11)" && f[3] == "12" &&
         f.level_at(3) == 0 && f.level_at(4) == 2 && f.level_at(8) == 2 && f.level_at(12) == 0;
}
static_assert(nodes_of_3_to_13());

static_assert(is_order<tree> && is_order<sequential> && is_order<lanes<1>> && is_order<lanes<1024>>);
static_assert(!is_order<int> && !is_order<tree const&> && !is_order<fragment<float>>);
static_assert(std::is_empty_v<tree> && std::is_empty_v<lanes<16>> && std::is_empty_v<sequential>);

static_assert(std::is_trivially_copyable_v<counter<float>> && std::is_trivially_copyable_v<fragment<float>>);
static_assert(std::is_trivially_copyable_v<sparse_counter<double>>);
static_assert(sizeof(fragment<float>) == 24 + 128 * sizeof(float) && sizeof(fragment<double, 20>) == 24 + 40 * 8);
static_assert(std::has_unique_object_representations_v<fragment<uint32_t>>); // no padding byte anywhere

static_assert(detail::root_level(1) == 0 && detail::root_level(2) == 1 && detail::root_level(3) == 2);
static_assert(detail::root_level(uint64_t(1) << 40) == 40 && detail::root_level((uint64_t(1) << 40) + 1) == 41);
static_assert(detail::lowest_level(1) == 0 && detail::lowest_level(uint64_t(1) << 63) == 63);
static_assert(detail::highest_level(1) == 0 && detail::highest_level(~uint64_t(0)) == 63);

// The hashes come from another FNV-1a program.
static_assert(order_id<tree>().hash == 0x0a82fdf1bc40f680u);
static_assert(order_id<lanes<16>>().hash == 0x7060a2b46e106cf4u);
static_assert(order_id<lanes<1024>>().hash == 0x890395d1cbb25b94u);
static_assert(order_id<sequential>().hash == 0xa45414be3beb1f93u);
static_assert(order_id<lanes<1>>() == order_id<tree>());
static_assert(!(order_id<lanes<16>>() == order_id<lanes<17>>()));
} // namespace

TEST_CASE("order names are the text that traces store") {
  CHECK(std::strcmp(order_id<tree>().name, "isobit.tree.1") == 0);
  CHECK(std::strcmp(order_id<lanes<16>>().name, "isobit.lanes.16.1") == 0);
  CHECK(std::strcmp(order_id<lanes<18446744073709551615u>>().name, "isobit.lanes.18446744073709551615.1") == 0);
  CHECK(std::strcmp(order_id<sequential>().name, "isobit.sequential.1") == 0);
}

TEST_CASE("the compile-time expressions hold at run time, where states start uninitialised") {
  CHECK(counted(13) == "(((0 1)(2 3))((4 5)(6 7)))(((8 9)(10 11)) 12)");
  CHECK(merged(13, 5) == "(((0 1)(2 3))((4 5)(6 7)))(((8 9)(10 11)) 12)");
  CHECK(slots() == "1 (4 (6 7))");
  CHECK_FALSE(text<tree>(5) == "((0 1)(2 3))(4)"); // the comparison itself can fail
}
