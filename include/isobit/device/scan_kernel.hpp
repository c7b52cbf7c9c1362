// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The kernels of scans: of whole arrays and of segments.
#pragma once

#include <isobit/device/segmented_scan_kernel.hpp>
#include <isobit/device/whole_scan_kernel.hpp>
