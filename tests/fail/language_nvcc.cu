// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An older language gets one sentence that says what to pass.
// flags: -std=c++17
// expect: isobit needs C++20: compile with -std=c++20
#include <isobit/config.hpp>
