// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The release version, and the bits version: the number that changes when any result bit of any named order or
//! recipe changes. It is also the name of the inline namespace (`bits1`).
#pragma once

#define ISOBIT_VERSION_MAJOR 0
#define ISOBIT_VERSION_MINOR 1
#define ISOBIT_VERSION_PATCH 0

namespace isobit::inline bits1 {
//! Two results may be compared bit for bit only when their bits versions are equal.
inline constexpr int bits_version = 1;
} // namespace isobit::inline bits1
