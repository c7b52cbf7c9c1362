// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! isobit's tour: everything that it offers so far, on real model tensors, on every target that is here, compared bit
//! for bit.
#include "load.hpp"
#include "options.hpp"
#include "report.hpp"
#include "targets.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace tour {
namespace {

//! The results of one target: those of its first launch that differs, or of the last.
struct target_result {
  std::size_t launches = 0;
  outputs last;
  std::string difference;

  void add(outputs const& expected, outputs got, std::string const& how) {
    if (!difference.empty()) return;
    ++launches;
    last = std::move(got);
    difference = tour::difference(expected, last);
    if (!difference.empty() && !how.empty()) difference += "; " + how;
  }
};

std::string describe(geometry const& g) {
  return std::to_string(g.grid) + " x " + std::to_string(g.width) + " threads, arrays shifted by " +
         std::to_string(g.shift) + ", seed " + std::to_string(g.seed);
}

template <class T>
target_result on_simulated_gpu(matrix<T> const& m, outputs const& expected, unsigned seeds, bool control) {
  target_result result;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    for (geometry g : geometries) {
      g.seed = seed;
      bool const last = seed + 1 == seeds && g.width == geometries.back().width;
      result.add(expected, compute_on_simulated_gpu(m, g, control && last), describe(g));
    }
  }
  return result;
}

template <class T> target_result on_gpu(matrix<T> const& m, outputs const& expected) {
  target_result result;
  for (geometry const& g : geometries) result.add(expected, compute_on_gpu(m, g), describe(g));
  return result;
}

class tour_guide {
public:
  tour_guide(options const& o, gpu_state gpu) : options_(o), gpu_(std::move(gpu)) {}

  void show(tensor const& t) {
    auto const loaded = load(t);
    if (!loaded) {
      std::printf("%-48s skipped: no float, bf16 or f16 elements\n", t.name.c_str());
      return;
    }
    std::visit([&](auto const& m) { show(t, m); }, *loaded);
  }
  void compare_with_other_sums(tensor const& t) {
    auto const loaded = load(t);
    if (!loaded) return;
    progress_.say("other ways to sum " + t.name);
    auto const floats = std::visit([](auto const& m) { return m.values(); }, *loaded);
    auto const sums = sum_otherwise(floats, other_seeds);
    progress_.clear();
    print_other(t.name, sums);
    count(sums.fragments.distinct() == 1 && sums.fragments.least() == sums.tree.least());
  }

  static constexpr unsigned other_seeds = 8;
  std::size_t checks() const { return checks_; }
  std::size_t failures() const { return failures_; }

private:
  template <class T> void show(tensor const& t, matrix<T> const& m) {
    progress_.say("host: " + t.name);
    outputs const expected = compute_on_host(m, 1);
    progress_.clear();
    print_tensor(t, expected);

    // More threads than a small machine has cores: the pieces then finish in any order.
    unsigned const width = std::max(4u, std::thread::hardware_concurrency());
    target_result many;
    many.add(expected, compute_on_host(m, width), "");
    print("host, " + std::to_string(width) + " threads", many);

    progress_.say("simulated GPU: " + t.name);
    print("simulated GPU", on_simulated_gpu(m, expected, options_.seeds, options_.control));
    if (gpu_.name) {
      progress_.say("GPU: " + t.name);
      print("GPU: " + *gpu_.name, on_gpu(m, expected));
    }
  }

  void print(std::string const& target, target_result const& r) {
    progress_.clear();
    print_target(target, r.launches, r.last, r.difference);
    std::fflush(stdout);
    count(r.difference.empty());
  }
  void count(bool same) {
    ++checks_;
    failures_ += !same;
  }

  options options_;
  gpu_state gpu_;
  progress progress_;
  std::size_t checks_ = 0, failures_ = 0;
};

int run(options const& o) {
  auto const file = safetensors::read(o.data);
  auto gpu = find_gpu();
  std::printf("isobit's tour of %s\n", o.data.c_str());
  std::printf("reference: host, 1 thread; %s\n",
              gpu.name ? ("GPU: " + *gpu.name).c_str() : ("no GPU here: skipped (" + gpu.reason + ")").c_str());
  std::printf("simulated GPU: %zu launch geometries, %u schedule(s) each\n\n", geometries.size(), o.seeds);

  tour_guide guide(o, std::move(gpu));
  print_heading();
  for (auto const& t : file.tensors()) guide.show(t);
  print_other_heading(tour_guide::other_seeds);
  for (auto const& t : file.tensors()) guide.compare_with_other_sums(t);

  if (guide.failures() != 0)
    std::printf("\nsame bits: NO, %zu of %zu comparisons differ\n", guide.failures(), guide.checks());
  else
    std::printf("\nsame bits: yes, in all %zu comparisons\n", guide.checks());
  return guide.failures() == 0 ? 0 : 1;
}

} // namespace
} // namespace tour

int main(int count, char** words) {
  try {
    auto const o = tour::options::parse(count, words, TOUR_DATA);
    if (o.help) return std::fputs(std::string(tour::options::usage).c_str(), stdout), 0;
    return tour::run(o);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "tour: %s\n", e.what());
    return 2;
  }
}
