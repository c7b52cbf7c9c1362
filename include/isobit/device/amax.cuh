// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Launchers of the largest magnitude of an array and of the Hadamard transform, which comes with one: a stream; no
//! allocation, no synchronisation, safe to capture in a CUDA graph. Not yet run on a GPU.
#pragma once

#include <isobit/algo/amax.hpp>
#include <isobit/device/hadamard_kernel.hpp>
#include <isobit/device/reduce.cuh>

namespace isobit::inline bits1::device {

//! What `amax` reduces: `Recipe::magnitude` of each element.
template <class Recipe> struct magnitude_of {
  ISOBIT_HD uint32_t operator()(float x) const { return Recipe::magnitude(x); }
};
using larger_of_magnitudes = with_operator<uint32_t, larger_magnitude>;

//! Bytes of workspace that `amax` needs; see `reduce_workspace_bytes`.
constexpr uint64_t amax_workspace_bytes(uint64_t n) { return reduce_workspace_bytes<larger_of_magnitudes>(n); }

//! Writes the bits of the largest `Recipe::magnitude` of `n` elements to `*out` (device memory): what a
//! `recipe_from_amax` reads. 0 for n = 0. Arguments and errors as for `device::reduce`. Guarantee: order-free.
//! Over ranks: the unsigned maximum of the ranks' values (ncclUint32, ncclMax), before anything is quantised.
template <quantize_recipe Recipe, class T>
void amax(cudaStream_t stream, void* workspace, uint64_t workspace_bytes, T const* x, uint64_t n, uint32_t* out) {
  static_assert(isobit::stl::same_as<element_value<T>, float>, "isobit: amax takes float or a narrower float type");
  isobit::detail::check_array("device::amax", "x", x, n);
  if (out == nullptr) throw invalid_argument("device::amax", "out", "non-null");
  reduce(stream, workspace, workspace_bytes, n, map(x, magnitude_of<Recipe>{}), out, larger_of_magnitudes{});
}

//! As `isobit::hadamard`, in `stream`; `*amax` (device memory) receives what the host's form returns.
template <quantize_recipe Recipe, class T>
void hadamard(cudaStream_t stream, T const* x, uint64_t rows, uint64_t cols, bf16* out, uint32_t* amax,
              uint16_t signs = hadamard_signs) {
  static_assert(isobit::stl::same_as<element_value<T>, float>, "isobit: hadamard takes float or a narrower float type");
  constexpr char const* function = "device::hadamard";
  isobit::detail::check_hadamard(function, x, rows, cols, out);
  isobit::detail::check_array_of(function, "amax", amax);
  if (cudaError_t const e = cudaMemsetAsync(amax, 0, sizeof *amax, stream); e != cudaSuccess)
    throw launch_error(function, static_cast<int>(e), cudaGetErrorString(e));
  uint64_t const runs = rows * cols / 16, blocks = (runs + 255) / 256;
  if (runs == 0) return;
  hadamard_kernel<Recipe>
      <<<static_cast<unsigned>(blocks < (1u << 14) ? blocks : (1u << 14)), 256, 0, stream>>>(x, runs, signs, out, amax);
  check_launch(function);
}

} // namespace isobit::inline bits1::device
