// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What every gate returns: whether it passed, how much it compared, and a text that a stranger can act upon.
#pragma once

#include <isobit/config.hpp>

#include <ostream>
#include <string>
#include <utility>

namespace isobit::inline bits1::testing {

//! The outcome of a gate. It is `true` when the gate passed. A gate that compared nothing has not passed.
//!
//!     CHECK(isobit::testing::bits_equal(a, b));                  // doctest, Catch2: the text is printed by operator<<
//!     auto v = isobit::testing::bits_equal(a, b);
//!     EXPECT_TRUE(v) << v;                                       // GoogleTest
//!     if (!v) { std::cerr << v << '\n'; return 1; }              // plain main
class verdict {
public:
  explicit verdict(std::string gate, std::string unit = "elements") : gate_(std::move(gate)), unit_(std::move(unit)) {}

  explicit operator bool() const { return !failed_ && compared_ > 0; }
  std::string const& gate() const { return gate_; }
  uint64_t compared() const { return compared_; }   //!< elements (of all outputs, all runs) compared; for laws, checks
  uint64_t different() const { return different_; } //!< of these, how many differed
  uint64_t runs() const { return runs_; }           //!< how often the code under test ran
  //! The first difference: which output (0 when there is one), and which element of it. For different() > 0.
  uint64_t output() const { return output_; }
  uint64_t index() const { return index_; }

  //! "isobit::testing::<gate> passed: ..." or "... FAILED: what differed, where, how to see it again".
  std::string text() const {
    std::string out = "isobit::testing::" + gate_;
    if (failed_) return out + " FAILED: " + what_;
    if (compared_ == 0) return out + " FAILED: nothing was compared" + (what_.empty() ? "" : " (" + what_ + ")");
    out += " passed: " + std::to_string(compared_) + " " + unit_ + " compared";
    if (runs_ > 0) out += ", " + std::to_string(runs_) + " runs";
    return what_.empty() ? out : out + " (" + what_ + ")";
  }
  friend std::ostream& operator<<(std::ostream& out, verdict const& v) { return out << v.text(); }

  // For gates.

  verdict& add_compared(uint64_t n) { return compared_ += n, *this; }
  verdict& add_runs(uint64_t n) { return runs_ += n, *this; }
  //! A remark on a verdict that has not failed.
  verdict& remark(std::string const& text) {
    if (!failed_) what_ = text;
    return *this;
  }
  //! The first failure is the one that is told.
  verdict& fail(std::string const& text) {
    if (!failed_) what_ = text;
    failed_ = true;
    return *this;
  }
  verdict& first_difference(uint64_t different, uint64_t output, uint64_t index) {
    different_ = different;
    output_ = output;
    index_ = index;
    return *this;
  }

private:
  std::string gate_, unit_, what_;
  bool failed_ = false;
  uint64_t compared_ = 0, different_ = 0, runs_ = 0, output_ = 0, index_ = 0;
};

} // namespace isobit::inline bits1::testing
