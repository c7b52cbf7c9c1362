// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Stands in for gpu.cu where there is no nvcc.
#include "targets.hpp"

#include <stdexcept>

namespace tour {

gpu_state find_gpu() { return {{}, "built without nvcc"}; }

template <class T> outputs compute_on_gpu(matrix<T> const&, geometry const&) {
  throw std::runtime_error("there is no GPU");
}
template outputs compute_on_gpu(matrix<float> const&, geometry const&);
template outputs compute_on_gpu(matrix<isobit::bf16> const&, geometry const&);
template outputs compute_on_gpu(matrix<isobit::f16> const&, geometry const&);

} // namespace tour
