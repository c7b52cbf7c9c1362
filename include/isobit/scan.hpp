// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Job: scans and segmented scans whose every prefix has the bits of the reduction of that prefix.
//! docs/scan.md says how they are defined and what they cost.
#pragma once

#include <isobit/algo/scan.hpp>
#include <isobit/algo/segmented_scan.hpp>
#include <isobit/algo/segmented_scan_host.hpp>
