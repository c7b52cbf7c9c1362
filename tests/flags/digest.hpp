// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a case of the flag matrix is made of: named digests of result bits. A case is a program in tests/flags/cases
//! that prints one line for each digest; flag_matrix builds it with every compiler and flag, and all the lines must be
//! the same.
#pragma once

#include "../arith/adversarial.hpp"

#include <isobit/arith/env.hpp>

#include <cstdio>
#include <initializer_list>

namespace isobit::test {

//! An order-sensitive digest of 64-bit words.
struct digest {
  uint64_t state = 0x9e3779b97f4a7c15u;
  void word(uint64_t w) {
    state = (state ^ w) * 0xff51afd7ed558ccdu;
    state ^= state >> 32;
  }
  //! The bits of a result; every NaN counts as the same one.
  template <ieee_float T> void value(T x) { word(to_bits(canonical(x))); }
  void print(char const* name) const {
    std::printf("%-28s %016llx\n", name, static_cast<unsigned long long>(state));
  }
};

//! Runs `f` as a host entry point would: a program linked with -ffast-math starts with subnormals flushed.
template <class F> int run_case(F f) {
  with_default_environment(f);
  return 0;
}

} // namespace isobit::test
