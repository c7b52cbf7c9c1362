// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interop/mpi.hpp in a real MPI run of any number of processes: results against one process's, ragged and empty ranges,
// the gradient reduce-scatter, errors that every process sees alike. Prints "ok" on rank 0.
#include "numbers.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/moments.hpp>
#include <isobit/interop/mpi.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace isobit;
using isobit::testing::bits_equal;

int failures = 0;
template <class Verdict> void check(Verdict const& ok, char const* what) {
  if (static_cast<bool>(ok)) return;
  ++failures;
  std::fprintf(stderr, "failed: %s\n", what);
}

template <class Acc> void sums(mpi::place const& here, std::vector<float> const& x, Acc const& acc, char const* what) {
  auto const alone = reduce(host(), x.data(), x.size(), acc);
  // Even ranges; all on the last rank; all on the first; sizes 1, 2, 4, ... with the rest on the last.
  for (int form = 0; form < 4; ++form) {
    uint64_t const n = x.size(), last_rank = here.ranks - 1;
    auto range = rank_range(n, here.rank, here.ranks);
    if (form == 1) range = here.rank == last_rank ? index_range{0, n} : index_range{0, 0};
    if (form == 2) range = here.rank == 0 ? index_range{0, n} : index_range{77, 77}; // an empty range says any place
    if (form == 3) {
      uint64_t const first = (uint64_t{1} << here.rank) - 1;
      range = {first < n ? first : n, here.rank == last_rank ? n : (2 * first + 1 < n ? 2 * first + 1 : n)};
    }
    auto const mine = reduce_fragment(host(), range.first, range.last, x.data() + range.first, acc);
    check(bits_equal(mpi::allreduce(MPI_COMM_WORLD, mine, acc), alone), what);
    mpi::fragment_sum<Acc> const op;
    auto whole = mine;
    MPI_Allreduce(&mine, &whole, 1, op.type(), op.operation(), MPI_COMM_WORLD);
    check(bits_equal(finish_fragment(whole, acc), alone), what);
  }
}

// Every rank's gradient can be made by all, so that each can check what it received.
template <class Order> void gradients(mpi::place const& here) {
  for (uint64_t n : {uint64_t{0}, uint64_t{1}, uint64_t{5}, uint64_t{1000}}) {
    std::vector<std::vector<float>> all;
    for (uint64_t r = 0; r < here.ranks; ++r) all.push_back(hard_floats(n, static_cast<unsigned>(r + 1)));
    auto const mine = rank_range(n, here.rank, here.ranks);
    std::vector<float> expected(n), out(mine.size() + 1, -7.0f);
    ordered_sum<Order>(here.ranks, [&](uint64_t r) { return static_cast<float const*>(all[r].data()); }, n, expected.data());
    mpi::reduce_scatter<Order>(MPI_COMM_WORLD, all[here.rank].data(), n, out.data());
    check(std::memcmp(out.data(), expected.data() + mine.first, mine.size() * sizeof(float)) == 0, "reduce_scatter");
    check(out.back() == -7.0f, "reduce_scatter writes its part only");
  }
}

// A gap between two ranks is an error on all of them, and the communicator can be used on.
void gap(mpi::place const& here) {
  float const x[2] = {1, 2};
  auto const part = reduce_fragment(host(), 3 * here.rank + 1, 3 * here.rank + 2, x);
  std::string said;
  try {
    mpi::allreduce(MPI_COMM_WORLD, part, plain<float>{});
  } catch (invalid_argument const& e) {
    said = e.what();
  }
  check(said == "isobit::mpi::allreduce: fragment must be adjacent to that of the rank before, the first to start at 0", "gap");
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    mpi::place const here(MPI_COMM_WORLD);
    for (size_t n : {1, 7, 1000, 30'001}) sums(here, hard_floats(n), plain<float>{}, "plain");
    sums(here, hard_floats(2'000), compensated<float>{}, "compensated");
    sums(here, hard_floats(2'000), moments<float>{}, "moments");
    fragment<float> const nothing;
    check(bits_equal(mpi::allreduce(MPI_COMM_WORLD, nothing, plain<float>{}), 0.0f), "nothing at all");
    gradients<tree>(here);
    gradients<sequential>(here);
    gap(here);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (here.rank == 0) std::puts(all == 0 ? "ok" : "FAILED");
    failures = all;
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
