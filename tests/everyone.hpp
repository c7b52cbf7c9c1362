// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Results that every thread of a launch received, in a form that does not depend on how many threads there are.
#pragma once

#include <isobit/testing/bits_equal.hpp>

#include <utility>
#include <vector>

//! What the first thread received, and how many received something else.
template <class R> std::pair<R, isobit::uint64_t> everyone(std::vector<R> const& out) {
  return {out.at(0), isobit::testing::bits_equal(out, std::vector<R>(out.size(), out[0])).different()};
}
//! What `everyone` returns where all received `r`.
template <class R> std::pair<R, isobit::uint64_t> all_received(R const& r) { return {r, 0}; }
