// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! A toy training loop with a trace: two linear layers on MXFP8 activations, four simulated ranks, gradients summed
//! over ranks and microbatches by the tree. The linear layers run as a kernel on isobit's simulator, the rest on the
//! host.
#pragma once

#include <isobit/simt/cuda.hpp>

#include <isobit/algo/products.hpp>
#include <isobit/math/philox.hpp>
#include <isobit/order/order_id.hpp>
#include <isobit/quantize.hpp>
#include <isobit/reduce.hpp>
#include <isobit/simt/launch.hpp>
#include <isobit/trace.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace toy {

using std::uint32_t;
using std::uint64_t;
using floats = std::vector<float>;
using recipe = isobit::mxfp8<isobit::e4m3, isobit::mx::floor>;

inline constexpr uint32_t ranks = 4, microbatches = 2;
inline constexpr std::size_t batch = 8, inner = 64, outer = 32; // each layer: `inner` numbers in; layer 1 gives `outer`
inline constexpr uint64_t chunk_bytes = 256;

//! A fault to plant: one output of one operation moves by one unit in the last place.
struct fault {
  uint32_t rank, iteration, microbatch;
  std::string name, scope;
  std::size_t element;
};

//! What is written to a checkpoint: the weights and momenta of both layers.
struct state {
  std::array<floats, 2> weights, momenta;
};

// One block a row of x: y[row][j] = the tree sum over i of x[row][i] * w[j][i].
__global__ inline void linear_kernel(isobit::e4m3 const* codes, isobit::e8m0 const* scales, float const* w, float* y,
                                     std::size_t n) {
  __shared__ isobit::block<64>::storage<float> memory;
  auto const block = isobit::block(memory);
  std::size_t const row = blockIdx.x;
  auto const x = [=](std::size_t i) {
    return recipe::value_of(codes[row * inner + i], scales[row * inner / 32 + i / 32]);
  };
  for (std::size_t j = 0; j < n; ++j) {
    float const sum = isobit::dot(block, inner, x, w + j * inner);
    if (block.thread_rank() == 0) y[row * n + j] = sum;
  }
}

class training {
public:
  //! `folder`: where the traces go.
  training(std::string const& folder, std::optional<fault> f = {}) : fault_(std::move(f)) {
    for (uint32_t r = 0; r < ranks; ++r)
      recorders_.push_back(
          std::make_unique<isobit::trace::recorder>(isobit::trace::recorder_options{.folder = folder, .rank = r}));
    for (std::size_t layer = 0; layer < 2; ++layer) {
      state_.weights[layer] = random(100 + layer, rows(layer) * inner, 0.125f);
      state_.momenta[layer].assign(rows(layer) * inner, 0.0f);
    }
  }

  state const& checkpoint() const { return state_; }
  void restore(state const& s) { state_ = s; }

  //! Iterations [first, last).
  void run(uint32_t first, uint32_t last) {
    for (iteration_ = first; iteration_ < last; ++iteration_) iterate();
    for (auto const& r : recorders_) r->close();
  }

private:
  static std::size_t rows(std::size_t layer) { return layer == 0 ? inner : outer; }
  static floats random(uint64_t stream, std::size_t n, float scale) {
    floats out(n);
    for (std::size_t i = 0; i < n; ++i) {
      auto const bits = static_cast<uint32_t>(isobit::philox_word(1, stream, i) >> 40); // 24 bits
      out[i] = isobit::mul(isobit::sub(isobit::mul(float(bits), 0x1p-23f), 1.0f), scale);
    }
    return out;
  }

  void iterate() {
    std::vector<std::array<floats, 2>> gradients; // of each rank
    for (uint32_t r = 0; r < ranks; ++r) gradients.push_back(gradients_of_rank(r));
    for (std::size_t layer = 0; layer < 2; ++layer) {
      floats const sum = sum_over_ranks(gradients, layer);
      floats w, m;
      for (uint32_t r = 0; r < ranks; ++r) { // every rank updates its own copy, alike
        recorders_[r]->begin(iteration_, microbatches - 1);
        auto e = recorders_[r]->add("collective", "all_reduce", scope(layer));
        e.order(isobit::order_id<isobit::tree>().name);
        record(e, false, "gradient", gradients[r][layer], {rows(layer), inner});
        record(e, true, "sum", sum, {rows(layer), inner});
        w = state_.weights[layer], m = state_.momenta[layer];
        update(r, layer, w, m, sum);
      }
      state_.weights[layer] = w, state_.momenta[layer] = m;
    }
  }

  std::array<floats, 2> gradients_of_rank(uint32_t r) {
    std::array<std::vector<floats>, 2> parts; // of each microbatch
    for (uint32_t m = 0; m < microbatches; ++m) {
      recorders_[r]->begin(iteration_, m);
      floats const x = random(1000 + (iteration_ * ranks + r) * microbatches + m, batch * inner, 1.0f);
      floats const target = random(5000 + r, batch * outer, 1.0f);
      auto const first = quantised(r, m, 0, x);
      floats h = linear(r, m, 0, first);
      for (float& v : h) v = isobit::less(v, 0.0f) ? 0.0f : v;
      auto const second = quantised(r, m, 1, h);
      floats const y = linear(r, m, 1, second);
      floats dy(y.size());
      for (std::size_t i = 0; i < y.size(); ++i) dy[i] = isobit::mul(isobit::sub(y[i], target[i]), 0x1p-4f);
      finish(r, m, "loss_gradient", "loss", {{"y", &y, {batch, outer}}}, "dy", dy, {batch, outer});
      floats dh = product(dy, state_.weights[1], outer, false);
      for (std::size_t i = 0; i < dh.size(); ++i)
        if (isobit::is_zero(h[i])) dh[i] = 0.0f;
      finish(r, m, "dgrad", scope(1), {{"dy", &dy, {batch, outer}}}, "dx", dh, {batch, inner});
      parts[1].push_back(weight_gradient(r, m, 1, dy, h));
      parts[0].push_back(weight_gradient(r, m, 0, dh, x));
    }
    return {accumulated(parts[0]), accumulated(parts[1])};
  }

  struct activations {
    std::vector<isobit::e4m3> codes;
    std::vector<isobit::e8m0> scales;
  };
  activations quantised(uint32_t r, uint32_t m, std::size_t layer, floats const& x) {
    activations q{std::vector<isobit::e4m3>(x.size()), std::vector<isobit::e8m0>(x.size() / 32)};
    isobit::quantize(isobit::host(), recipe{}, x.data(), batch, inner, q.codes.data(), q.scales.data());
    if (hit(r, m, "quantize", scope(layer))) q.codes[fault_->element].bits ^= 1;
    auto e = recorders_[r]->add("op", "quantize", scope(layer));
    e.recipe("mxfp8<e4m3, floor>");
    record(e, false, "x", x, {batch, inner});
    e.output(isobit::trace::tensor_of("codes", q.codes.data(), {batch, inner}), {chunk_bytes, true});
    e.output(isobit::trace::tensor_of("scales", q.scales.data(), {batch, inner / 32}), {chunk_bytes, true});
    return q;
  }

  floats linear(uint32_t r, uint32_t m, std::size_t layer, activations const& q) {
    std::size_t const n = rows(layer);
    floats const& w = state_.weights[layer];
    floats y(batch * n);
    isobit::simt::launch(batch, 64, linear_kernel, q.codes.data(), q.scales.data(), w.data(), y.data(), n);
    plant(r, m, "linear", scope(layer), y);
    auto e = recorders_[r]->add("op", "linear", scope(layer));
    e.order(isobit::order_id<isobit::tree>().name);
    e.input(isobit::trace::tensor_of("codes", q.codes.data(), {batch, inner}), {chunk_bytes, false});
    e.input(isobit::trace::tensor_of("scales", q.scales.data(), {batch, inner / 32}), {chunk_bytes, false});
    record(e, false, "w", w, {rows(layer), inner});
    record(e, true, "y", y, {batch, rows(layer)});
    return y;
  }

  // out[i][j] = the sum over k of a[i][k] * b[k][j], or, for a transposed a, of a[k][i] * b[k][j].
  static floats product(floats const& a, floats const& b, std::size_t terms, bool transposed) {
    std::size_t const rows = a.size() / terms, columns = b.size() / terms;
    std::size_t const row_step = transposed ? 1 : terms, term_step = transposed ? rows : 1;
    floats out(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        out[i * columns + j] = isobit::dot(
            isobit::host(), terms, [&](std::size_t k) { return a[i * row_step + k * term_step]; },
            [&](std::size_t k) { return b[k * columns + j]; });
    return out;
  }
  floats weight_gradient(uint32_t r, uint32_t m, std::size_t layer, floats const& dy, floats const& x) {
    floats dw = product(dy, x, batch, true);
    std::vector<uint64_t> const shape{rows(layer), inner};
    finish(r, m, "wgrad", scope(layer), {{"dy", &dy, {batch, rows(layer)}}, {"x", &x, {batch, inner}}}, "dw", dw,
           shape);
    return dw;
  }
  static floats accumulated(std::vector<floats> const& parts) {
    floats out(parts[0].size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = isobit::reduce(isobit::host(), parts.size(), [&](uint64_t k) { return parts[k][i]; });
    return out;
  }
  static floats sum_over_ranks(std::vector<std::array<floats, 2>> const& of_rank, std::size_t layer) {
    floats out(of_rank[0][layer].size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = isobit::reduce(isobit::host(), of_rank.size(), [&](uint64_t r) { return of_rank[r][layer][i]; });
    return out;
  }
  void update(uint32_t r, std::size_t layer, floats& w, floats& m, floats const& g) {
    std::vector<uint64_t> const shape{rows(layer), inner};
    auto e = recorders_[r]->add("op", "momentum_step", scope(layer));
    record(e, false, "w", w, shape), record(e, false, "m", m, shape), record(e, false, "g", g, shape);
    for (std::size_t i = 0; i < w.size(); ++i) {
      m[i] = isobit::fma(0.9f, m[i], g[i]);
      w[i] = isobit::fma(-0.05f, m[i], w[i]);
    }
    plant(r, microbatches - 1, "momentum_step", scope(layer), w);
    record(e, true, "w", w, shape), record(e, true, "m", m, shape);
  }

  // ---- recording ----

  using shape = std::vector<uint64_t>;
  struct named {
    char const* name;
    floats const* values;
    shape extents;
  };
  static std::string scope(std::size_t layer) { return "layers." + std::to_string(layer); }
  static void record(isobit::trace::recorder::entry& e, bool output, char const* name, floats const& x, shape extents) {
    auto const t = isobit::trace::tensor_of(name, x.data(), std::move(extents));
    output ? e.output(t, {chunk_bytes, true}) : e.input(t, {chunk_bytes, false}); // the bytes of outputs are kept
  }
  bool hit(uint32_t r, uint32_t m, std::string const& name, std::string const& where) const {
    return fault_ && fault_->rank == r && fault_->iteration == iteration_ && fault_->microbatch == m &&
           fault_->name == name && fault_->scope == where;
  }
  void plant(uint32_t r, uint32_t m, std::string const& name, std::string const& where, floats& out) const {
    if (hit(r, m, name, where)) out[fault_->element] = isobit::next_up(out[fault_->element]);
  }
  // An operation of one output, recorded after its fault was planted.
  void finish(uint32_t r, uint32_t m, std::string const& name, std::string const& where,
              std::vector<named> const& inputs, char const* output, floats& out, shape const& extents) {
    plant(r, m, name, where, out);
    auto e = recorders_[r]->add("op", name, where);
    for (auto const& in : inputs) record(e, false, in.name, *in.values, in.extents);
    record(e, true, output, out, extents);
  }

  std::optional<fault> fault_;
  std::vector<std::unique_ptr<isobit::trace::recorder>> recorders_;
  state state_;
  uint32_t iteration_ = 0;
};

} // namespace toy
