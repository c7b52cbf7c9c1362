// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What a call refuses, as text.
#pragma once

#include <isobit/error.hpp>

#include <string>

//! The message of the invalid_argument that `f()` throws; "nothing" where it throws none.
template <class F> std::string thrown(F const& f) {
  try {
    f();
  } catch (isobit::invalid_argument const& e) {
    return e.what();
  }
  return "nothing";
}
