// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over MPI processes whose bits do not depend on how many there are. Replaces MPI_Reduce(..., MPI_SUM, ...), whose
// result moves with the number of processes and the message's path.
//
//   mpirun -n 4 mpi_sum
#include <isobit/accum/exact.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/interop/exact_functors.hpp>
#include <isobit/interop/mpi.hpp>
#include <isobit/ranks.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

// Number i of the data: wide exponents and both signs, so that the order of additions shows.
static float number(std::uint64_t i) {
  std::uint64_t const z = (i + 1) * 0x9e3779b97f4a7c15u;
  return isobit::from_bits<float>(static_cast<std::uint32_t>(z >> 40 & 0x807fff) << 8 | static_cast<std::uint32_t>(110 + z % 40) << 23);
}

// The exact sum through MPI's own reduction: order-free, so that it needs no ranges.
static float exact_sum(std::vector<float> const& mine) {
  using acc = isobit::exact<float>;
  auto state = acc::state{}, total = acc::state{};
  for (float v : mine) acc{}.deposit(state, v);
  MPI_Datatype type;
  MPI_Type_contiguous(sizeof(acc::state), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Op sum;
  MPI_Op_create(&isobit::mpi_merge<acc, MPI_Datatype>, /*commute=*/1, &sum);
  MPI_Allreduce(&state, &total, 1, type, sum, MPI_COMM_WORLD);
  MPI_Op_free(&sum);
  MPI_Type_free(&type);
  return acc{}.finish(total);
}

static void run() {
  std::uint64_t const n = 1'000'003;
  isobit::mpi::place const here(MPI_COMM_WORLD);
  auto const range = isobit::rank_range(n, here.rank, here.ranks); // any other split gives the same bits
  std::vector<float> mine;
  for (std::uint64_t i = range.first; i < range.last; ++i) mine.push_back(number(i));

  float results[3];
  // Each process sends a few dozen partial results: the nodes of the tree that its range covers.
  results[0] = isobit::mpi::allreduce(MPI_COMM_WORLD, mine.data(), range.first, range.size());
  // The same through MPI's reduction tree, in whatever grouping MPI chooses.
  isobit::plain<float> const acc;
  isobit::mpi::fragment_sum<isobit::plain<float>> const merge;
  auto const part = isobit::reduce_fragment(isobit::host(), range.first, range.last, mine.data());
  auto whole = part;
  MPI_Allreduce(&part, &whole, 1, merge.type(), merge.operation(), MPI_COMM_WORLD);
  results[1] = isobit::finish_fragment(whole, acc);
  results[2] = exact_sum(mine);

  float local = 0, naive = 0;
  for (float v : mine) local += v;
  MPI_Reduce(&local, &naive, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);

  if (here.rank == 0) {
    auto const digest = static_cast<unsigned long long>(isobit::digest(isobit::host(), results, {3}));
    std::printf("sum %.9g, through MPI's tree %.9g, exact %.9g, digest %016llx\n", results[0], results[1], results[2], digest);
    std::printf("%llu processes; MPI_SUM: %.9g\n", static_cast<unsigned long long>(here.ranks), naive);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run();
  MPI_Finalize();
}
