// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: fold n elements into one value, with the same bits from any thread, tile, block, grid or CPU.
//!
//! Brings `reduce`, the orders, the groups, and the accumulators `plain` and `compensated`.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/reduce.hpp>
