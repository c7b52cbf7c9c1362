// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `P` neighbouring lanes of a warp, `P` a power of two from 1 to 32. `tile<32>` is the warp.
#pragma once

#include <isobit/group/machine.hpp>

namespace isobit::inline bits1 {

//! The tile of `P` lanes that the calling thread belongs to: lanes `[k*P, (k+1)*P)` of its warp.
//! Precondition: all `P` lanes exist (the block width is a multiple of `P`, or the thread is not in the last,
//! incomplete tile) and call every member function together.
template <int P> struct tile {
  static_assert(P >= 1 && P <= 32 && (P & (P - 1)) == 0, "isobit: a tile has 1, 2, 4, 8, 16 or 32 lanes");

  ISOBIT_HD static uint32_t thread_rank() { return machine::lane() % P; }
  ISOBIT_HD static constexpr uint32_t size() { return P; }
  //! The number of this tile within its block.
  ISOBIT_HD static uint32_t tile_rank() { return machine::thread_rank() / P; }
  ISOBIT_HD static void sync(source_line where = source_line::here()) { machine::sync_warp(mask(), where); }

  //! The lanes of this tile as bits of the warp's lane mask.
  ISOBIT_HD static uint32_t mask() {
    if constexpr (P == 32)
      return 0xffffffffu;
    else
      return ((1u << (P % 32)) - 1) << (machine::lane() & ~uint32_t(P - 1));
  }
  //! The value that the member with rank `from` (< P) passes to the same call.
  template <class T> ISOBIT_HD static T shuffle(T const& mine, uint32_t from, source_line where = source_line::here()) {
    if constexpr (P == 1)
      return mine;
    else
      return machine::shuffle(mask(), mine, (machine::lane() & ~uint32_t(P - 1)) | (from % P), where);
  }
  //! The value that the member whose rank differs in the bits of `lane_mask` passes to the same call.
  //! `lane_mask` < P.
  template <class T>
  ISOBIT_HD static T shuffle_xor(T const& mine, uint32_t lane_mask, source_line where = source_line::here()) {
    if constexpr (P == 1)
      return mine;
    else
      return machine::shuffle_xor(mask(), mine, lane_mask, where);
  }
};

} // namespace isobit::inline bits1
