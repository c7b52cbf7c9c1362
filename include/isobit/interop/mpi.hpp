// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Sums over the processes of an MPI communicator, with the bits of one process at any number of processes.
//! Needs <mpi.h>; tested with Open MPI.
#pragma once

#include <isobit/algo/ordered_sum.hpp>
#include <isobit/algo/reduce_fragment.hpp>
#include <isobit/order/rank_range.hpp>

#if !defined(__CUDACC_RTC__)
#include <mpi.h>

#include <vector>

namespace isobit::inline bits1::mpi {

//! An MPI call that failed (where the communicator's error handler returns).
class mpi_error : public std::exception {
public:
  mpi_error(char const* call, int code) noexcept : code_(code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::snprintf(message_, sizeof message_, "isobit::mpi: %s: %.160s", call, text);
  }
  char const* what() const noexcept override { return message_; }
  int code() const noexcept { return code_; }

private:
  char message_[224];
  int code_;
};

namespace detail {
inline void check(char const* call, int code) {
  if (code != MPI_SUCCESS) throw mpi_error(call, code);
}
inline int to_count(char const* function, char const* argument, uint64_t n) {
  if (n > 0x7fffffff) throw invalid_argument(function, argument, "at most 2^31 - 1 bytes a rank");
  return static_cast<int>(n);
}
} // namespace detail

//! This process's number and the number of processes of `comm`.
struct place {
  uint64_t rank, ranks;
  explicit place(MPI_Comm comm) {
    int r = 0, n = 0;
    detail::check("MPI_Comm_rank", MPI_Comm_rank(comm, &r));
    detail::check("MPI_Comm_size", MPI_Comm_size(comm, &n));
    rank = static_cast<uint64_t>(r), ranks = static_cast<uint64_t>(n);
  }
};

//! The result over [0, n) from the fragments of all processes, on every process: an allgather of the fragments' used
//! bytes (at most 24 + 2 log2(n) states each) and a local merge. Ranks in rising order hold adjacent ranges, of any
//! lengths; empty fragments may say any place.
//! Collective. Every process receives the same bits: those of `reduce` over [0, n) with `acc`.
//! Throws `invalid_argument` on every process alike when the fragments leave a gap, overlap or do not start at 0;
//! `mpi_error`. All processes must have one byte order. Cost: two collectives; W fragments of memory.
template <accumulator A, int Depth>
typename A::result allreduce(MPI_Comm comm, fragment<typename A::state, Depth> const& mine, A const& acc) {
  using part = fragment<typename A::state, Depth>;
  auto const ranks = static_cast<size_t>(place(comm).ranks);
  int const bytes = static_cast<int>(mine.used_bytes());
  std::vector<int> sizes(ranks), starts(ranks);
  detail::check("MPI_Allgather", MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm));
  uint64_t total = 0;
  for (size_t r = 0; r < ranks; ++r) {
    starts[r] = detail::to_count("mpi::allreduce", "fragment", total);
    total += static_cast<uint64_t>(sizes[r]);
  }
  std::vector<unsigned char> all(total);
  detail::check("MPI_Allgatherv", MPI_Allgatherv(&mine, bytes, MPI_BYTE, all.data(), sizes.data(), starts.data(),
                                                 MPI_BYTE, comm));
  part whole;
  for (size_t r = 0; r < ranks; ++r) {
    part next;
    __builtin_memcpy(static_cast<void*>(&next), all.data() + starts[r], static_cast<size_t>(sizes[r]));
    if (next.empty()) continue;
    if (next.first() != whole.last())
      throw invalid_argument("mpi::allreduce", "fragment", "adjacent to that of the rank before, the first to start at 0");
    whole.append(acc, next);
  }
  return finish_fragment(whole, acc);
}

//! The sum (or fold) of `x` over all processes, whose ranges [first, first + n) of the whole sequence follow each other
//! by rank. Collective; every process receives the bits of one process that holds everything.
template <class T, class Op = isobit::detail::plain_sum>
auto allreduce(MPI_Comm comm, T const* x, uint64_t first, uint64_t n, Op const& op = {}) {
  auto const acc = isobit::detail::as_accumulator<element_value<T>>(op);
  return allreduce(comm, reduce_fragment(host(), first, first + n, x, acc), acc);
}

//! The merging of fragments as a user-defined MPI operator, for MPI's own reductions:
//!
//!     isobit::mpi::fragment_sum<isobit::plain<float>> const sum;
//!     MPI_Allreduce(&mine, &whole, 1, sum.type(), sum.operation(), comm);
//!     float s = isobit::finish_fragment(whole, isobit::plain<float>{});
//!
//! The operator is associative but does not commute; MPI then combines in the order of ranks, in any grouping, and any
//! grouping gives the same bits. Fragments travel whole (24 + 2 * Depth states), so prefer `allreduce` above for a few
//! ranks and this for a reduction tree over many. Empty fragments may say any place. Ranges that are not adjacent cannot
//! be reported from within MPI: the operator then prints why and ends the program (MPI_Abort).
//! Lives between MPI_Init and MPI_Finalize. `A` is default-constructible.
template <accumulator A, int Depth = 64> class fragment_sum {
public:
  using part = fragment<typename A::state, Depth>;

  fragment_sum() {
    detail::check("MPI_Type_contiguous", MPI_Type_contiguous(sizeof(part), MPI_BYTE, &type_));
    detail::check("MPI_Type_commit", MPI_Type_commit(&type_));
    detail::check("MPI_Op_create", MPI_Op_create(&merge_arrays, /*commute=*/0, &operation_));
  }
  ~fragment_sum() {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }
  fragment_sum(fragment_sum const&) = delete;
  fragment_sum& operator=(fragment_sum const&) = delete;

  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return operation_; }

private:
  static void merge_arrays(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
      part left, right;
      auto* const to = static_cast<unsigned char*>(inout) + static_cast<size_t>(i) * sizeof(part);
      __builtin_memcpy(static_cast<void*>(&left), static_cast<unsigned char*>(in) + static_cast<size_t>(i) * sizeof(part),
                       sizeof(part));
      __builtin_memcpy(static_cast<void*>(&right), to, sizeof(part));
      part const both = left.empty() ? right : right.empty() ? left : merge_or_abort(left, right);
      __builtin_memcpy(to, &both, sizeof(part));
    }
  }
  static part merge_or_abort(part const& left, part const& right) {
    try {
      return with_default_environment([&] { return merge(A{}, left, right); });
    } catch (std::exception const& e) { // C code calls us: nothing may be thrown through it
      std::fprintf(stderr, "isobit::mpi::fragment_sum: %s\n", e.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
      return right;
    }
  }

  MPI_Datatype type_{};
  MPI_Op operation_{};
};

//! Elementwise sum of every process's `x[0..n)`, split evenly over the processes (`rank_range`): this process receives
//! elements rank_range(n, rank, ranks) of the sum in `out`. The gradient reduce-scatter: an all-to-all of the parts, then
//! the tree over the absolute rank (or `sequential`), in the accumulator's precision, rounded once to `Out`.
//! The bits depend on the number of ranks, whose sum it is, but on nothing else: no chunking, message size or topology.
//! Collective. `op`: an accumulator or operator over elements; default: the sum (in float for narrow types).
//! Throws before anything is sent: `invalid_argument` (null `x` or `out`, more than 2^31 - 1 bytes). `mpi_error`.
//! Cost: (ranks - 1) / ranks * n elements sent and received by each rank, n elements of memory.
template <class Order = tree, class T, class Out, class Op = isobit::detail::plain_sum>
void reduce_scatter(MPI_Comm comm, T const* x, uint64_t n, Out* out, Op const& op = {}) {
  static_assert(__is_trivially_copyable(T), "isobit: elements sent by MPI must be trivially copyable");
  place const here(comm);
  auto const mine = rank_range(n, here.rank, here.ranks);
  if (x == nullptr && n > 0) throw invalid_argument("mpi::reduce_scatter", "x", "non-null when n > 0");
  if (out == nullptr && !mine.empty()) throw invalid_argument("mpi::reduce_scatter", "out", "non-null");
  auto const ranks = static_cast<size_t>(here.ranks);
  uint64_t const bytes = mine.size() * sizeof(T);
  detail::to_count("mpi::reduce_scatter", "n", n * sizeof(T));
  detail::to_count("mpi::reduce_scatter", "n", bytes * here.ranks);
  std::vector<int> sizes(ranks), starts(ranks), from_sizes(ranks, static_cast<int>(bytes)), from_starts(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    auto const part = rank_range(n, r, here.ranks);
    sizes[r] = static_cast<int>(part.size() * sizeof(T)), starts[r] = static_cast<int>(part.first * sizeof(T));
    from_starts[r] = static_cast<int>(r * bytes);
  }
  std::vector<T> parts(static_cast<size_t>(mine.size()) * ranks);
  detail::check("MPI_Alltoallv", MPI_Alltoallv(x, sizes.data(), starts.data(), MPI_BYTE, parts.data(),
                                               from_sizes.data(), from_starts.data(), MPI_BYTE, comm));
  ordered_sum<Order>(
      here.ranks, [&](uint64_t r) { return static_cast<T const*>(parts.data()) + r * mine.size(); }, mine.size(), out,
      op);
}

} // namespace isobit::inline bits1::mpi
#endif
