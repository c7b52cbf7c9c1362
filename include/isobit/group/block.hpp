// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The threads of one block, with the shared storage that they need to work together.
#pragma once

#include <isobit/accum/concept.hpp>
#include <isobit/group/machine.hpp>

namespace isobit::inline bits1 {

namespace detail {
// What a storage of T holds: the state when T is an accumulator, T itself otherwise.
template <class T> struct storage_value {
  using type = T;
};
template <accumulator T> struct storage_value<T> {
  using type = typename T::state;
};
} // namespace detail

//! Shared memory for the reductions and scans of a block of at most `N` threads over states of type `State`.
//! Declare it in the kernel (`ISOBIT_SHARED`, or `__shared__`); it needs no initialisation, and one storage serves
//! any number of calls one after the other.
template <int N, class State> struct block_storage {
  static_assert(N >= 1 && N <= 1024, "isobit: a block has 1 to 1024 threads");
  static_assert(__is_trivially_copyable(State), "isobit: shared storage holds trivially copyable states only");
  static constexpr int slots = 32;
  alignas(State) unsigned char bytes[sizeof(State) * (slots + 1)];
  uint32_t flag;

  //! Slot `i` of `slots`; slot `slots` holds the result.
  ISOBIT_HD State* slot(uint32_t i) { return reinterpret_cast<State*>(bytes) + i; }
};

//! The block that the calling thread belongs to. `N` is an upper bound of the block's threads and fixes only the size
//! of the storage: the width comes from the launch and may be any number from 1 to `N`. Three-dimensional blocks are
//! numbered x fastest.
//!
//!     __shared__ isobit::block<256>::storage<float> smem;
//!     auto block = isobit::block(smem);
template <int N, class State = void> class block {
public:
  //! `storage<float>`, or `storage<compensated<float>>` for an accumulator's states.
  template <class T> using storage = block_storage<N, typename detail::storage_value<T>::type>;
  using state = State;
  static constexpr int max_threads = N;

  ISOBIT_HD explicit block(block_storage<N, State>& memory) : memory_(&memory) {
    machine::shared_memory(&memory, sizeof memory);
  }

  ISOBIT_HD static uint32_t thread_rank() { return machine::thread_rank(); }
  ISOBIT_HD static uint32_t size() { return machine::block_threads(); }
  //! The number of this block within its grid.
  ISOBIT_HD static uint64_t block_rank() { return machine::block_rank(); }
  ISOBIT_HD static void sync(source_line where = source_line::here()) { machine::sync_block(where); }

  ISOBIT_HD block_storage<N, State>& memory() const { return *memory_; }

private:
  block_storage<N, State>* memory_;
};

template <int N> class block<N, void> {
public:
  template <class T> using storage = block_storage<N, typename detail::storage_value<T>::type>;
};

template <int N, class State> block(block_storage<N, State>&) -> block<N, State>;

} // namespace isobit::inline bits1
