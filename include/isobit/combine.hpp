// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: combine the outputs of experts token by token, over the global number of the expert, with the same bits for every
//! number of ranks and every order of the rows; and build the maps for it (slots, inverse map). docs/segments.md.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/combine.hpp>
#include <isobit/algo/grouping.hpp>
