// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `sequential`: the left fold.
#pragma once

#include <isobit/config.hpp>

namespace isobit::inline bits1 {

//! The left fold that starts with element 0. Name: isobit.sequential.1.
//!
//!     n = 4:   ((0 1) 2) 3
//!
//! It is `std::accumulate(x + 1, x + n, x[0])`: there is no initial value, so an all-(-0) sum is -0. Unlike the tree it
//! cannot be split into parts that are computed apart, and its error bound grows with n instead of log2 n.
//! Cost: n - 1 combines, depth n - 1.
struct sequential {};

} // namespace isobit::inline bits1
