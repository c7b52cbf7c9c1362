// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//! \file
//! The job header of quantisation: recipes, one block inside any kernel, whole matrices on the host. The launchers for
//! a GPU are in device/quantize.cuh. See docs/quantize.md.
#pragma once

#include <isobit/algo/amax.hpp>
#include <isobit/algo/hadamard.hpp>
#include <isobit/algo/hadamard_host.hpp>
#include <isobit/algo/load.hpp>
#include <isobit/algo/nvfp4_four_over_six.hpp>
#include <isobit/algo/quantize.hpp>
#include <isobit/algo/quantize_copies.hpp>
#include <isobit/algo/quantize_host.hpp>
#include <isobit/algo/quantize_stochastic.hpp>
#include <isobit/algo/quantized_copy.hpp>
#include <isobit/algo/scale_layout.hpp>
#include <isobit/format/nvfp4.hpp>
