// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The random Hadamard transform of whole matrices on the host, and random signs for it.
#pragma once

#include <isobit/algo/amax.hpp>
#include <isobit/algo/hadamard.hpp>
#include <isobit/algo/quantize_check.hpp>
#include <isobit/algo/quantize_stochastic.hpp>
#include <isobit/group/host.hpp>

namespace isobit::inline bits1 {

//! 16 random signs: the low bits of Philox4x32-10 for (seed, stream), index 0.
ISOBIT_HD constexpr uint16_t random_hadamard_signs(stochastic random) {
  return static_cast<uint16_t>(random.bits(0) & 0xffff);
}

#if !defined(__CUDACC_RTC__)
namespace detail {
template <class T>
inline void check_hadamard(char const* function, T const* x, uint64_t rows, uint64_t cols, bf16 const* out) {
  check_elements(function, rows, cols);
  if (cols % 16 != 0) throw invalid_argument(function, "cols", "a multiple of", 16, "elements");
  byte_range const in{"x", x, rows * cols * sizeof(T)}, to{"out", out, rows * cols * sizeof(bf16)};
  check_buffer(function, in, alignof(T));
  check_buffer(function, to, alignof(bf16));
  check_disjoint(function, in, to);
}
} // namespace detail

//! Transforms every 16 neighbouring elements of the rows of `x` by `hadamard16`, and writes the results, rounded to bf16, to
//! `out`; both `rows` x `cols`, row-major. Returns the largest `Recipe::magnitude` of what was written, as the bits of a
//! float: what NVFP4's recipes take, after the transform. Throws `invalid_argument`, naming the argument, before anything
//! is written: null, misaligned or overlapping arrays, columns that are no multiple of 16. Guarantee: target, partition.
template <quantize_recipe Recipe, class Executor, class T>
uint32_t hadamard(host<Executor> const& group, T const* x, uint64_t rows, uint64_t cols, bf16* out,
                  uint16_t signs = hadamard_signs) {
  static_assert(stl::same_as<element_value<T>, float>, "isobit: hadamard takes float or a narrower float type");
  detail::check_hadamard("hadamard", x, rows, cols, out);
  uint64_t const n = rows * cols, each = (group.grain / 16 + 1) * 16;
  group.run(n / each + (n % each != 0), [=](uint64_t job) {
    uint64_t const end = n - job * each < each ? n : (job + 1) * each;
    with_default_environment([=] {
      for (uint64_t i = job * each; i < end; i += 16) {
        float v[16];
        for (int j = 0; j < 16; ++j) v[j] = decode_element(x[i + j]);
        hadamard16(v, signs);
        for (int j = 0; j < 16; ++j) out[i + j] = encode<bf16>(v[j]);
      }
    });
  });
  return amax<Recipe>(group, out, n);
}
#endif

} // namespace isobit::inline bits1
