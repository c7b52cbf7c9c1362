// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Accumulators in other libraries' reductions: function objects for Thrust, CUB and the standard algorithms, and a
//! user operator for MPI. None of those libraries is included.
#pragma once

#include <isobit/accum/exact.hpp>

namespace isobit::inline bits1 {

//! x -> the state of x alone; for transform iterators and `transform_reduce`.
//!
//!     auto s = thrust::transform_reduce(first, last, lifted<exact<float>>{}, exact<float>::state{},
//!                                       merged<exact<float>>{});
//!     float sum = exact<float>{}.finish(s);
template <accumulator A> struct lifted {
  A acc{};
  ISOBIT_HD constexpr typename A::state operator()(typename A::input const& x) const { return acc.lift(x); }
};

//! (state, state) -> the state of both. Those libraries choose the order and grouping, and may put the initial value
//! anywhere: only order-free accumulators give the same bits then, and `state{}` is the initial value.
template <order_free_accumulator A> struct merged {
  A acc{};
  ISOBIT_HD constexpr typename A::state operator()(typename A::state const& left,
                                                   typename A::state const& right) const {
    return acc.combine(left, right);
  }
};

//! state -> result.
template <accumulator A> struct finished {
  A acc{};
  ISOBIT_HD constexpr typename A::result operator()(typename A::state const& s) const { return acc.finish(s); }
};

#if !defined(__CUDACC_RTC__)
//! An MPI user operator over arrays of states: `inout[i] = in[i] + inout[i]`. The instance for MPI's type has exactly
//! the type MPI_User_function. The states are sent as bytes (they have no padding), all ranks of one byte order:
//!
//!     using acc = exact<double>;
//!     MPI_Datatype type;  MPI_Type_contiguous(sizeof(acc::state), MPI_BYTE, &type);  MPI_Type_commit(&type);
//!     MPI_Op sum;         MPI_Op_create(&mpi_merge<acc, MPI_Datatype>, /*commute=*/1, &sum);
//!     MPI_Allreduce(&mine, &total, 1, type, sum, MPI_COMM_WORLD);
//!
//! Preconditions: both arrays hold `*count` states, aligned as MPI gives them or not. Errors: none.
template <order_free_accumulator A, class Datatype = void>
void mpi_merge(void* in, void* inout, int* count, [[maybe_unused]] Datatype* type) {
  using state = typename A::state;
  auto const* from = static_cast<unsigned char const*>(in);
  auto* to = static_cast<unsigned char*>(inout);
  for (int i = 0; i < *count; ++i, from += sizeof(state), to += sizeof(state)) {
    state left, right;
    __builtin_memcpy(&left, from, sizeof(state));
    __builtin_memcpy(&right, to, sizeof(state));
    right = A{}.combine(left, right);
    __builtin_memcpy(to, &right, sizeof(state));
  }
}
#endif

} // namespace isobit::inline bits1
