// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over many machines whose bits do not depend on how many there are. Each rank holds a contiguous part of the
// numbers and hands on a fragment of the tree (a few dozen floats) instead of one partial sum.
#include <isobit/order/fragment.hpp>
#include <isobit/reduce.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

using fragment = isobit::fragment<float>;
using message = std::vector<std::byte>; // what MPI, NCCL or a socket would carry

// What rank `rank` of `ranks` sends.
static message work_of_rank(std::vector<float> const& x, std::size_t rank, std::size_t ranks) {
  isobit::plain<float> const sum;
  std::size_t const first = x.size() * rank / ranks, last = x.size() * (rank + 1) / ranks;
  fragment mine(first);
  for (std::size_t i = first; i < last; ++i) mine.append(sum, sum.lift(x[i]));
  message bytes(mine.used_bytes());
  std::memcpy(bytes.data(), &mine, bytes.size());
  return bytes;
}

// What the rank that receives all messages makes of them.
static float total(std::vector<message> const& messages) {
  isobit::plain<float> const sum;
  fragment whole;
  for (message const& bytes : messages) {
    fragment part;
    std::memcpy(static_cast<void*>(&part), bytes.data(), bytes.size());
    whole = merge(sum, whole, part);
  }
  return sum.finish(whole.root(sum));
}

int main() {
  std::vector<float> x(100'003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(int(i * 7919 % 20011) - 10005) / 640;
  float const alone = isobit::reduce(isobit::host(), x.data(), x.size());

  int different = 0;
  for (std::size_t ranks : {1, 2, 3, 8, 100}) {
    std::vector<message> messages;
    std::size_t longest = 0;
    float naive = 0; // one partial sum a rank
    for (std::size_t r = 0; r < ranks; ++r) {
      messages.push_back(work_of_rank(x, r, ranks));
      longest = messages.back().size() > longest ? messages.back().size() : longest;
      float part = 0;
      for (std::size_t i = x.size() * r / ranks; i < x.size() * (r + 1) / ranks; ++i) part += x[i];
      naive += part;
    }
    float const sum = total(messages);
    different += std::memcmp(&sum, &alone, sizeof sum) != 0;
    std::printf("%3zu ranks: %.9g, messages of at most %3zu bytes; adding partial sums: %.9g\n", ranks, sum, longest,
                naive);
  }
  std::printf("same bits at every number of ranks: %s\n", different == 0 ? "yes" : "NO");
  return different != 0;
}
