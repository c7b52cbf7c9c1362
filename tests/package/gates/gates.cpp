// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <isobit/simt/cuda.hpp>  // first: CUDA's words for a host compiler
#include "rms_norm.cuh"
#include "rms_norm_host.hpp"

#include <isobit/order/counter.hpp>
#include <isobit/testing/adversarial.hpp>
#include <isobit/testing/baseline.hpp>
#include <isobit/testing/every_byte_written.hpp>
#include <isobit/testing/repeatable.hpp>
#include <isobit/testing/resumable.hpp>
#include <isobit/testing/same_as_host.hpp>

#include <iostream>

namespace simt = isobit::simt;
namespace testing = isobit::testing;

// The running loss of a training loop: a sum over all steps so far, whatever happens in between.
struct running_loss {
  using state = isobit::counter<float>;
  isobit::plain<float> sum;
  testing::wide_exponents<float> loss{7, -4, 4};
  state start() const { return {}; }
  void step(state& s, std::uint64_t i) const { s.push(sum, loss(i)); }
  float finish(state const& s) const { return s.empty() ? 0.0f : s.fold(sum); }
};

int main(int count, char** arguments) {
  int const rows = 5, columns = 333;
  auto const x = testing::elements(testing::wide_exponents<float>{1}, rows * columns);
  std::string const file = arguments[1];
  std::vector<std::string> const ids{testing::id_of<isobit::tree>(), "rms_norm.1"};

  int failures = 0;
  auto const gate = [&](testing::verdict const& v) {
    std::cout << v << "\n";
    failures += v ? 0 : 1;
  };
  if (count == 4 && std::string(arguments[2]) == "--record") {
    gate(testing::update_baseline([&] { return rms_norm_host(x, columns); }, file, ids, arguments[3]));
    return failures;
  }

  // 1. The same environment, the same bits: other schedules, other contents of memory.
  gate(testing::repeatable([&](testing::trial const& t) {
    auto y = t.buffer<float>(x.size());
    simt::launch(t.config({.grid = {rows}, .block = {96}}), rms_norm, x.data(), y.data(), columns);
    return y;
  }));
  gate(testing::every_byte_written([&](testing::fill const& f) {
    auto y = f.buffer<float>(x.size());
    simt::launch(f.config({.grid = {rows}, .block = {96}}), rms_norm, x.data(), y.data(), columns);
    return y;
  }));
  // Other block widths, other rows in the batch: what users of other batch sizes and GPUs will see.
  gate(testing::geometry_invariant(
      [&](testing::geometry const& g) {
        auto const in = g.place(x);
        std::vector<float> y(x.size());
        simt::launch(rows, g.block, rms_norm, in.data(), y.data(), columns);
        return y;
      },
      {1, 32, 33, 96, 256}, {1}, {1}, {0, 4}));
  gate(testing::neighbour_invariant([&](testing::neighbours const& n) {
    auto const batch = n.surround(x, columns);
    std::vector<float> y(batch.size());
    simt::launch(int(batch.size()) / columns, 64, rms_norm, batch.data(), y.data(), columns);
    return n.mine(y, columns, rows);
  }));

  // 2. The bits of the baseline: the host twin, and the digests that the file keeps.
  gate(testing::same_as_host(
      [&](simt::config c) {
        c.grid = {rows};
        std::vector<float> y(x.size());
        simt::launch(c, rms_norm, x.data(), y.data(), columns);
        return y;
      },
      [&] { return rms_norm_host(x, columns); }, {.grids = {rows}}));
  gate(testing::baseline([&] { return rms_norm_host(x, columns); }, file, ids));

  // 3. A restarted run goes on as if it had not stopped.
  gate(testing::resumable(running_loss{}, 200));
  return failures;
}
