// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The planted mistakes that a sanitizer is the right tool for: `sanitized right` must be silent.
#include "kernels.hpp"

#include <isobit/testing/buffer.hpp>

#include <cstdio>
#include <cstring>

namespace simt = isobit::simt;

namespace {

template <bool Wrong> void barrier() {
  std::vector<float> const x(planted::width, 1.5f);
  float out = 0;
  simt::launch({.grid = {1}, .block = {planted::width}}, planted::missing_barrier<Wrong>, x.data(), &out);
}

template <bool Wrong> void ordering() {
  std::vector<float> const x(6, 1.5f);
  std::vector<float> partials(6);
  unsigned ticket = 0;
  float out = 0;
  simt::launch({.grid = {6}, .block = {1}, .resident = 3}, planted::weakened_ordering<Wrong>, x.data(), partials.data(),
               &ticket, &out);
}

// Exactly the rows, so that a read behind the last one is a read behind the memory.
template <bool Wrong> void padding() {
  isobit::testing::placed<float> const x(std::vector<float>(21, 1.5f), 4);
  std::vector<float> out(3);
  simt::launch({.grid = {3}, .block = {2}}, planted::padding_read<Wrong>, x.data(), 7u, out.data());
}

} // namespace

int main(int count, char** arguments) {
  auto const is = [&](char const* name) { return count > 1 && std::strcmp(arguments[1], name) == 0; };
  if (is("right")) {
    barrier<false>();
    ordering<false>();
    padding<false>();
  } else if (is("missing_barrier")) {
    barrier<true>();
  } else if (is("weakened_ordering")) {
    ordering<true>();
  } else if (is("padding_read")) {
    padding<true>();
  } else {
    return 2;
  }
  std::puts("done");
}
