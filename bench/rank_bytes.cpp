// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ranks send each other for one sum: bytes and messages a rank against the number of ranks. Run by bench/ranks.
// Nothing is measured in time; the bytes are those of real fragments.
#include <isobit/ranks.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using part = isobit::fragment<float>;

// The fragment over a range with values that do not matter: its size does.
part of_range(std::uint64_t first, std::uint64_t last) {
  part out(first);
  isobit::for_each_node(first, last, [&](std::uint64_t, int level) { out.append(isobit::plain<float>{}, 0.0f, level); });
  return out;
}

void print(std::uint64_t n, std::uint64_t ranks) {
  std::vector<part> parts;
  std::uint64_t largest = 0, total = 0;
  for (std::uint64_t r = 0; r < ranks; ++r) {
    auto const range = isobit::rank_range(n, r, ranks);
    parts.push_back(of_range(range.first, range.last));
    largest = std::max<std::uint64_t>(largest, parts.back().used_bytes());
    total += parts.back().used_bytes();
  }
  // A binary tree of messages: in each round, pairs of neighbours merge. What a rank sends at most, over all rounds.
  std::uint64_t rounds = 0, in_tree = 0;
  for (; parts.size() > 1; ++rounds) {
    std::vector<part> merged;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      bool const alone = i + 1 == parts.size();
      if (!alone) most = std::max<std::uint64_t>(most, parts[i + 1].used_bytes());
      merged.push_back(alone ? parts[i] : merge(isobit::plain<float>{}, parts[i], parts[i + 1]));
    }
    in_tree += most;
    parts = merged;
  }
  std::printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", static_cast<unsigned long long>(n),
              static_cast<unsigned long long>(ranks), static_cast<unsigned long long>(largest),
              static_cast<unsigned long long>(total), static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(in_tree));
}

} // namespace

int main() {
  for (std::uint64_t ranks : {1, 2, 3, 4, 6, 8, 16, 64, 100, 256, 1000, 1024, 2432, 3072, 4096}) print(1'000'000'007, ranks);
}
