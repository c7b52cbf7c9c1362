// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Atomic accesses with exactly the memory order that the kernel asked for, so that ThreadSanitizer judges the kernel.
#pragma once

#include <isobit/group/machine.hpp>

namespace isobit::inline bits1::simt::detail {

//! The value before an access, and whether the access left another value.
template <class T> struct access {
  T old;
  bool changed;
};

template <class T, int Order, class F> access<T> update_with(T* p, F const& f) {
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  for (;;) {
    T const desired = f(old);
    if (__atomic_compare_exchange_n(p, &old, desired, false, Order, __ATOMIC_RELAXED)) return {old, desired != old};
  }
}

//! Replaces `*p` by `f(*p)` in one atomic step. `T` is an unsigned integer.
template <class T, class F> access<T> update(T* p, memory_order order, F const& f) {
  switch (order) {
  case memory_order::acquire:
    return update_with<T, __ATOMIC_ACQUIRE>(p, f);
  case memory_order::release:
    return update_with<T, __ATOMIC_RELEASE>(p, f);
  case memory_order::acq_rel:
    return update_with<T, __ATOMIC_ACQ_REL>(p, f);
  default:
    return update_with<T, __ATOMIC_RELAXED>(p, f);
  }
}

//! A plain load: no write, so that it may read what others only read.
template <class T> T load(T const* p, memory_order order) {
  bool const acquires = order == memory_order::acquire || order == memory_order::acq_rel;
  return acquires ? __atomic_load_n(p, __ATOMIC_ACQUIRE) : __atomic_load_n(p, __ATOMIC_RELAXED);
}

template <class T> void store(T* p, T value, memory_order order) {
  bool const releases = order == memory_order::release || order == memory_order::acq_rel;
  if (releases)
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
  else
    __atomic_store_n(p, value, __ATOMIC_RELAXED);
}

//! A compare-and-exchange; a failed one has the acquire half of `order`.
template <class T> access<T> compare_exchange(T* p, T compared, T desired, memory_order order) {
  bool done = false;
  switch (order) {
  case memory_order::acquire:
    done = __atomic_compare_exchange_n(p, &compared, desired, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    break;
  case memory_order::release:
    done = __atomic_compare_exchange_n(p, &compared, desired, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    break;
  case memory_order::acq_rel:
    done = __atomic_compare_exchange_n(p, &compared, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    break;
  default:
    done = __atomic_compare_exchange_n(p, &compared, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    break;
  }
  return {compared, done && compared != desired};
}

//! The access that the machine interface names.
template <class T> access<T> perform(atomic_op op, T* p, T operand, T compared, memory_order order) {
  switch (op) {
  case atomic_op::load:
    return {load(p, order), false};
  case atomic_op::store:
    store(p, operand, order);
    return {T{}, true};
  case atomic_op::add:
    return update(p, order, [=](T x) { return static_cast<T>(x + operand); });
  case atomic_op::exchange:
    return update(p, order, [=](T) { return operand; });
  case atomic_op::increment_wrap:
    return update(p, order, [=](T x) { return x >= operand ? T{} : static_cast<T>(x + 1); });
  case atomic_op::max_unsigned:
    return update(p, order, [=](T x) { return x > operand ? x : operand; });
  case atomic_op::or_bits:
    return update(p, order, [=](T x) { return static_cast<T>(x | operand); });
  case atomic_op::compare_exchange:
    return compare_exchange(p, compared, operand, order);
  }
  return {T{}, false};
}

} // namespace isobit::inline bits1::simt::detail
