// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The numbers of math/philox.hpp one after the other, for tests that draw them.
#pragma once

#include <isobit/math/philox.hpp>

namespace isobit::inline bits1::testing {

using isobit::philox4x32_10;
using isobit::philox_at;
using isobit::philox_block;
using isobit::philox_word;

//! The numbers of one (seed, stream), one after the other.
class philox_stream {
public:
  ISOBIT_HD constexpr philox_stream(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}
  ISOBIT_HD constexpr uint64_t next() { return philox_word(seed_, stream_, index_++); }
  //! A number in [0, bound), bound >= 1; the bias is below bound / 2^64.
  ISOBIT_HD constexpr uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t seed_, stream_, index_ = 0;
};

} // namespace isobit::inline bits1::testing
