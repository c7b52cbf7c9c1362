// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances of the kernels for segments, scatter, combine and slots.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/device/combine_kernel.hpp>
#include <isobit/device/scatter_kernel.hpp>
#include <isobit/device/segmented_reduce_kernel.hpp>
#include <isobit/device/slots_kernel.hpp>

namespace isobit::inline bits1::device {

#define SEGMENTED(layout, element, accumulator)                                                                        \
  template __global__ void                                                                                             \
  segmented_reduce_kernel<layout, contiguous<element>, isobit::detail::results<float>, accumulator>(                   \
      layout, contiguous<element>, isobit::detail::results<float>, segment_workspace<accumulator::state>, accumulator, \
      index_report const*)
SEGMENTED(csr<uint64_t>, float, plain<float>);
SEGMENTED(csr<uint64_t>, float, compensated<float>);
SEGMENTED(fixed_rows, bf16, plain<float>);
template __global__ void check_offsets_kernel<uint64_t>(uint64_t const*, uint64_t, uint64_t, index_report*);

template __global__ void count_chunks_kernel<int>(int const*, uint64_t, uint64_t, uint64_t*);
template __global__ void sum_chunks_kernel<256>(uint64_t, uint64_t, uint64_t*);
template __global__ void sum_groups_kernel<256>(uint64_t, uint64_t, uint64_t const*, uint64_t*);
template __global__ void place_chunks_kernel<int, int>(int const*, uint64_t, uint64_t, uint64_t*, grouping<int>);
using embedding_rows = isobit::detail::gathered_rows<float, int>;
using embedding = isobit::detail::scatter_rows<float, scatter_mode::replace>;
template __global__ void reduce_columns_kernel<csr<uint64_t>, embedding_rows, embedding, plain<float>>(
    csr<uint64_t>, embedding_rows, embedding, column_workspace<float>, plain<float>);
template __global__ void scatter_exact_kernel<int, float, exact<float>>(int const*, uint64_t, float const*, uint64_t,
                                                                        uint64_t, exact_cell<exact_grid<float>>*,
                                                                        exact<float>);
template __global__ void finish_exact_kernel<scatter_mode::replace, float, exact<float>>(exact_cell<exact_grid<float>>*,
                                                                                         uint64_t, float*,
                                                                                         exact<float>);

template __global__ void gather_combine_kernel<8, combine_map<int, int>, matrix_rows<bf16>, bf16, plain<float>>(
    combine_map<int, int>, matrix_rows<bf16>, uint64_t, bf16*, plain<float>);
template __global__ void gather_combine_kernel<8, combine_map<int, int>, matrix_rows<float>, float, plain<float>>(
    combine_map<int, int>, matrix_rows<float>, uint64_t, float*, plain<float>);
template __global__ void merge_slots_kernel<plain<float>>(private_slots<float>, float*, plain<float>);

#undef SEGMENTED

} // namespace isobit::inline bits1::device
