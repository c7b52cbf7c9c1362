// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The recurrence of selective state-space models, h[t] = a[t] * h[t - 1] + b[t], for many channels over packed sequences
// of different lengths. Every step is an affine map, and maps compose: a scan runs the recurrence in parallel. A
// sequence's h does not depend on where it lies in the pack, what lies beside it, or how the kernel is launched.
#pragma once

#include <isobit/scan.hpp>

struct step {
  float a, b; // h -> a * h + b
};

// What isobit is told of it: `combine(first, second)` is the map that does both, first before second.
struct recurrence {
  using input = step;
  using state = step;
  using result = float;
  ISOBIT_HD step lift(step s) const { return s; }
  ISOBIT_HD step combine(step first, step second) const {
    return {isobit::mul(first.a, second.a), isobit::fma(first.b, second.a, second.b)};
  }
  ISOBIT_HD float finish(step s) const { return s.b; } // from h = 0
  ISOBIT_HD float empty() const { return 0.f; }
};

// h before the first step: the map that forgets its argument.
ISOBIT_HD inline step starting_from(float h) { return {0.f, h}; }

// One block a channel: steps[channel][t], t over all sequences, of which sequence s is [offsets[s], offsets[s + 1]).
ISOBIT_KERNEL void selective_scan(step const* steps, int total, int const* offsets, int sequences, float h0, float* h) {
  ISOBIT_SHARED isobit::block<256>::storage<recurrence> smem;
  auto block = isobit::block(smem);
  auto const channel = std::size_t(block.block_rank()) * std::size_t(total);
  isobit::segmented_inclusive_scan(block, steps + channel, offsets, isobit::uint64_t(sequences), h + channel, recurrence{},
                                   starting_from(h0));
}

// The same on a host.
inline void selective_scan_on_host(step const* steps, int channels, int total, int const* offsets, int sequences, float h0,
                                   float* h) {
  for (int c = 0; c < channels; ++c) {
    auto const channel = std::size_t(c) * std::size_t(total);
    isobit::segmented_inclusive_scan(isobit::host(), steps + channel, total, offsets, isobit::uint64_t(sequences),
                                     h + channel, recurrence{}, starting_from(h0));
  }
}
