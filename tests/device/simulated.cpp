// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's form of a kernel whose compiled form is in launchers.cu, linked into one program.
#include <isobit/device/reduce_kernel.hpp>
#include <isobit/simt/launch.hpp>

// Sum of x[0..n), through the kernel of device::reduce on the simulator.
float simulated_sum(float const* x, unsigned n) {
  alignas(16) unsigned char workspace[64] = {};
  float out = -1;
  isobit::simt::launch(2, 64, isobit::device::reduce_kernel<isobit::tree, isobit::contiguous<float>, isobit::plain<float>>,
                       isobit::contiguous<float>{x}, std::uint64_t{n}, &out, static_cast<void*>(workspace),
                       isobit::plain<float>{});
  return out;
}
