// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MPI code of docs/migration.md and docs/interop.md. Compiled; examples/mpi_sum runs such a sum on 1 to 8 processes.
#include <isobit/interop/exact_functors.hpp>
#include <isobit/interop/mpi.hpp>

double sum_by_mpi(double const* x, std::size_t n, MPI_Comm comm) {
  double mine = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) mine += x[i];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

double sum(double const* x, std::uint64_t first, std::uint64_t n, MPI_Comm comm) {
  return isobit::mpi::allreduce(comm, x, first, n); // x[0] is element `first` of all
}

void gradients_by_mpi(float const* mine, float* out, int n, MPI_Comm comm) {
  MPI_Reduce_scatter_block(mine, out, n, MPI_FLOAT, MPI_SUM, comm);
}

void gradients(float const* mine, float* out, std::uint64_t n, MPI_Comm comm) {
  isobit::mpi::reduce_scatter(comm, mine, n, out);
}

// docs/interop.md
double exact_sum(double const* x, std::size_t n, MPI_Comm comm) {
  using exact = isobit::exact<double>;
  MPI_Datatype type;
  MPI_Op merge;
  MPI_Type_contiguous(sizeof(exact::state), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(&isobit::mpi_merge<exact, MPI_Datatype>, /*commute=*/1, &merge);
  exact::state mine{}, total{};
  for (std::size_t i = 0; i < n; ++i) exact{}.deposit(mine, x[i]);
  MPI_Allreduce(&mine, &total, 1, type, merge, comm);
  MPI_Op_free(&merge);
  MPI_Type_free(&type);
  return exact{}.finish(total);
}
