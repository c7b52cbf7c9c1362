// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Exact sums that many threads add to at once, in any order, with integer atomics only: `exact_cell` in shared or
//! global memory. On a GPU, on the simulator, and for threads of a host program. Not yet run on a GPU.
#pragma once

#include <isobit/accum/exact.hpp>
#include <isobit/group/machine.hpp>

namespace isobit::inline bits1 {

//! An exact sum as 32-bit digits in signed 64-bit limbs: sum of limb[i] * 2^(32 i + Grid::lowest). A deposit adds to
//! the few limbs that it touches and carries nothing. All bytes zero (`exact_cell<Grid>{}`, or cudaMemset) is the
//! sum of nothing.
//!
//! Headroom: a limb stays within +-2^62 but for what threads are adding just now. Each access adds less than 2^32 to a
//! limb, and sees from the old value that it returns whether the limb has left the band; the thread that sees it takes
//! the whole limb (an exchange with 0), gives its low digit back, and carries the rest into the next limb, before it
//! does anything else. So a limb is first looked at after at least 2^30 deposits, whoever made them; it could only wrap
//! if 2^30 threads were between their addition and their look at once, which no device can hold. Nobody counts, and
//! nothing depends on the caller. Every step keeps the sum of all limbs and of what threads have in hand: when all have
//! finished, the value is exact, whatever the order.
//! The top limb carries nowhere: where it leaves the band, NaN is set (more than 2^(headroom_log2 - 1) of the largest
//! number).
template <class Grid> struct exact_cell {
  static constexpr int limbs = 2 * Grid::words - 1; // the top limb is two digits wide
  uint64_t limb[limbs];
  uint64_t flags;
};

namespace detail {

#if !defined(__CUDACC_RTC__)
// For threads of a host program, outside of a simulated kernel.
inline uint64_t host_atomic(atomic_op op, uint64_t* p, uint64_t value) {
  switch (op) {
  case atomic_op::load:
    return __atomic_load_n(p, __ATOMIC_RELAXED);
  case atomic_op::add:
    return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
  case atomic_op::or_bits:
    return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
  default:
    return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
  }
}
#endif

// One relaxed atomic access to 8 bytes of shared or global memory; returns the old value.
template <atomic_op Op>
ISOBIT_HD inline uint64_t atomic_word(uint64_t* p, uint64_t value, [[maybe_unused]] source_line where) {
  static_assert(Op == atomic_op::load || Op == atomic_op::add || Op == atomic_op::or_bits || Op == atomic_op::exchange);
#if defined(ISOBIT_ON_DEVICE)
  auto* const q = reinterpret_cast<unsigned long long*>(p);
  if constexpr (Op == atomic_op::load)
    return *const_cast<unsigned long long volatile*>(q);
  else if constexpr (Op == atomic_op::add)
    return atomicAdd(q, value);
  else if constexpr (Op == atomic_op::or_bits)
    return atomicOr(q, value);
  else
    return atomicExch(q, value);
#elif !defined(__CUDACC_RTC__)
  if (simulator::current == nullptr) return host_atomic(Op, p, value);
  return simulator::current->atomic(Op, p, 8, value, 0, memory_order::relaxed, where);
#else
  return 0;
#endif
}

// Within +-2^62.
ISOBIT_HD constexpr bool in_band(uint64_t limb) { return (limb + (uint64_t(1) << 62)) >> 63 == 0; }

template <class Grid> ISOBIT_HD void atomic_flags(exact_cell<Grid>* cell, uint64_t flags, source_line where) {
  // Nearly always they are there already; a read of old memory does no harm.
  if ((atomic_word<atomic_op::load>(&cell->flags, 0, where) & flags) != flags)
    atomic_word<atomic_op::or_bits>(&cell->flags, flags, where);
}

// Adds a signed digit, |digit| <= 2^32, to limb k, and carries on where a limb has left the band.
template <class Grid> ISOBIT_HD void atomic_digit(exact_cell<Grid>* cell, int k, uint64_t digit, source_line where) {
  constexpr int top = exact_cell<Grid>::limbs - 1;
  while (digit != 0) {
    uint64_t carry = 0;
    uint64_t now = atomic_word<atomic_op::add>(&cell->limb[k], digit, where) + digit;
    while (!in_band(now)) {
      if (k == top) return atomic_flags(cell, exact_number | exact_nan, where);
      uint64_t const taken = atomic_word<atomic_op::exchange>(&cell->limb[k], 0, where);
      uint64_t const low = static_cast<uint32_t>(taken);
      carry += static_cast<uint64_t>(static_cast<int64_t>(taken) >> 32);
      now = atomic_word<atomic_op::add>(&cell->limb[k], low, where) + low;
    }
    ++k;
    digit = carry;
  }
}

// Adds (-1)^negative * (low + 2^64 high) * 2^position; `Bits` is the width of the number.
template <int Bits, class Grid>
ISOBIT_HD void atomic_shifted(exact_cell<Grid>* cell, uint32_t position, uint64_t low, uint64_t high, bool negative,
                              source_line where) {
  int const first = static_cast<int>(position / 32), shift = static_cast<int>(position % 32);
  ISOBIT_UNROLL
  for (int j = 0; j < (Bits + 31 + 31) / 32; ++j) {
    int const from = 32 * j - shift; // -31 .. 128
    uint64_t const bits = from < 0     ? low << -from
                          : from == 0  ? low
                          : from < 64  ? (low >> from) | (high << (64 - from))
                          : from < 128 ? high >> (from - 64)
                                       : 0;
    uint64_t const digit = static_cast<uint32_t>(bits);
    atomic_digit(cell, first + j, negative ? 0 - digit : digit, where);
  }
}

} // namespace detail

//! Adds one input of the accumulator to a cell that other threads add to: two 64-bit atomics for float, f16 and bf16,
//! three for double (fewer where a digit is zero), and a read of the flags. Relaxed: a barrier, or the end of the
//! kernel, makes the cell readable. Level: order-free.
template <class T, class R>
ISOBIT_HD void atomic_deposit(exact<T, R> const&, exact_cell<exact_grid<T>>* cell, typename exact<T, R>::input x,
                              source_line where = source_line::here()) {
  auto const p = detail::split_bits<T>(detail::exact_bits<T>(x));
  if (!p.finite)
    return detail::atomic_flags(cell,
                                exact_number | (p.nan        ? exact_nan
                                                : p.negative ? exact_minus_infinity
                                                             : exact_plus_infinity),
                                where);
  detail::atomic_flags(cell, p.significand == 0 && p.negative ? exact_minus_zero : exact_number, where);
  detail::atomic_shifted<detail::exact_fields<T>::mantissa_bits + 1>(cell, p.position, p.significand, 0, p.negative,
                                                                     where);
}

//! The same for the exact product of two factors.
template <class T, class R>
ISOBIT_HD void atomic_deposit(exact_dot<T, R> const&, exact_cell<exact_product_grid<T>>* cell,
                              typename exact_dot<T, R>::input const& x, source_line where = source_line::here()) {
  auto const p = detail::split_product<T>(detail::exact_bits<T>(x.a), detail::exact_bits<T>(x.b));
  detail::atomic_flags(cell, p.flags, where);
  if (p.finite)
    detail::atomic_shifted<2 * (detail::exact_fields<T>::mantissa_bits + 1)>(cell, p.position, p.low, p.high,
                                                                             p.negative, where);
}

//! Adds a whole state to a cell: at most `limbs` atomics. The usual way for a block: its threads fold into one state
//! (or deposit into a cell in shared memory), and one thread merges it into the cell in global memory.
template <class Grid>
ISOBIT_HD void atomic_merge(exact_cell<Grid>* cell, exact_state<Grid> const& s,
                            source_line where = source_line::here()) {
  constexpr int top = Grid::words - 1;
  if (s.flags == 0) return; // the sum of nothing
  bool const fits = detail::in_band(s.word[top]);
  detail::atomic_flags(cell, fits ? s.flags : s.flags | exact_nan, where);
  for (int k = 0; k < 2 * top; ++k)
    detail::atomic_digit(cell, k, static_cast<uint32_t>(s.word[k / 2] >> (k % 2 * 32)), where);
  if (fits) detail::atomic_digit(cell, 2 * top, s.word[top], where);
}

//! The state of a cell that nobody adds to any more (after a barrier, or in a later kernel, or on the host). Equal sums
//! give equal bytes.
template <class Grid> ISOBIT_HD constexpr exact_state<Grid> read(exact_cell<Grid> const& cell) {
  exact_state<Grid> s{};
  int64_t carry = 0;
  for (int k = 0; k < exact_cell<Grid>::limbs; ++k) {
    auto const v = static_cast<uint64_t>(static_cast<int64_t>(cell.limb[k]) + carry);
    carry = static_cast<int64_t>(v) >> 32;
    if (k == exact_cell<Grid>::limbs - 1)
      s.word[k / 2] = v;
    else
      s.word[k / 2] |= static_cast<uint64_t>(static_cast<uint32_t>(v)) << (k % 2 * 32);
  }
  s.flags = detail::join_flags(cell.flags, 0);
  return s;
}

//! Makes a cell the sum of nothing, by the threads `rank` = 0 .. `threads` - 1 together; a barrier must follow.
template <class Grid> ISOBIT_HD void clear(exact_cell<Grid>& cell, uint32_t rank, uint32_t threads) {
  for (uint32_t k = rank; k < static_cast<uint32_t>(exact_cell<Grid>::limbs); k += threads) cell.limb[k] = 0;
  if (rank == 0) cell.flags = 0;
}

} // namespace isobit::inline bits1
