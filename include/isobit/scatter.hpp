// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: add rows to the rows that their ids name (index-add, embedding gradients), whatever the order of arrival; stable
//! grouping and slots of ids; sums of columns over segments of rows. docs/segments.md.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/scatter.hpp>
