// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for AddressSanitizer and UndefinedBehaviorSanitizer: `address right` must be silent, every other case must be
// reported.
#include <isobit/simt/cuda.hpp>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace machine = isobit::machine;
namespace simt = isobit::simt;

namespace {

ISOBIT_KERNEL void shared_array(int* out, unsigned beyond) {
  ISOBIT_SHARED int values[40];
  simt::poison(values);
  unsigned const t = machine::thread_rank();
  values[t + beyond] = static_cast<int>(t);
  machine::sync_block();
  out[t] = values[39 - t];
}

ISOBIT_KERNEL void dynamic_array(int* out, unsigned beyond) {
  int* const values = simt::dynamic_shared<int>();
  unsigned const t = machine::thread_rank();
  values[t + beyond] = static_cast<int>(t);
  machine::sync_block();
  out[t] = values[39 - t];
}

ISOBIT_KERNEL void global_array(int* out) { out[machine::block_rank() * 40 + machine::thread_rank()] = 1; }

// Frames that come and go on stacks that are used again, heap memory, exceptions.
ISOBIT_KERNEL void frames(std::vector<int> mine, int* out) {
  char name[100];
  std::snprintf(name, sizeof name, "thread %u", machine::thread_rank());
  std::string const heap(name);
  try {
    machine::sync_block();
    throw std::runtime_error(heap);
  } catch (std::exception const& e) {
    machine::sync_warp(machine::thread_rank() < 32 ? 0xffffffffu : 0xffu);
    mine.push_back(static_cast<int>(std::strlen(e.what())));
  }
  machine::sync_block();
  out[machine::thread_rank()] = mine.back();
}

int dangling() {
  int* p = nullptr;
  simt::launch(1, 1, [&] {
    int* const q = new int(3);
    delete q;
    p = q;
  });
  return *p;
}

} // namespace

int main(int, char** arguments) {
  auto const is = [&](char const* name) { return std::strcmp(arguments[1], name) == 0; };
  std::vector<int> out(40);
  simt::config c{.grid = {3}, .block = {40}, .shared_bytes = 40 * sizeof(int)};
  if (is("right")) {
    for (c.seed = 0; c.seed < 20; ++c.seed) {
      simt::launch(c, shared_array, out.data(), 0u);
      simt::launch(c, dynamic_array, out.data(), 0u);
      simt::launch(c, frames, std::vector<int>{1, 2}, out.data());
      try {
        simt::launch(c, [] {
          std::vector<int> const heap(10);
          if (machine::thread_rank() != 7) machine::sync_block();
        });
        return 1;
      } catch (simt::kernel_error const&) {
      }
    }
  } else if (is("shared_array")) {
    simt::launch(c, shared_array, out.data(), 1u);
  } else if (is("dynamic_array")) {
    simt::launch(c, dynamic_array, out.data(), 1u);
  } else if (is("global_array")) {
    simt::launch(c, global_array, out.data());
  } else if (is("dangling")) {
    return dangling();
  } else {
    return 2;
  }
  std::puts("done");
}
