// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The places where the tour computes: each function returns all outputs for `m`. `T` is float, isobit::bf16 or
//! isobit::f16. Each place has a source file of its own (host.cpp, simulated.cpp, gpu.cu); work.hpp is common to all.
#pragma once

#include "geometry.hpp"
#include "matrix.hpp"
#include "outputs.hpp"

#include <optional>
#include <string>

namespace tour {

//! With one thread this is the reference.
template <class T> outputs compute_on_host(matrix<T> const& m, unsigned threads);

//! `flip`: change the lowest bit of the last element that the kernels read. The tour's negative control.
template <class T> outputs compute_on_simulated_gpu(matrix<T> const& m, geometry const& g, bool flip = false);

// The functions of the GPU come from a shared library that hides everything else: nvcc's host code and the simulator's
// form of one kernel have the same name, and a program must not mix them up.
#define TOUR_GPU [[gnu::visibility("default")]]

//! What to call the GPU; or nothing, and the reason for it.
struct TOUR_GPU gpu_state {
  std::optional<std::string> name;
  std::string reason;
};
TOUR_GPU gpu_state find_gpu();

//! These throw std::runtime_error where CUDA reports an error, and where there is no GPU.
TOUR_GPU outputs compute_on_gpu(matrix<float> const& m, geometry const& g);
TOUR_GPU outputs compute_on_gpu(matrix<isobit::bf16> const& m, geometry const& g);
TOUR_GPU outputs compute_on_gpu(matrix<isobit::f16> const& m, geometry const& g);

} // namespace tour
