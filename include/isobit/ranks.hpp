// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: one result from many ranks, with the bits of one rank, for any number of ranks and any split.
//!
//! Brings `rank_range`, `reduce_fragment` and `merge` (long sums whose parts live on different ranks), `ordered_sum`
//! (elementwise sums over ranks) and `range_partials` (experts spread over ranks). interop/mpi.hpp sends them.
#pragma once

#include <isobit/algo/ordered_sum.hpp>
#include <isobit/algo/range_partials.hpp>
#include <isobit/algo/reduce_fragment.hpp>
#include <isobit/order/rank_range.hpp>
#include <isobit/reduce.hpp>
