// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! Stands in for gpu.cu where there is no nvcc.
#include "targets.hpp"

#include <stdexcept>

namespace tour {

gpu_state find_gpu() { return {{}, "built without nvcc"}; }

static outputs refuse() { throw std::runtime_error("there is no GPU"); }
outputs compute_on_gpu(matrix<float> const&, geometry const&) { return refuse(); }
outputs compute_on_gpu(matrix<isobit::bf16> const&, geometry const&) { return refuse(); }
outputs compute_on_gpu(matrix<isobit::f16> const&, geometry const&) { return refuse(); }

} // namespace tour
