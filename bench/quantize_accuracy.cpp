// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What quantisation loses on real tensors. Reads tensors from standard input: a line "NAME ROWS COLUMNS", then as many 32-bit
// floats; prints tab-separated lines: recipe, bits an element, signal-to-noise ratio of all tensors and of the worst one in
// decibels, largest error of an element over its tensor's largest magnitude, share of the non-zero numbers that become zero.
// bench/quantize_accuracy feeds it and writes docs/quantize.md's tables.
#include <isobit/quantize.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {
using namespace isobit;

struct tensor {
  std::string name;
  std::uint64_t rows, cols;
  std::vector<float> x;
  float amax;
};

std::vector<tensor> read_tensors() {
  std::vector<tensor> out;
  for (tensor t; std::cin >> t.name >> t.rows >> t.cols; out.push_back(t)) {
    std::cin.get();
    t.x.resize(t.rows * t.cols);
    std::cin.read(reinterpret_cast<char*>(t.x.data()), static_cast<std::streamsize>(4 * t.x.size()));
    if (!std::cin) throw std::runtime_error(t.name + ": the floats end too early");
    t.amax = 0;
    for (float v : t.x) t.amax = std::max(t.amax, std::fabs(v));
  }
  return out;
}

class tally {
public:
  void tensor_begins() { signal_ = noise_ = 0; }
  void add(float x, float back, float amax) {
    double const e = double(back) - double(x);
    signal_ += double(x) * x;
    noise_ += e * e;
    if (amax > 0) largest_ = std::max(largest_, std::fabs(e) / amax);
    numbers_ += x != 0;
    zeroed_ += x != 0 && back == 0;
  }
  void tensor_ends() {
    all_signal_ += signal_;
    all_noise_ += noise_;
    if (noise_ > 0) worst_ = std::min(worst_, decibels(signal_, noise_));
  }
  void print(char const* name, double bits) const {
    std::printf("%s\t%.2f\t%.2f\t%.2f\t%.5f\t%.5f\n", name, bits, decibels(all_signal_, all_noise_), worst_, largest_,
                double(zeroed_) / double(numbers_));
  }

private:
  static double decibels(double signal, double noise) { return 10 * std::log10(signal / noise); }
  double signal_ = 0, noise_ = 0, all_signal_ = 0, all_noise_ = 0, worst_ = 1e9, largest_ = 0;
  std::uint64_t numbers_ = 0, zeroed_ = 0;
};

// What becomes of a block, by the recipe's own functions.
template <class Recipe> struct rounded_to {
  Recipe recipe;
  stochastic const* random = nullptr;
  bool transform = false; // Hadamard before, and back after

  void operator()(float* x, std::uint32_t n, std::uint64_t first) const {
    float v[Recipe::block_size] = {};
    std::copy_n(x, n, v);
    if constexpr (Recipe::block_size == 16)
      if (transform) hadamard16(v);
    auto const s = detail::block_scale(thread{}, recipe, v);
    auto const code = detail::encoder_of(recipe, s);
    for (std::uint32_t i = 0; i < Recipe::block_size; ++i)
      v[i] = recipe.value_of(random != nullptr ? code(v[i], random->bits(first + i)) : code(v[i]), s);
    if constexpr (Recipe::block_size == 16)
      if (transform) inverse_hadamard16(v);
    std::copy_n(v, n, x);
  }
};

// The largest magnitude after the transform: the one that the tensor's scale is to be taken of.
float transformed_amax(tensor const& t) {
  float most = 0;
  for (std::uint64_t r = 0; r < t.rows; ++r)
    for (std::uint64_t c = 0; c < t.cols; c += 16) {
      float v[16] = {};
      std::copy_n(t.x.data() + r * t.cols + c, std::min<std::uint64_t>(16, t.cols - c), v);
      hadamard16(v);
      for (float x : v) most = std::max(most, std::fabs(x));
    }
  return most;
}

// `of(amax)`: the recipe for a tensor of that largest magnitude.
template <class Of>
void measure(char const* name, std::vector<tensor> const& tensors, Of const& of, double bits, stochastic const* random = nullptr,
             bool transform = false) {
  tally result;
  using recipe = decltype(of(1.0f));
  std::vector<float> row;
  for (tensor const& t : tensors) {
    rounded_to<recipe> const round{of(transform ? transformed_amax(t) : t.amax), random, transform};
    result.tensor_begins();
    for (std::uint64_t r = 0; r < t.rows; ++r) {
      float const* const x = t.x.data() + r * t.cols;
      row.assign(x, x + t.cols);
      for (std::uint64_t c = 0; c < t.cols; c += recipe::block_size)
        round(row.data() + c, static_cast<std::uint32_t>(std::min<std::uint64_t>(recipe::block_size, t.cols - c)),
              r * t.cols + c);
      for (std::uint64_t c = 0; c < t.cols; ++c) result.add(x[c], row[c], t.amax);
    }
    result.tensor_ends();
  }
  result.print(name, bits);
}

template <class Recipe>
void mx_recipe(char const* name, std::vector<tensor> const& tensors, stochastic const* random = nullptr) {
  int const bits = 1 + Recipe::element::format.exponent_bits + Recipe::element::format.mantissa_bits;
  measure(name, tensors, [](float) { return Recipe{}; }, bits + 8.0 / 32, random);
}

template <class Recipe>
void nv_recipe(char const* name, std::vector<tensor> const& tensors, stochastic const* random = nullptr, bool transform = false) {
  measure(name, tensors, [](float amax) { return Recipe{amax}; }, 4.5, random, transform);
}

void bfloat16(std::vector<tensor> const& tensors) {
  tally result;
  for (tensor const& t : tensors) {
    result.tensor_begins();
    for (float x : t.x) result.add(x, decode(encode<bf16>(x)), t.amax);
    result.tensor_ends();
  }
  result.print("bf16", 16);
}
} // namespace

int main() {
  auto const tensors = read_tensors();
  std::uint64_t n = 0;
  for (tensor const& t : tensors) n += t.x.size();
  std::printf("tensors\t%zu\t%llu\n", tensors.size(), static_cast<unsigned long long>(n));
  stochastic const random{2026, 0};
  bfloat16(tensors);
  mx_recipe<mxfp8<e4m3, mx::floor>>("mxfp8<e4m3, mx::floor>", tensors);
  mx_recipe<mxfp8<e4m3, mx::rceil>>("mxfp8<e4m3, mx::rceil>", tensors);
  mx_recipe<mxfp8<e4m3, mx::even>>("mxfp8<e4m3, mx::even>", tensors);
  mx_recipe<mxfp8<e4m3, mx::ceil>>("mxfp8<e4m3, mx::ceil>", tensors);
  mx_recipe<mxfp8<e4m3, mx::rceil>>("mxfp8<e4m3, mx::rceil>, stochastic", tensors, &random);
  mx_recipe<mxfp8<e5m2, mx::rceil>>("mxfp8<e5m2, mx::rceil>", tensors);
  mx_recipe<mxfp6<e2m3, mx::floor>>("mxfp6<e2m3, mx::floor>", tensors);
  mx_recipe<mxfp6<e2m3, mx::rceil>>("mxfp6<e2m3, mx::rceil>", tensors);
  mx_recipe<mxfp6<e3m2, mx::rceil>>("mxfp6<e3m2, mx::rceil>", tensors);
  mx_recipe<mxfp4<mx::floor>>("mxfp4<mx::floor>", tensors);
  mx_recipe<mxfp4<mx::rceil>>("mxfp4<mx::rceil>", tensors);
  mx_recipe<mxfp4<mx::even>>("mxfp4<mx::even>", tensors);
  mx_recipe<mxfp4<mx::ceil>>("mxfp4<mx::ceil>", tensors);
  mx_recipe<mxfp4<mx::rceil>>("mxfp4<mx::rceil>, stochastic", tensors, &random);
  nv_recipe<nvfp4<nv::te>>("nvfp4<nv::te>", tensors);
  nv_recipe<nvfp4<nv::exact>>("nvfp4<nv::exact>", tensors);
  nv_recipe<nvfp4<nv::four_over_six<nv::absolute_error>>>("nvfp4<nv::four_over_six<nv::absolute_error>>", tensors);
  nv_recipe<nvfp4<nv::four_over_six<nv::square_error>>>("nvfp4<nv::four_over_six<nv::square_error>>", tensors);
  nv_recipe<nvfp4<nv::te>>("nvfp4<nv::te>, stochastic", tensors, &random);
  nv_recipe<nvfp4<nv::te>>("nvfp4<nv::te>, Hadamard", tensors, nullptr, true);
}
