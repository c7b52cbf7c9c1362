// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an embedding: row t of dy is added to the row of the table that token t named. A word's row is the
// tree over its tokens in the order of the text; a word that occurs often is shared by many blocks.
#pragma once

#include <isobit/scatter.hpp>

// Token order[j]'s gradient, j counting the tokens word by word (isobit::group_ids).
struct tokens_by_word {
  float const* dy;
  int const* order;
  std::size_t cols;
  __host__ __device__ float operator()(std::uint64_t j, std::uint64_t c) const {
    return dy[std::size_t(order[j]) * cols + c];
  }
};
struct to_table {
  float* table;
  std::size_t cols;
  __host__ __device__ void operator()(std::uint64_t word, std::uint64_t c, float sum) const {
    table[word * cols + c] = sum;
  }
};

__global__ void embedding_gradient(isobit::csr<std::uint64_t> words, tokens_by_word load,
                                   isobit::column_workspace<float> workspace, float* table) {
  __shared__ std::uint32_t flag;
  isobit::reduce_columns(&flag, workspace, words, load, to_table{table, load.cols});
}
