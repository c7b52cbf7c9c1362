// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates under GoogleTest.
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/repeatable.hpp>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

using isobit::testing::bits_equal;

TEST(gates, pass) {
  auto const v = bits_equal(std::vector<float>{1, 2}, std::vector<float>{1, 2});
  EXPECT_TRUE(v) << v;
  EXPECT_TRUE(isobit::testing::repeatable([](auto const&) { return 1.0f; }));
}

TEST(gates, a_failure_prints_the_report) {
  EXPECT_NONFATAL_FAILURE(
      {
        auto const v = bits_equal(0.0f, -0.0f);
        EXPECT_TRUE(v) << v;
      },
      "zeros of different sign");
}
