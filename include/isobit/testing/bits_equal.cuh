// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! `bits_equal` for two arrays in device memory: compared on the device; a few bytes travel.
#pragma once

#include <isobit/device/launch.cuh>
#include <isobit/testing/bits_equal.hpp>
#include <isobit/testing/compare_kernel.hpp>

namespace isobit::inline bits1::testing {

//! As `bits_equal`, for `n` elements at `a` and at `b`, both in device memory. `workspace` is device memory of
//! `sizeof(device_difference)` bytes, aligned to 8. Waits for the stream. Throws `launch_error` when CUDA refuses.
//! Travels to the host: 16 bytes, and the first differing element. Not yet run on a GPU.
template <class T>
[[nodiscard]] verdict bits_equal(cudaStream_t stream, T const* a, T const* b, uint64_t n, void* workspace,
                                 uint64_t chunk = 1024) {
  verdict v("bits_equal");
  if (n == 0) return v.remark("no elements");
  isobit::detail::check_array("testing::bits_equal", "a", a, n);
  isobit::detail::check_array("testing::bits_equal", "b", b, n);
  isobit::detail::check_workspace("testing::bits_equal", workspace, sizeof(device_difference),
                                  sizeof(device_difference), alignof(device_difference));
  auto const check = [](cudaError_t e) {
    if (e != cudaSuccess) throw launch_error("testing::bits_equal", static_cast<int>(e), cudaGetErrorString(e));
  };
  auto* const out = static_cast<device_difference*>(workspace);
  check(cudaMemsetAsync(out, 0, sizeof *out, stream));
  uint64_t const blocks = n / 1024 + 1;
  compare_bits_kernel<<<static_cast<unsigned>(blocks < 4096 ? blocks : 4096), 256, 0, stream>>>(a, b, n, out);
  device::check_launch("testing::bits_equal");
  device_difference d;
  check(cudaMemcpyAsync(&d, out, sizeof d, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  v.add_compared(n);
  if (d.different == 0) return v;

  alignas(T) unsigned char one[sizeof(T)], other[sizeof(T)];
  check(cudaMemcpyAsync(one, a + d.first(), sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaMemcpyAsync(other, b + d.first(), sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  element_kind const kind = kind_of<T>();
  return v.first_difference(d.different, 0, d.first())
      .fail(std::to_string(d.different) + " of " + std::to_string(n) + " elements (" + kind.name + ") differ" +
            detail::about(kind, d.first(), chunk, one, other));
}

} // namespace isobit::inline bits1::testing
