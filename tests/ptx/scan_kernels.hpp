// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Instances of the scans' kernels, for kernels.cu.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/device/scan_kernel.hpp>

namespace isobit::inline bits1::device {

using scan_floats = contiguous<float>;
using scan_results = isobit::detail::results<float>;
using inclusive_sums = isobit::detail::scan_form<false>;
using exclusive_sums = isobit::detail::scan_form<true, isobit::detail::initial_state<float>>;

template __global__ void scan_kernel<256, inclusive_sums, scan_floats, scan_results, plain<float>>(
    inclusive_sums, scan_floats, uint64_t, scan_results, void*, plain<float>);
template __global__ void scan_kernel<256, exclusive_sums, scan_floats, scan_results, plain<float>>(
    exclusive_sums, scan_floats, uint64_t, scan_results, void*, plain<float>);
template __global__ void scan_kernel<256, inclusive_sums, scan_floats, scan_results, compensated<float>>(
    inclusive_sums, scan_floats, uint64_t, scan_results, void*, compensated<float>);
template __global__ void scan_kernel<256, inclusive_sums, contiguous<bf16>, isobit::detail::results<bf16>, plain<float>>(
    inclusive_sums, contiguous<bf16>, uint64_t, isobit::detail::results<bf16>, void*, plain<float>);

template __global__ void scan_nodes_kernel<256, scan_floats, plain<float>>(scan_floats, uint64_t, float*, plain<float>);
template __global__ void scan_after_nodes_kernel<256, inclusive_sums, scan_floats, scan_results, plain<float>>(
    inclusive_sums, scan_floats, uint64_t, scan_results, float const*, plain<float>);

template __global__ void short_segments_kernel<32, inclusive_sums, csr<uint64_t>, scan_floats, scan_results, plain<float>>(
    inclusive_sums, csr<uint64_t>, uint64_t, scan_floats, scan_results, plain<float>);
template __global__ void long_segments_kernel<256, inclusive_sums, csr<uint64_t>, scan_floats, scan_results, plain<float>>(
    inclusive_sums, csr<uint64_t>, uint64_t const*, uint64_t, scan_floats, scan_results, void*, uint64_t, plain<float>);

} // namespace isobit::inline bits1::device
