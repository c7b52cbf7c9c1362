// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Routes tokens, builds the maps, runs the kernel on the CPU with the rows in two different orders, and compares with the
// host.
#include <isobit/simt/cuda.hpp>

#include "moe_combine.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  int const tokens = 40, experts = 16, k = 6;
  std::size_t const cols = 72, routed = std::size_t(tokens) * k;
  std::vector<int> expert(routed), row(routed), slot(routed);
  std::vector<float> weight(routed);
  for (std::size_t i = 0; i < routed; ++i) {
    expert[i] = int((i / k * 7 + i % k * 5) % experts);
    weight[i] = float(1 + i % 11) / 16;
  }
  // The dispatch: rows sorted by expert, tokens in order within each; slot[i] is the row's place at its expert.
  std::vector<std::uint64_t> offsets(experts + 1);
  isobit::group_ids(isobit::host(), expert.data(), routed, experts,
                    isobit::grouping<int>{offsets.data(), nullptr, row.data(), slot.data()});

  std::vector<isobit::bf16> residual(tokens * cols), out(tokens * cols), first;
  for (std::size_t i = 0; i < residual.size(); ++i)
    residual[i] = isobit::encode<isobit::bf16>(float(std::cos(double(i))));
  int different = 0;
  for (bool reversed : {false, true}) {
    // The experts' outputs, in the order of the dispatch or in the reverse of it.
    std::vector<isobit::bf16> x(routed * cols);
    auto rows = row;
    for (std::size_t i = 0; i < routed; ++i) {
      if (reversed) rows[i] = int(routed) - 1 - row[i];
      for (std::size_t c = 0; c < cols; ++c)
        x[std::size_t(rows[i]) * cols + c] = isobit::encode<isobit::bf16>(float(std::sin(double(i * 31 + c * c))));
    }
    isobit::combine_map<int, int> const map{rows.data(), expert.data(), weight.data(), tokens, k, routed};
    std::vector<float> sums(tokens * cols);
    isobit::gather_combine(isobit::host(), map, isobit::matrix_rows<isobit::bf16>{x.data(), cols}, cols, sums.data());
    for (unsigned width : {32u, 100u, 256u}) {
      isobit::simt::launch(5, width, combine_and_add, map, x.data(), residual.data(), out.data(), cols);
      for (std::size_t i = 0; i < out.size(); ++i)
        different +=
            out[i].bits != isobit::encode<isobit::bf16>(isobit::add(isobit::decode(residual[i]), sums[i])).bits;
      if (first.empty()) first = out;
      different += std::memcmp(first.data(), out.data(), out.size() * sizeof out[0]) != 0;
    }
  }
  std::printf("moe_combine: same bits as on the host, whatever the order of the rows: %s\n",
              different == 0 ? "yes" : "NO");
  return different != 0;
}
