// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! From a tensor of a file to a matrix that the tour works on.
#pragma once

#include "matrix.hpp"
#include "safetensors.hpp"

#include <isobit/format/bf16.hpp>
#include <isobit/format/f16.hpp>

#include <cstring>
#include <optional>
#include <variant>

namespace tour {

using any_matrix = std::variant<matrix<float>, matrix<isobit::bf16>, matrix<isobit::f16>>;

template <class T> matrix<T> as_matrix(tensor const& t) {
  matrix<T> result{std::vector<T>(t.count()), t.rows(), t.columns()};
  if (!t.bytes.empty()) std::memcpy(result.elements.data(), t.bytes.data(), t.bytes.size());
  return result;
}

//! Nothing for element types that the tour does not work on, and for tensors without elements.
inline std::optional<any_matrix> load(tensor const& t) {
  if (t.count() == 0) return {};
  switch (t.type) {
  case dtype::f32:
    return as_matrix<float>(t);
  case dtype::bf16:
    return as_matrix<isobit::bf16>(t);
  case dtype::f16:
    return as_matrix<isobit::f16>(t);
  default:
    return {};
  }
}

} // namespace tour
