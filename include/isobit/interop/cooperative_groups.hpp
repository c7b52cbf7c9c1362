// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Tiles of CUDA's cooperative groups as isobit's. The types are known by their members; <cooperative_groups.h>, which
//! costs a compiler more than all of isobit, is included by whoever uses it.
//!
//!     auto const warp = cg::tiled_partition<32>(cg::this_thread_block());
//!     float sum = isobit::reduce(isobit::group_of(warp), n, load);
//!
//! A whole block is `isobit::block(storage)` as ever: it needs shared memory, which cg::thread_block does not bring.
#pragma once

#include <isobit/group/tile.hpp>

namespace isobit::inline bits1 {

namespace detail {
template <auto N> struct constant_of {
  static constexpr auto value = N;
};
// Not in a function's body: num_threads() is a function for devices.
template <class T> struct tile_size : constant_of<T::num_threads()> {};
} // namespace detail

//! A tile with a size that is known to the compiler: `cg::thread_block_tile<N, Parent>`, not `cg::coalesced_group`,
//! whose members may be any lanes.
template <class T>
concept static_tile = requires(T const& t) {
  typename detail::constant_of<T::num_threads()>;
  { t.thread_rank() } -> stl::convertible_to<uint32_t>;
  t.meta_group_rank();
  t.shfl_xor(0, 1u);
};

//! `tile<N>` for `cg::thread_block_tile<N, Parent>`, N = 1, 2, 4, 8, 16 or 32. Both are lanes [k * N, (k + 1) * N) of
//! the warp, so that the ranks agree. Precondition: that of `tile`.
template <static_tile Tile> ISOBIT_HD constexpr auto group_of(Tile const&) {
  constexpr auto n = detail::tile_size<Tile>::value;
  static_assert(n <= 32, "isobit: a tile of more than a warp is not a group: use block");
  return tile<static_cast<int>(n <= 32 ? n : 32)>{};
}

} // namespace isobit::inline bits1
