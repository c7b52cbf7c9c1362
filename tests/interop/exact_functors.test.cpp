// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact states as values of other engines: the standard library's reductions, and an MPI user operator.
#include <doctest/doctest.h>

#include <isobit/interop/exact_functors.hpp>
#include <isobit/reduce.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace {

using isobit::exact;
using isobit::testing::bits_equal;
using acc = exact<float>;

// As mpi.h declares it, for an implementation whose MPI_Datatype is a pointer, and one where it is an int.
struct opaque;
using user_function = void(void*, void*, int*, opaque**);
using user_function_int = void(void*, void*, int*, int*);

std::vector<float> numbers(std::size_t n) {
  std::mt19937_64 random(n);
  std::vector<float> x(n);
  for (float& v : x) v = isobit::from_bits<float>(static_cast<std::uint32_t>(random()) & 0xbfffffffu);
  return x;
}

} // namespace

TEST_CASE("exact: std::reduce and std::transform_reduce") {
  auto const x = numbers(10001);
  float const expected = isobit::reduce(isobit::host(), x.data(), x.size(), acc{});
  auto const s = std::transform_reduce(x.begin(), x.end(), acc::state{}, isobit::merged<acc>{}, isobit::lifted<acc>{});
  CHECK(bits_equal(isobit::finished<acc>{}(s), expected));
  auto const back = std::transform_reduce(x.rbegin(), x.rend(), acc::state{}, std::plus<>{}, isobit::lifted<acc>{});
  CHECK(bits_equal(s, back));
  CHECK_FALSE(bits_equal(std::accumulate(x.begin(), x.end(), 0.f), expected)); // control
}

TEST_CASE("exact: an MPI user operator, any number of ranks, any tree, unaligned buffers") {
  user_function* const op = &isobit::mpi_merge<acc, opaque*>;
  user_function_int* const op_int = &isobit::mpi_merge<acc, int>;
  constexpr int width = 3; // states in a message
  auto const x = numbers(3000);
  std::vector<float> expected;
  for (int w = 0; w < width; ++w) expected.push_back(isobit::reduce(isobit::host(), x.data() + w * 1000, 1000, acc{}));
  std::mt19937_64 random(1);
  for (std::size_t ranks : {1u, 2u, 3u, 7u, 24u}) {
    std::vector<std::vector<unsigned char>> message;
    for (std::size_t r = 0; r < ranks; ++r) {
      acc::state mine[width]{};
      for (int w = 0; w < width; ++w)
        for (std::size_t i = r; i < 1000; i += ranks) acc{}.deposit(mine[w], x[static_cast<std::size_t>(w) * 1000 + i]);
      message.emplace_back(sizeof mine + 1);
      std::memcpy(message.back().data() + 1, mine, sizeof mine);
    }
    while (message.size() > 1) { // some two meet
      std::swap(message[random() % message.size()], message.back());
      auto last = message.back();
      message.pop_back();
      int count = width;
      if (random() % 2 == 0)
        op(last.data() + 1, message[random() % message.size()].data() + 1, &count, nullptr);
      else
        op_int(last.data() + 1, message[random() % message.size()].data() + 1, &count, nullptr);
    }
    acc::state total[width];
    std::memcpy(total, message[0].data() + 1, sizeof total);
    for (int w = 0; w < width; ++w)
      CHECK(bits_equal(acc{}.finish(total[w]), expected[static_cast<std::size_t>(w)]));
  }
}
