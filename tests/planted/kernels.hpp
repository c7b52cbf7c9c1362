// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Kernels, each in a right form and with one planted mistake (`Wrong`). CUDA's own words, as users write them.
#pragma once

#include <isobit/arith/op.hpp>
#include <isobit/simt/cuda.hpp>

namespace planted {

inline constexpr unsigned width = 128;

//! out[b] = the sum of 128 values of row b, halving in shared memory. Wrong: no barrier between the levels.
template <bool Wrong> __global__ void missing_barrier(float const* x, float* out) {
  __shared__ float memory[width];
  isobit::simt::poison(memory);
  unsigned const t = threadIdx.x;
  memory[t] = x[blockIdx.x * width + t];
  if (!Wrong) __syncthreads();
  for (unsigned half = width / 2; half > 0; half /= 2) {
    if (t < half) memory[t] = isobit::add(memory[t], memory[t + half]);
    if (!Wrong) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = memory[0];
}

//! *out = the sum of all blocks' partial results, by the last block to arrive. Wrong: a block announces itself before
//! its partial result is there.
template <bool Wrong> __global__ void early_ticket(float const* x, unsigned* partials, unsigned* ticket, float* out) {
  unsigned const b = blockIdx.x, last = gridDim.x - 1;
  if (threadIdx.x != 0) return;
  unsigned arrived = 0;
  if (Wrong) arrived = atomicInc(ticket, last);
  atomicExch(&partials[b], __float_as_uint(x[b]));
  __threadfence();
  if (!Wrong) arrived = atomicInc(ticket, last);
  if (arrived != last) return;
  __threadfence();
  float sum = 0;
  for (unsigned k = 0; k <= last; ++k) sum = isobit::add(sum, __uint_as_float(partials[k]));
  *out = sum;
}

//! The same with plain partial results. Wrong: no fence, so that the ticket orders nothing. The simulator's values do
//! not show it (its memory is sequentially consistent); ThreadSanitizer does.
template <bool Wrong> __global__ void weakened_ordering(float const* x, float* partials, unsigned* ticket, float* out) {
  unsigned const b = blockIdx.x, last = gridDim.x - 1;
  if (threadIdx.x != 0) return;
  partials[b] = x[b];
  if (!Wrong) __threadfence();
  if (atomicInc(ticket, last) != last) return;
  if (!Wrong) __threadfence();
  float sum = 0;
  for (unsigned k = 0; k <= last; ++k) sum = isobit::add(sum, partials[k]);
  *out = sum;
}

//! *out += every element. Wrong: in order of arrival. Right: thread by thread, in the order of the elements.
template <bool Wrong> __global__ void arrival_order(float const* x, unsigned n, float* out) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Wrong) {
    if (i < n) atomicAdd(out, x[i]);
  } else if (i == 0) {
    float sum = *out;
    for (unsigned k = 0; k < n; ++k) sum = isobit::add(sum, x[k]);
    *out = sum;
  }
}

//! out[b] = the sum over the warps of a block, each of which offers its first element. Wrong: reads a slot for every
//! warp that a block could have, also those that nobody wrote.
template <bool Wrong> __global__ void uninitialised_word(float const* x, float* out) {
  __shared__ float slots[32];
  isobit::simt::poison(slots);
  unsigned const warps = (blockDim.x + 31) / 32;
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = x[blockIdx.x * width + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = slots[0];
  for (unsigned w = 1; w < (Wrong ? 4 : warps); ++w) sum = isobit::add(sum, slots[w]);
  out[blockIdx.x] = sum;
}

//! out[i] = 2 x[i]. Wrong: the last element of an odd count is forgotten.
template <bool Wrong> __global__ void tail(float const* x, unsigned n, float* out) {
  unsigned const end = Wrong ? n / 2 * 2 : n, step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) out[i] = isobit::mul(2.0f, x[i]);
}

//! *out = the sum of n elements. Wrong: every thread takes each blockDim-th element, so that the bracketing depends on
//! the block. Right: shares of fixed size.
template <bool Wrong> __global__ void lane_dependent(float const* x, unsigned n, float* out) {
  __shared__ float memory[1024];
  isobit::simt::poison(memory);
  constexpr unsigned shares = 16;
  unsigned const takers = Wrong ? blockDim.x : shares;
  for (unsigned s = threadIdx.x; s < takers; s += blockDim.x) {
    float sum = 0;
    for (unsigned i = s; i < n; i += takers) sum = isobit::add(sum, x[i]);
    memory[s] = sum;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (unsigned s = 0; s < takers; ++s) sum = isobit::add(sum, memory[s]);
  *out = sum;
}

//! out[r] = the sum of row r. Wrong: four elements at a time, so that the last group reads on behind the row.
template <bool Wrong> __global__ void padding_read(float const* x, unsigned columns, float* out) {
  if (threadIdx.x != 0) return;
  float const* const row = x + blockIdx.x * columns;
  unsigned const end = Wrong ? (columns + 3) / 4 * 4 : columns;
  float sum = 0;
  for (unsigned i = 0; i < end; ++i) sum = isobit::add(sum, row[i]);
  out[blockIdx.x] = sum;
}

//! out[r] = row r's first element over a maximum. Wrong: the maximum of all rows. Right: the row's own.
template <bool Wrong> __global__ void batch_maximum(float const* x, unsigned rows, unsigned columns, float* out) {
  if (threadIdx.x != 0) return;
  unsigned largest = 0;
  unsigned const from = Wrong ? 0 : blockIdx.x, to = Wrong ? rows : blockIdx.x + 1;
  for (unsigned i = from * columns; i < to * columns; ++i) {
    unsigned const m = isobit::magnitude_bits(x[i]);
    largest = m > largest ? m : largest;
  }
  out[blockIdx.x] = isobit::canonical(isobit::div(x[blockIdx.x * columns], __uint_as_float(largest)));
}

} // namespace planted
