// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What host entry points throw. They check every argument before they write anything.
//! Only `<exception>` and `<cstdio>` are included: `<stdexcept>` would add 10,000 lines to every kernel's translation
//! unit.
#pragma once

#include <isobit/config.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstdio>
#include <exception>

namespace isobit::inline bits1 {

//! An argument that a host entry point cannot accept. `what()` names the function, the argument and the needed value:
//! `isobit::reduce: x must be non-null when n > 0`.
class invalid_argument : public std::exception {
public:
  invalid_argument(char const* function, char const* argument, char const* needed) noexcept {
    std::snprintf(message_, sizeof message_, "isobit::%s: %s must be %s", function, argument, needed);
  }
  //! With a number: "... must be at least 4096 bytes" from (..., "at least", 4096, "bytes").
  invalid_argument(char const* function, char const* argument, char const* relation, uint64_t value,
                   char const* unit) noexcept {
    std::snprintf(message_, sizeof message_, "isobit::%s: %s must be %s %llu %s", function, argument, relation,
                  static_cast<unsigned long long>(value), unit);
  }
  char const* what() const noexcept override { return message_; }

private:
  char message_[192];
};

} // namespace isobit::inline bits1
#endif
