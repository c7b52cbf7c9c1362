// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's PTX of the device-wide scans, executed: one pass with published nodes, two passes, long segments; the host's bits
// whatever order the blocks come in.
#include <doctest/doctest.h>

#include "../golden/p4016.hpp"
#include "compiled.hpp"

#include <isobit/accum/compensated.hpp>
#include <isobit/algo/scan_nodes.hpp>
#include <isobit/algo/segments.hpp>
#include <isobit/scan.hpp>
#include <isobit/testing/bits_equal.hpp>

#include <cstring>

namespace {

using compiled::kernels;
using isobit::testing::bits_equal;

std::vector<float> golden_floats(size_t n) {
  std::vector<float> x(n);
  golden::p4016::generator next;
  for (float& v : x) v = static_cast<float>(next());
  return x;
}

// A workspace of 0xff bytes but for those that must be zero.
template <class State> struct workspace {
  std::vector<unsigned char> memory;
  unsigned char* base;
  workspace(uint64_t n, unsigned block) : memory(isobit::scan_workspace<State>::bytes(n, block) + 16, 0xff) {
    base = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16;
    std::memset(base, 0, isobit::scan_workspace<State>::zero_bytes(n, block));
  }
};

// Parameters as scan_kernel takes them: form, load, n, store, workspace, the (empty) accumulator.
template <class State = float, class T, class Out, class Form>
void one_pass(ptx::kernel const& k, Form const& form, T const* x, uint64_t n, Out* out, ptx::launch_config const& c) {
  workspace<State> w(n, c.block);
  ptx::run(k, c, ptx::arguments().add(form).add(x).add(n).add(out).add(w.base).add('\0'));
}

std::string const inclusive = "9scan_formILb0E", exclusive = "9scan_formILb1E";

} // namespace

TEST_SUITE("compiled device code, scans") {
  TEST_CASE("one pass: the golden prefixes, and the host's bits for blocks in any order") {
    auto const x = golden_floats(70000);
    std::vector<float> wanted(x.size());
    isobit::inclusive_scan(isobit::host(), x.data(), x.size(), wanted.data());
    auto const& k = kernels().find({"11scan_kernel", inclusive, "contiguousIfE", "5plainIfE"});
    auto const check = [&](uint64_t n, ptx::launch_config const& c) {
      std::vector<float> out(n + 1, 42.f);
      one_pass(k, '\0', x.data(), n, out.data(), c);
      CAPTURE(n);
      CAPTURE(c.block);
      CHECK(out[n] == 42.f);
      out.pop_back();
      CHECK(bits_equal(out, std::vector<float>(wanted.begin(), wanted.begin() + static_cast<long>(n))));
      return out;
    };
    auto const out = check(65537, {17, 256, 1});
    for (auto const& row : golden::p4016::prefix_sums)
      if (row.n <= out.size()) CHECK(isobit::to_bits(out[row.n - 1]) == row.bits);
    check(70000, {3, 256, 0});
    for (uint64_t seed = 1; seed < 12; ++seed) {
      check(9001, {9, 32, seed});
      check(9001, {20, 64, seed});
      check(20001, {4, 100, seed});
      check(600, {30, 2, seed});
    }
    for (uint64_t n : {1, 511, 512, 513, 4096, 4097}) check(n, {3, 256, n});
  }

  TEST_CASE("exclusive after an initial value, compensated, narrow elements, misaligned and in place") {
    auto x = golden_floats(9001);
    std::vector<float> wanted(9000);
    float const initial = 0.75f;
    isobit::exclusive_scan(isobit::host(), x.data() + 1, 9000, wanted.data(), isobit::plain<float>{}, initial);
    std::vector<float> in_place = x;
    one_pass(kernels().find({"11scan_kernel", exclusive, "contiguousIfE", "5plainIfE"}), initial, in_place.data() + 1, 9000,
             in_place.data() + 1, {5, 64, 3});
    CHECK(in_place[0] == x[0]);
    CHECK(bits_equal(std::vector<float>(in_place.begin() + 1, in_place.end()), wanted));

    isobit::inclusive_scan(isobit::host(), x.data(), 9000, wanted.data(), isobit::compensated<float>{});
    std::vector<float> out(9000);
    one_pass<isobit::compensated_state<float>>(
        kernels().find({"11scan_kernel", inclusive, "11compensatedIfE"}), '\0', x.data(), 9000, out.data(), {6, 128, 2});
    CHECK(bits_equal(out, wanted));

    std::vector<isobit::bf16> b(9000), narrow(9000), narrow_wanted(9000);
    for (size_t i = 0; i < b.size(); ++i) b[i] = isobit::encode<isobit::bf16>(x[i]);
    isobit::inclusive_scan(isobit::host(), b.data(), b.size(), narrow_wanted.data());
    one_pass(kernels().find({"11scan_kernel", inclusive, "4bf16"}), '\0', b.data(), 9000, narrow.data(), {3, 96, 4});
    CHECK(bits_equal(narrow, narrow_wanted));
  }

  TEST_CASE("two passes") {
    auto const x = golden_floats(30000);
    std::vector<float> wanted(x.size()), out(x.size()), nodes(1000);
    isobit::inclusive_scan(isobit::host(), x.data(), x.size(), wanted.data());
    for (ptx::launch_config c : {ptx::launch_config{8, 256, 1}, {5, 64, 2}, {3, 1000, 0}}) {
      if (c.block > 256) c.block = 224;
      uint64_t const n = x.size();
      ptx::run(kernels().find({"17scan_nodes_kernel"}), c, ptx::arguments().add(x.data()).add(n).add(nodes.data()).add('\0'));
      ptx::run(kernels().find({"23scan_after_nodes_kernel"}), c,
               ptx::arguments().add('\0').add(x.data()).add(n).add(out.data()).add(nodes.data()).add('\0'));
      CHECK(bits_equal(out, wanted));
    }
  }

  TEST_CASE("segments: short ones by tiles, long ones chunk by chunk") {
    std::vector<uint64_t> const offsets{0, 0, 1, 3000, 3001, 3513, 4026, 12000, 12000, 12100};
    uint64_t const segments = offsets.size() - 1, n = offsets.back(), longest = 256;
    auto const x = golden_floats(n);
    std::vector<float> wanted(n), out(n);
    isobit::segmented_inclusive_scan(isobit::host(), x.data(), n, offsets.data(), segments, wanted.data());
    isobit::csr<uint64_t> const layout{offsets.data(), segments};
    ptx::launch_config const c{6, 64, 5};
    uint64_t const chunk = 64 * 16;
    std::vector<uint64_t> counts(segments);
    uint64_t total = 0;
    for (uint64_t s = 0; s < segments; ++s) {
      uint64_t const length = offsets[s + 1] - offsets[s];
      counts[s] = total += length <= longest ? 0 : (length - 1) / chunk + 1;
    }
    ptx::run(kernels().find({"21short_segments_kernel"}), c,
             ptx::arguments().add('\0').add(layout).add(longest).add(x.data()).add(out.data()).add('\0'));
    workspace<float> w(2 * n + chunk, c.block);
    ptx::run(kernels().find({"20long_segments_kernel"}), c,
             ptx::arguments().add('\0').add(layout).add(counts.data()).add(segments).add(x.data()).add(out.data())
                 .add(w.base).add(2 * n + chunk).add('\0'));
    CHECK(bits_equal(out, wanted));
  }
}
