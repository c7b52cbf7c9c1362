// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the bits of a few results. Built with the one header (ISOBIT_ONE names it, and it is included twice) or with
// the tree: the lines must be equal.
#if defined(ISOBIT_ONE)
#define ISOBIT_WITH_SIMT
#include ISOBIT_ONE
#include ISOBIT_ONE
#else
#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/fingerprint.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/scan.hpp>
#include <isobit/simt/cuda.hpp>
#include <isobit/version.hpp>
#endif

#include "kernel.cuh"

#include <cstdio>
#include <vector>

int main() {
  int const rows = 3, columns = 1344;
  std::vector<float> x(rows * columns);
  unsigned state = 1;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    auto const whole = isobit::convert<float>(static_cast<int>(state >> 8) - (1 << 23));
    v = isobit::div(whole, static_cast<float>(state % 1009 + 1));
  }
  auto const n = x.size();

  std::printf("bits version %d\n", isobit::bits_version);
  std::printf("reduce       %08x\n", isobit::to_bits(isobit::reduce(isobit::host(), x.data(), n)));
  std::printf("compensated  %08x\n",
              isobit::to_bits(isobit::reduce(isobit::host(), x.data(), n, isobit::compensated<float>{})));
  std::printf("exact        %08x\n",
              isobit::to_bits(isobit::reduce(isobit::host(), x.data(), n, isobit::exact<float>{})));

  std::vector<float> prefixes(n);
  isobit::inclusive_scan(isobit::host(), x.data(), n, prefixes.data());
  std::printf("scan         %08x\n", isobit::to_bits(prefixes[n / 2]));

  using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::rceil>;
  std::vector<isobit::e4m3> codes(n);
  std::vector<isobit::e8m0> scales(n / 32);
  isobit::quantize(isobit::host(), recipe{}, x.data(), rows, columns, codes.data(), scales.data());
  auto const of_codes = isobit::digest(isobit::host(), codes.data(), codes.size());
  auto const of_scales = isobit::digest(isobit::host(), scales.data(), scales.size());
  std::printf("quantize     %016llx %016llx\n", static_cast<unsigned long long>(of_codes),
              static_cast<unsigned long long>(of_scales));

  std::vector<float> out(rows);
  isobit::simt::launch(rows, 96, row_sums, x.data(), out.data(), columns);
  for (float v : out) std::printf("kernel       %08x\n", isobit::to_bits(v));
}
