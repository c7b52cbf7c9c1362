// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! How kernels are launched on a GPU or on the simulated one.
#pragma once

#include <array>
#include <cstdint>

namespace tour {

struct geometry {
  unsigned width; //!< threads of a block
  unsigned grid;  //!< blocks
  unsigned shift; //!< arrays start this many elements after an aligned address
  std::uint64_t seed = 0;
};

//! Narrow, odd, usual and wide blocks; one block, some, many; aligned arrays and others.
inline constexpr std::array<geometry, 5> geometries{{{32, 5, 0}, {96, 3, 1}, {256, 8, 0}, {1000, 2, 3}, {7, 1, 2}}};

} // namespace tour
