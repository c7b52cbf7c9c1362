// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel on the CPU, in blocks of several widths, and compares it bit for bit with the host; a sequence alone
// with the same sequence in a pack; and both with the recurrence step by step.
#include <isobit/simt/launch.hpp>

#include "selective_scan.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

std::vector<step> some_steps(std::size_t n) {
  std::vector<step> s(n);
  unsigned z = 1;
  for (step& e : s) {
    z = z * 1664525u + 1013904223u;
    e = {0.5f + float(z >> 9) / float(1u << 24), float(int(z << 8) >> 8) / float(1 << 22)};
  }
  return s;
}

bool same(std::vector<float> const& a, std::vector<float> const& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

int main() {
  std::vector<int> const lengths = {1, 37, 0, 512, 1025, 3, 2000};
  std::vector<int> offsets = {0};
  for (int l : lengths) offsets.push_back(offsets.back() + l);
  int const channels = 3, total = offsets.back(), sequences = int(lengths.size());
  float const h0 = 0.25f;
  auto const steps = some_steps(std::size_t(channels * total));

  std::vector<float> host(steps.size());
  selective_scan_on_host(steps.data(), channels, total, offsets.data(), sequences, h0, host.data());

  int different = 0;
  for (unsigned width : {1, 32, 96, 100, 256})
    for (unsigned seed = 0; seed < 3; ++seed) {
      std::vector<float> h(steps.size());
      isobit::simt::launch({.grid = {unsigned(channels)}, .block = {width}, .seed = seed}, selective_scan, steps.data(),
                           total, offsets.data(), sequences, h0, h.data());
      different += !same(h, host);
    }

  // Each sequence of the last channel alone.
  auto const channel = std::size_t(channels - 1) * std::size_t(total);
  float farthest = 0;
  for (int s = 0; s < sequences; ++s) {
    int const first = offsets[std::size_t(s)], alone[2] = {0, lengths[std::size_t(s)]};
    std::vector<float> h(static_cast<std::size_t>(alone[1]));
    step const* const mine = steps.data() + channel + first;
    selective_scan_on_host(mine, 1, alone[1], alone, 1, h0, h.data());
    auto const there = host.begin() + std::ptrdiff_t(channel) + first;
    different += !same(h, std::vector<float>(there, there + alone[1]));
    float y = h0;
    for (int t = 0; t < alone[1]; ++t) {
      y = mine[t].a * y + mine[t].b;
      farthest = std::fmax(farthest, std::fabs(y - h[std::size_t(t)]) / (1 + std::fabs(y)));
    }
  }
  std::printf("h at the end: %.9g; step by step it is off by at most %.2g\n", host.back(), farthest);
  std::printf("selective scan: same bits in every geometry, alone and packed: %s\n", different == 0 ? "yes" : "NO");
  return different != 0 || !(farthest < 1e-4f);
}
