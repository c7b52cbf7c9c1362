// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX of kernels.cu, read once.
#pragma once

#include <doctest/doctest.h>

#include "interpreter.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace compiled {

inline ptx::module const& kernels() {
  static ptx::module const m = [] {
    char const* path = std::getenv("ISOBIT_KERNELS_PTX");
    REQUIRE_MESSAGE(path != nullptr, "ISOBIT_KERNELS_PTX names the PTX file");
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return ptx::module(text.str());
  }();
  return m;
}

} // namespace compiled
