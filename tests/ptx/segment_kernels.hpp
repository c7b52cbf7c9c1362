// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instances of the kernels for segments, scatter, combine and slots.
#pragma once

#include <isobit/accum/compensated.hpp>
#include <isobit/accum/exact.hpp>
#include <isobit/device/combine_kernel.hpp>
#include <isobit/device/scatter_kernel.hpp>
#include <isobit/device/segmented_reduce_kernel.hpp>
#include <isobit/device/slots_kernel.hpp>
#include <isobit/slots.hpp>

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

// A turnstile in a kernel of one's own: block by block, each adds n numbers. Controls: slots by the rank of the block,
// which may wait for ever; and the numbers of a block's rank, whatever its turn: the order of arrival.
enum class turns { by_ticket, by_rank, by_arrival };
template <turns By>
__global__ void turnstile_kernel(uint32_t* ticket, uint32_t* turn, float const* parts, uint64_t n, float* sums,
                                 bool accumulate) {
  __shared__ uint32_t word;
  uint32_t const slot = By == turns::by_rank ? gridDim.x - 1 - blockIdx.x : take_ticket(&word, ticket, gridDim.x);
  float const* const mine = parts + n * (By == turns::by_arrival ? blockIdx.x : slot);
  add_in_turn(
      turnstile{turn, gridDim.x}, slot, sums, n, plain<float>{}, [=](uint64_t i) { return mine[i]; }, accumulate);
}
template __global__ void turnstile_kernel<turns::by_ticket>(uint32_t*, uint32_t*, float const*, uint64_t, float*, bool);
template __global__ void turnstile_kernel<turns::by_rank>(uint32_t*, uint32_t*, float const*, uint64_t, float*, bool);
template __global__ void turnstile_kernel<turns::by_arrival>(uint32_t*, uint32_t*, float const*, uint64_t, float*,
                                                             bool);

#undef SEGMENTED

} // namespace isobit::inline bits1::device
