// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: let many blocks contribute to one sum in a fixed order: private slots with a merge by the tree, or a turnstile.
//! docs/segments.md has the patterns for split-K, grouped matrix products and column sums.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/plain.hpp>
#include <isobit/algo/slots.hpp>
#include <isobit/algo/turnstile.hpp>
