// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of scans: of whole arrays and of segments.
#pragma once

#include <isobit/device/segmented_scan.cuh>
#include <isobit/device/whole_scan.cuh>
