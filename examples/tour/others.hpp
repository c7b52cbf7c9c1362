// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the usual ways of summing would have given: std::accumulate, std::reduce, atomics in the order of arrival, and
//! partial sums over ranks. Each is compared with the exact sum, and each way's results with each other.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/bits/ordered.hpp>
#include <isobit/order/fragment.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/cuda.hpp>

#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <vector>

namespace tour {

//! What not to do: the additions come in the order in which the threads arrive.
__global__ void sum_with_atomics(float const* x, std::uint64_t n, float* sum) {
  std::uint64_t i = std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}

//! Sums of the same numbers by one method, as signed distances from the exact sum in units in the last place.
class sums {
public:
  explicit sums(float exact) : exact_(isobit::to_ordered(exact)) {}
  void add(float sum) { distances_.insert(std::int64_t(isobit::to_ordered(sum)) - exact_); }

  std::size_t distinct() const { return distances_.size(); }
  std::int64_t least() const { return *distances_.begin(); }
  std::int64_t most() const { return *distances_.rbegin(); }

private:
  std::int64_t exact_;
  std::set<std::int64_t> distances_;
};

//! The rank counts that the partition columns try.
inline constexpr std::array<std::size_t, 4> rank_counts{1, 2, 3, 8};

//! The sum as `ranks` ranks would compute it that each hand on one float, added from rank 0 upwards.
inline float sum_of_partial_sums(std::span<float const> x, std::size_t ranks) {
  float total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    auto const part = x.subspan(x.size() * r / ranks, x.size() * (r + 1) / ranks - x.size() * r / ranks);
    total += std::accumulate(part.begin(), part.end(), 0.0f);
  }
  return total;
}

//! The sum as `ranks` ranks compute it that each hand on a fragment of the tree.
inline float sum_of_fragments(std::span<float const> x, std::size_t ranks) {
  isobit::plain<float> const add;
  isobit::fragment<float> whole;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t const first = x.size() * r / ranks, last = x.size() * (r + 1) / ranks;
    isobit::fragment<float> part(first);
    for (std::size_t i = first; i < last; ++i) part.append(add, add.lift(x[i]));
    whole = merge(add, whole, part);
  }
  return whole.empty() ? add.empty() : add.finish(whole.root(add));
}

//! One row of the second table.
struct other_sums {
  sums tree, compensated, accumulate, reduce, atomics, partial_sums, fragments;
};

inline other_sums sum_otherwise(std::span<float const> x, unsigned seeds) {
  auto const as_double = [=](std::uint64_t i) { return double(x[i]); };
  double const precise = isobit::reduce(isobit::host(), x.size(), as_double, isobit::compensated<double>{});
  sums const none(isobit::convert<float>(precise));
  other_sums result{none, none, none, none, none, none, none};

  result.tree.add(isobit::reduce(isobit::host(), x.data(), x.size()));
  result.compensated.add(isobit::reduce(isobit::host(), x.data(), x.size(), isobit::compensated<float>{}));
  result.accumulate.add(std::accumulate(x.begin(), x.end(), 0.0f));
  result.reduce.add(std::reduce(x.begin(), x.end(), 0.0f));
  unsigned const width = 256, blocks = static_cast<unsigned>((x.size() + width - 1) / width);
  for (unsigned seed = 0; seed < seeds; ++seed) {
    float sum = 0;
    isobit::simt::launch({.grid = {blocks}, .block = {width}, .seed = seed}, sum_with_atomics, x.data(), x.size(),
                         &sum);
    result.atomics.add(sum);
  }
  for (std::size_t const ranks : rank_counts) {
    result.partial_sums.add(sum_of_partial_sums(x, ranks));
    result.fragments.add(sum_of_fragments(x, ranks));
  }
  return result;
}

} // namespace tour
