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
};

} // namespace tour
