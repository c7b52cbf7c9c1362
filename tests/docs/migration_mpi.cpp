// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MPI code of docs/migration.md. Compiled; examples/mpi_sum runs such a sum on 1 to 8 processes.
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
