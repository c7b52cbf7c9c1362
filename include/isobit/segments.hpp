// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: one result for each of many segments, whose bits depend on the segment's own elements only.
//! docs/segments.md has the layouts, the patterns and what they cost.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/runs.hpp>
#include <isobit/algo/segmented_reduce.hpp>
