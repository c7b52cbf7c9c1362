// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What host entry points throw. They check every argument before they write anything.
#pragma once

#include <isobit/config.hpp>

#if !defined(__CUDACC_RTC__)
#include <stdexcept>
#include <string>

namespace isobit::inline bits1 {

//! An argument that a host entry point cannot accept. `what()` names the function, the argument and the needed value:
//! `isobit::reduce: x must be non-null when n > 0`.
class invalid_argument : public std::invalid_argument {
public:
  invalid_argument(char const* function, char const* argument, std::string const& needed)
      : std::invalid_argument(std::string("isobit::") + function + ": " + argument + " must be " + needed) {}
};

} // namespace isobit::inline bits1
#endif
