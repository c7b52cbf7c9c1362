// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! What the tour works on: a matrix of floats, bf16 or f16, one row after another.
#pragma once

#include <isobit/format/element.hpp>

#include <cstdint>
#include <vector>

namespace tour {

template <class T> struct matrix {
  std::vector<T> elements;
  std::uint64_t rows, cols;

  //! The elements as floats.
  std::vector<float> values() const {
    std::vector<float> result;
    for (T const& e : elements) result.push_back(isobit::decode_element(e));
    return result;
  }
  //! Where each row starts, and where the last one ends: the rows as segments, in CSR form.
  std::vector<std::uint64_t> row_offsets() const {
    std::vector<std::uint64_t> result;
    for (std::uint64_t r = 0; r <= rows; ++r) result.push_back(r * cols);
    return result;
  }
};

} // namespace tour
