// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a mixture-of-experts layer in a kernel of one's own: combine each token's rows over the global number of the
// expert, add the residual, and store bf16. Each token owns its output; there is no atomic addition.
#pragma once

#include <isobit/combine.hpp>

// The plan of a token says in which order its rows meet; it is made once and used for all columns.
__global__ void combine_and_add(isobit::combine_map<int, int> map, isobit::bf16 const* x, isobit::bf16 const* residual,
                                isobit::bf16* out, std::size_t cols) {
  __shared__ isobit::combine_plan<8> plan;
  isobit::matrix_rows<isobit::bf16> const rows{x, cols};
  for (std::size_t t = blockIdx.x; t < map.tokens; t += gridDim.x) {
    if (threadIdx.x == 0) isobit::make_plan(map, t, plan);
    __syncthreads();
    for (std::size_t c = threadIdx.x; c < cols; c += blockDim.x) {
      float const sum = isobit::combine_column(plan, rows, c);
      out[t * cols + c] = isobit::encode<isobit::bf16>(isobit::add(isobit::decode(residual[t * cols + c]), sum));
    }
    __syncthreads();
  }
}
